//! Unattended starts: a commit that starts at once or never, a tag that waits its turn, and two servers that start once.

use reqwest::Method;
use serde_json::{Value, json};

use super::bench::{Bench, text};
use super::repository::Repo;

/// The repository is looked at every second.
const OFTEN: [&str; 2] = ["--follow-seconds", "1"];

fn switch(bench: &Bench, switches: &Value) {
    let (status, said) = bench.plane.call(Method::PATCH, "/api/config/account", switches);
    assert_eq!(status, 200, "{said}");
}

/// Waits until the world is as wanted.
fn world_with(bench: &Bench, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    bench.plane.get_until("/api/world", what, |body| wanted(&body["world"]))["world"].clone()
}

fn releases(world: &Value) -> Vec<String> {
    world["releases"].as_array().unwrap().iter().map(|release| text(release, "git_ref")).collect()
}

/// Release names of the rollouts, the oldest first.
fn started(world: &Value) -> Vec<String> {
    let name = |id: &Value| {
        let releases = world["releases"].as_array().unwrap();
        text(releases.iter().find(|release| release["id"] == *id).unwrap(), "git_ref")
    };
    world["rollouts"].as_array().unwrap().iter().map(|rollout| name(&rollout["release"])).collect()
}

/// A machine converges, so that a rollout of everybody completes.
fn converge(bench: &Bench, machine: &str) {
    let assignment = bench.plane.poll(machine)["assignment"].clone();
    let report = json!({
        "release_uuid": assignment["release_uuid"], "generation": assignment["generation"], "outcome": "success",
        "started_at": "2026-11-29T10:00:00Z", "finished_at": "2026-11-29T10:00:05Z", "changed_count": 0,
        "failed_states": [], "log_tail": "",
    });
    let plane = &bench.plane;
    let request = plane.request(Method::POST, "/api/agent/apply-results").bearer_auth(plane.token("agent"));
    let (status, _, said) = plane.send(request.header("x-machine", machine).json(&report));
    assert_eq!(status, 200, "{said}");
}

fn halt(bench: &Bench) {
    let rollouts = bench.plane.get("/api/config/rollouts/");
    bench.plane.post(&format!("/api/config/rollouts/{}/halt", text(&rollouts[0], "uuid")), &json!({}));
}

#[test]
fn a_new_commit_starts_once_with_two_servers_and_one_that_meets_a_rollout_never_does() {
    // R100, R169
    let bench = Bench::on(Repo::example(), &OFTEN);
    let other = bench.plane.another();
    other.says("listening");
    bench.fleet();
    let old = bench.repo.git(&["rev-parse", "HEAD"]);
    switch(&bench, &json!({"auto_deploy": true}));
    let world = world_with(&bench, "the commit that is there", |world| world["seen_commit"]["commit"] == json!(old));
    assert_eq!((started(&world).len(), releases(&world).len()), (0, 0), "it was there before");

    let second = bench.repo.write("common/more.sls", "more: {}\n").commit("more");
    let world = world_with(&bench, "a rollout", |world| !started(world).is_empty());
    assert_eq!((started(&world), releases(&world)), (vec!["main".to_owned()], vec!["main".to_owned()]));
    assert_eq!((text(&world["releases"][0], "commit"), &world["rollouts"][0]["protected"]), (second, &json!(false)));
    assert_eq!(text(&world["rollouts"][0], "started_by"), "repository");

    let third = bench.repo.write("common/more.sls", "more: [1]\n").commit("again");
    world_with(&bench, "the third commit", |world| world["seen_commit"]["commit"] == json!(third));
    halt(&bench);
    let fourth = bench.repo.write("common/more.sls", "more: [2]\n").commit("and again");
    let world = world_with(&bench, "the fourth commit", |world| started(world).len() == 2);
    let commits: Vec<String> = world["releases"].as_array().unwrap().iter().map(|r| text(r, "commit")).collect();
    let of = |n: usize| {
        let release = world["releases"].as_array().unwrap().iter().find(|r| r["id"] == world["rollouts"][n]["release"]);
        text(release.unwrap(), "commit")
    };
    assert_eq!((of(1), commits.contains(&third)), (fourth, true), "the third was built and dropped for good");
}

#[test]
fn the_newest_tag_waits_for_the_rollout_and_is_shown_before_it_starts() {
    // R119, R169, R180
    let bench = Bench::on(Repo::example(), &OFTEN);
    let (server, worker) = bench.fleet();
    bench.set_secret("K8S_DRAIN_TOKEN", "token-of-the-drain");
    let config = json!({"config_tag_pattern": "v*"});
    bench.plane.post("/api/account/config", &config);
    bench.start(&bench.build("v1"));
    switch(&bench, &json!({"track_config_tags": true}));
    bench.repo.write("common/more.sls", "more: {}\n").commit("more");
    bench.repo.tag("v2");
    bench.repo.tag("experiment");
    let next = |body: &Value| body["next_unattended"]["git_ref"] == "v2";
    let account = bench.plane.get_until("/api/config/account", "the next start", next);
    assert_eq!(account["next_unattended"]["waits_for"], "the rollout of v1", "{account}");
    assert_eq!(started(&bench.plane.get("/api/world")["world"]), ["v1"], "it yields");

    converge(&bench, &server);
    converge(&bench, &worker);
    let world = world_with(&bench, "the tag's rollout", |world| started(world).len() == 2);
    assert_eq!(
        (started(&world), &world["rollouts"][0]["ending"]["kind"]),
        (vec!["v1".into(), "v2".into()], &json!("completed"))
    );
    assert!(!releases(&world).contains(&"experiment".to_owned()));

    bench.repo.git(&["tag", "--delete", "v2"]);
    halt(&bench);
    bench.repo.commit("v3");
    bench.repo.tag("v3");
    let world = world_with(&bench, "the next tag", |world| started(world).len() == 3);
    assert_eq!(started(&world), ["v1", "v2", "v3"], "v1, the newest once v2 is gone, is older");
}

#[test]
fn a_repository_that_cannot_be_followed_is_shown_until_it_can() {
    let bench = Bench::on(Repo::example(), &[&OFTEN[..], &["--deploy-branch", "trunk"]].concat());
    switch(&bench, &json!({"auto_deploy": true}));
    let trouble = |body: &Value| !body["repository_trouble"].is_null();
    let account = bench.plane.get_until("/api/config/account", "the trouble", trouble);
    assert_eq!(text(&account, "repository_trouble"), "there is no branch trunk in the repository");
    bench.repo.git(&["branch", "trunk"]);
    bench.plane.get_until("/api/config/account", "the end of the trouble", |body| !trouble(body));
}
