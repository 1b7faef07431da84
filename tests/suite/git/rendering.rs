//! Rendering: each machine is given its own, and what is missing stops that machine only.

use reqwest::Method;
use serde_json::json;

use super::bench::{Bench, text};
use super::repository::Repo;

fn file<'a>(files: &'a [(String, String)], path: &str) -> Option<&'a str> {
    files.iter().find(|(known, _)| known == path).map(|(_, content)| content.as_str())
}

#[test]
fn each_machine_is_given_its_own_content_of_the_example() {
    let bench = Bench::on(Repo::example(), &[]);
    let (server, worker) = bench.fleet();
    bench.set_secret("K8S_DRAIN_TOKEN", "token-of-the-drain");
    bench.start(&bench.build("v1"));

    let files = bench.served(&server).expect("an assignment");
    assert_eq!(file(&files, "top.sls").unwrap(), "\"base\":\n  \"*\":\n    - \"common\"\n    - \"k8s.server\"\n");
    let common = file(&files, "common/init.sls").unwrap();
    assert!(common.contains("contents: cp-1\n") && common.contains(r#"contents: "hello: \"world\"""#), "{common}");
    assert!(common.contains("{{ grains.get('id', 'unknown') }}"), "the engine's own stays: {common}");
    assert!(file(&files, "k8s/arc.sls").unwrap().contains("drain cp-1 "));
    assert!(file(&files, "k8s/files/server.kubeconfig").unwrap().contains("https://10.0.0.9:6443"));
    assert!(file(&files, "k8s/agent.sls").is_none() && !format!("{files:?}").contains("token-of-the-drain"));

    let files = bench.served(&worker).expect("an assignment");
    assert!(file(&files, "k8s/agent.sls").unwrap().contains(r#"token: "token-of-the-drain""#));
    assert!(file(&files, "k8s/server.sls").is_none());
}

#[test]
fn what_is_missing_stops_its_machine_and_is_named_until_it_is_there() {
    // R17, R148, R149
    let bench = Bench::on(Repo::example(), &[]);
    let (server, worker) = bench.fleet();
    let rollout = bench.start(&bench.build("v1"));
    assert!(bench.served(&server).is_some(), "others go on");
    assert_eq!(bench.served(&worker), None);
    let row = bench.row(&rollout, "wk-1");
    assert_eq!(text(&row, "state"), "errored");
    assert!(row["render_error"].to_string().contains("secrets.K8S_DRAIN_TOKEN"), "{row}");
    assert_eq!(text(&bench.row(&rollout, "cp-1"), "state"), "pending");

    bench.set_secret("K8S_DRAIN_TOKEN", "token-of-the-drain");
    assert!(bench.served(&worker).is_some(), "fixed on its next fetch");
    assert_eq!(text(&bench.row(&rollout, "wk-1"), "state"), "pending");

    let rings = bench.plane.get("/api/config/rings/");
    let workers = rings.as_array().unwrap().iter().find(|ring| ring["slug"] == "example-workers").unwrap();
    let late = bench.machine("wk-2", "example-workers");
    let values = json!({"config_values": {"K8S_TARGET": "1.31.5", "DRAIN_TOKEN": "{{ secrets.K8S_DRAIN_TOKEN }}"}});
    let (status, said) =
        bench.plane.call(Method::PATCH, &format!("/api/config/rings/{}", text(workers, "uuid")), &values);
    assert_eq!(status, 200, "{said}");
    let files = bench.served(&late).expect("an assignment");
    assert!(
        file(&files, "k8s/arc.sls").unwrap().contains("k8s-upgrade 1.31.5"),
        "the ring goes before the environment"
    );
}

#[test]
fn a_secret_that_is_written_out_is_refused_where_values_are_set() {
    let bench = Bench::on(Repo::example(), &[]);
    let literal = json!({"slug": "x", "config_values": {"DB_PASSWORD": "hunter2hunter2"}});
    let (status, problem) = bench.plane.call(Method::POST, "/api/config/environments/", &literal);
    assert_eq!((status, text(&problem, "field")), (422, "config_values.DB_PASSWORD".to_owned()));
    assert!(!problem.to_string().contains("hunter2"), "{problem}");
}
