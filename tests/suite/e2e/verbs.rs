//! Verbs from the command line: planned, asked back, sent once, on a control plane that runs.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::pty::driver::{Driver, Launch};
use super::command::{Said, kura};
use super::plane::Plane;
use super::proxy::{Fate, Proxy, is_order};

/// A control plane with two machines in a capped ring, and two releases.
struct Stage {
    plane: Plane,
}

impl Stage {
    fn set() -> Self {
        let stage = Self { plane: Plane::start() };
        stage.plane.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
        stage.plane.post("/api/config/rings/", &json!({"slug": "oak-ring", "max_in_flight": 1}));
        for hostname in ["wk-1", "wk-2"] {
            let body = json!({"hostname": hostname, "environment": "oak", "ring": "oak-ring"});
            stage.plane.post("/api/provisioning/machines/", &body);
        }
        for git_ref in ["v1", "v2"] {
            stage.plane.post("/api/config/releases/build-from-git", &json!({"git_ref": git_ref}));
        }
        stage
    }

    /// With a rollout of v1 that has come to its first environment.
    fn running() -> Self {
        let stage = Self::set();
        let release = stage.uuid("/api/config/releases/", "git_ref", "v1");
        let body = json!({"config_release_uuid": release, "protected": true});
        let rollout = stage.plane.post("/api/config/rollouts/", &body);
        let path = format!("/api/config/rollouts/{}", rollout["uuid"].as_str().unwrap());
        stage.plane.get_until(&path, "the environment opens", |rollout| rollout["current_environment"] == "oak");
        stage
    }

    /// And with a machine that holds the slot: its host name.
    fn held() -> (Self, String) {
        let stage = Self::running();
        for machine in stage.plane.get("/api/provisioning/machines/").as_array().unwrap() {
            if stage.plane.poll(machine["uuid"].as_str().unwrap())["assignment"].is_object() {
                return (stage, machine["hostname"].as_str().unwrap().to_owned());
            }
        }
        panic!("nobody got the slot");
    }

    fn at(&self, url: &str, role: &str, arguments: &[&str]) -> Said {
        let variables = [("KURA_CONSOLE_API", url), ("KURA_CONSOLE_TOKEN", self.plane.token(role))];
        kura(self.plane.folder(), &variables, arguments)
    }

    fn operator(&self, arguments: &[&str]) -> Said {
        self.at(&self.plane.url(), "operator", arguments)
    }

    /// On a terminal that is wide enough for every sentence.
    fn typed(&self, arguments: &[&str]) -> Driver {
        let launch = Launch::console(arguments).env("KURA_CONSOLE_API", self.plane.url()).size(100, 40);
        launch.env("KURA_CONSOLE_TOKEN", self.plane.token("operator")).start()
    }

    fn thing(&self, path: &str, field: &str, name: &str) -> Value {
        let all = self.plane.get(path);
        let found = all.as_array().unwrap().iter().find(|thing| thing[field] == name);
        found.unwrap_or_else(|| panic!("no {name} in {all}")).clone()
    }

    fn uuid(&self, path: &str, field: &str, name: &str) -> String {
        self.thing(path, field, name)["uuid"].as_str().unwrap().to_owned()
    }

    fn machine(&self, hostname: &str) -> Value {
        self.thing("/api/provisioning/machines/", "hostname", hostname)
    }

    fn ring(&self) -> Value {
        self.thing("/api/config/rings/", "slug", "oak-ring")
    }

    fn rollout(&self) -> Value {
        self.plane.get("/api/config/rollouts/")[0].clone()
    }

    /// Verbs that were given, in order, with who gave them and why.
    fn audit(&self) -> Vec<Value> {
        self.plane.get("/api/audit?limit=1000").as_array().unwrap().clone()
    }
}

fn document(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

#[test]
fn every_verb_is_planned_without_a_trace_and_then_done_once() {
    let stage = Stage::set();
    let secret = stage.plane.folder().join("value");
    std::fs::write(&secret, "a long enough value\n").unwrap();
    let verbs: [(&str, &[&str], &str); 27] = [
        ("operator", &["add-environment", "elm", "--order", "2", "--name", "Elm"], "create-environment"),
        ("operator", &["add-ring", "elm-ring", "--cap", "2", "--settle", "2m"], "create-ring"),
        ("operator", &["environment", "elm", "--no-order"], "patch-environment"),
        ("operator", &["ring", "elm-ring", "--stall", "1h30m", "--ladder", "0:10,10m:100"], "patch-ring"),
        ("operator", &["add-machine", "wk-3", "--environment", "elm", "--node", "n-3"], "add-machine"),
        ("operator", &["assign", "wk-3", "--ring", "elm-ring"], "assign-machine"),
        ("operator", &["build", "v1", "--timeout", "1h", "--notes", "again"], "publish-release"),
        ("operator", &["start", "v2"], "start"),
        ("operator", &["reset"], "start"),
        ("operator", &["pause", "machine", "wk-3"], "pause-machine"),
        ("operator", &["unpause", "machine", "wk-3"], "unpause-machine"),
        ("operator", &["pause", "ring", "oak-ring"], "pause-ring"),
        ("operator", &["unpause", "ring", "oak-ring"], "unpause-ring"),
        ("operator", &["pause", "environment", "oak"], "pause-environment"),
        ("operator", &["unpause", "environment", "oak"], "unpause-environment"),
        ("operator", &["halt"], "halt"),
        ("operator", &["yank", "v2"], "yank"),
        ("operator", &["account", "--auto-deploy", "on", "--track-config-tags", "off"], "patch-account"),
        ("owner", &["account", "--tag-pattern", "v*"], "configure-account"),
        ("operator", &["remove-machine", "wk-3"], "remove-machine"),
        ("operator", &["accept-clock"], "accept-clock"),
        ("operator", &["add-server", "acme", "eu", "--replicas", "1"], "add-server"),
        ("operator", &["move-server", "acme-eu", "moving-in"], "move-server"),
        ("operator", &["server", "acme-eu", "--storage-size", "80Gi", "--env", "A=1"], "configure-server"),
        ("operator", &["move-server", "acme-eu", "none"], "move-server"),
        ("operator", &["destroy-server", "acme-eu"], "destroy-server"),
        ("operator", &["release-tag", "0.20.0"], "release-tag"),
    ];
    for (role, arguments, verb) in verbs {
        let before = stage.audit();
        let planned = stage.at(&stage.plane.url(), role, &[arguments, &["--dry-run", "-o", "json"]].concat());
        assert_eq!(planned.code, Some(0), "{arguments:?}: {planned:?}");
        let plan = document(&planned);
        assert_eq!(
            (&plan["outcome"], &plan["plan"]["verb"], &plan["key"]),
            (&json!("planned"), &json!(verb), &Value::Null)
        );
        assert!(plan["plan"]["lines"].is_array() && plan["revision"].is_u64(), "{plan:#}");
        assert_eq!(stage.audit(), before, "{arguments:?} left a trace");

        let flags = ["--yes", "--reason", "a drill", "-o", "json"];
        let said = stage.at(&stage.plane.url(), role, &[arguments, &flags].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        let (done, audit) = (document(&said), stage.audit());
        assert_eq!((&done["verb"], &done["outcome"]), (&json!(arguments[0]), &json!("done")));
        assert_eq!(audit.len(), before.len() + 1, "{arguments:?}");
        let link = audit.last().unwrap();
        assert_eq!((&link["by"], &link["cause"]["name"]), (&json!(role), &json!(verb)));
        assert_eq!((&link["cause"]["reason"], &link["cause"]["key"]), (&json!("a drill"), &done["key"]));
        assert!(done["revision"].as_u64() >= link["revision"].as_u64(), "{done:#}");
    }
    let ring = stage.thing("/api/config/rings/", "slug", "elm-ring");
    assert_eq!((&ring["min_settle_seconds"], &ring["stall_timeout_seconds"]), (&json!(120), &json!(5_400)));
    assert_eq!(ring["wave_ladder"][1], json!({"after_seconds": 600, "pct": 100}));
    assert_eq!(stage.thing("/api/config/environments/", "slug", "elm")["promotion_order"], Value::Null);
    assert_eq!((&stage.rollout()["status"], &stage.rollout()["protected"]), (&json!("halted"), &json!(true)));
    let account = stage.plane.get("/api/config/account");
    assert_eq!((&account["auto_deploy"], &account["config_tag_pattern"]), (&json!(true), &json!("v*")));

    let value = secret.to_str().unwrap();
    let set = ["set-secret", "TOKEN", "--value-file", value, "--yes", "--reason", "rotated"];
    let said = stage.at(&stage.plane.url(), "owner", &set);
    assert!(said.code == Some(0) && !said.stdout.contains("long enough"), "{said:?}");
    assert_eq!(stage.plane.get("/api/secrets/")[0]["name"], "TOKEN");
}

#[test]
fn the_seat_is_planned_and_left() {
    let stage = Stage::set();
    stage.plane.get_until("/api/seat", "it is taken", |seat| seat["last_tick"].is_string());
    let planned = stage.operator(&["leave-seat", "--dry-run"]);
    assert!(planned.code == Some(0) && planned.stdout.contains("no longer ticks"), "{planned:?}");
    assert!(planned.stdout.ends_with("nothing was changed\n"), "{planned:?}");
    let left = stage.operator(&["leave-seat", "--yes", "--reason", "upgrade"]);
    assert!(left.code == Some(0) && left.stdout.contains("gives the seat back"), "{left:?}");
}

#[test]
fn text_says_what_would_follow_and_what_is_true_now() {
    let (stage, holder) = Stage::held();
    let other = if holder == "wk-1" { "wk-2" } else { "wk-1" };
    let planned = stage.operator(&["pause", "machine", &holder, "--dry-run"]).stdout;
    for words in [&format!("pause machine {holder} (")[..], "in account default at http://"] {
        assert!(planned.contains(words), "{words}: {planned}");
    }
    for words in [format!("ends   {holder} gives back its slot"), format!("starts {other} is next")] {
        assert!(planned.contains(&words), "{words}: {planned}");
    }
    assert!(planned.contains("keeps holding the cursor"), "{planned}");
    assert!(planned.lines().all(|line| line.chars().count() <= 80), "{planned}");
    assert_eq!(stage.machine(&holder)["holds_slot"], true, "nothing was done");
    let uncap = stage.operator(&["ring", "oak-ring", "--cap", "0", "--dry-run"]).stdout;
    assert!(uncap.contains(&format!("starts now: {other}")) && uncap.contains("hold the line"), "{uncap}");
    let start = stage.operator(&["start", "v2", "--force", "--dry-run"]).stdout;
    assert!(start.contains("the protected rollout of v1 is superseded"), "{start}");
    assert!(start.contains("warns  idle fails: v1 by owner is running"), "the runbook is looked at: {start}");
    let done = stage.operator(&["pause", "machine", &holder, "--yes", "--reason", "its disk"]).stdout;
    assert!(done.contains(&format!("\n{holder} is paused, at revision ")), "{done}");
    assert_eq!(stage.machine(&holder)["pause"]["reason"], "its disk");
}

#[test]
fn what_is_not_clear_or_not_allowed_is_refused_with_a_way_on() {
    let stage = Stage::running();
    let before = stage.audit();
    let given = ["--yes", "--reason", "a drill"];
    let operator = |arguments: &[&str]| stage.operator(&[arguments, &given].concat());
    operator(&["pause", "machine", "wk1"]).fails(1, &["no machine wk1", "near to it: wk-1"]);
    operator(&["start", "v9"]).fails(1, &["no release v9", "v1"]);
    stage.operator(&["pause", "ring", "oak"]).fails(1, &["no ring oak", "oak-ring"]);
    operator(&["ring", "oak-ring"]).fails(2, &["what to change", "--cap"]);
    operator(&["environment", "oak"]).fails(2, &["what to change", "--order"]);
    operator(&["assign", "wk-1"]).fails(2, &["what to change", "--none"]);
    operator(&["account"]).fails(2, &["what to change", "--auto-deploy"]);
    operator(&["set-secret", "../x", "--value-file", "value"]).fails(2, &["no name of a secret"]);
    operator(&["set-secret", "TOKEN", "--value-file", "none"]).fails(2, &["none", "cannot be read"]);
    stage.plane.post("/api/config/releases/build-from-git", &json!({"git_ref": "v2", "notes": "again"}));
    operator(&["start", "v2"]).fails(2, &["v2 can be 2 releases", "by its uuid"]);
    let second = stage.uuid("/api/config/releases/", "git_ref", "v2");
    operator(&["start", &second[..9]]).fails(4, &["protected rollout of v1", "--force"]);
    operator(&["start", "v1"]).fails(4, &["would reset", "kura-console reset"]);
    operator(&["start", &second, "--intent", "reset", "--force"]).fails(4, &["would start", "kura-console start"]);
    operator(&["ring", "oak-ring", "--threshold", "0"]).fails(1, &["at least 1"]);
    operator(&["build", "nowhere"]).fails(1, &["nowhere"]);
    let viewer = stage.at(&stage.plane.url(), "viewer", &[&["halt"][..], &given].concat());
    viewer.fails(1, &["a viewer's token only reads", "operator or owner token"]);
    let named = |link: &Value| link["cause"]["name"].clone();
    let left: Vec<Value> = stage.audit()[before.len()..].iter().map(named).collect();
    assert_eq!(left, ["publish-release"], "a plan that is refused is not given");
    assert_eq!(stage.rollout()["status"], "running");
}

#[test]
fn a_refusal_is_a_document_too() {
    let stage = Stage::running();
    let said = stage.operator(&["start", "v2", "--yes", "--reason", "a drill", "-o", "json"]);
    let told = document(&said);
    assert_eq!((said.code, &told["outcome"], &told["key"]), (Some(4), &json!("refused"), &Value::Null));
    assert_eq!((&told["problem"]["code"], &told["target"]["name"]), (&json!("protected"), &json!("v2")));
}

#[test]
fn where_nobody_can_be_asked_only_stopping_goes_on() {
    let stage = Stage::running();
    let asked: [&[&str]; 7] = [
        &["pause", "machine", "wk-1"],
        &["unpause", "ring", "oak-ring"],
        &["yank", "v1"],
        &["reset"],
        &["start", "v2", "--force"],
        &["ring", "oak-ring", "--cap", "0"],
        &["remove-machine", "wk-1"],
    ];
    for arguments in asked {
        stage.operator(arguments).fails(2, &["no terminal", "--dry-run", "--yes --reason"]);
        stage.operator(&[arguments, &["--yes"]].concat()).fails(2, &["needs a reason", "--reason TEXT"]);
    }
    assert_eq!((&stage.rollout()["status"], &stage.ring()["max_in_flight"]), (&json!("running"), &json!(1)));
    for arguments in [&["pause", "ring", "oak-ring"][..], &["pause", "environment", "oak"], &["halt"]] {
        let said = stage.operator(arguments);
        assert_eq!((said.code, &said.stderr[..]), (Some(0), ""), "{arguments:?}: {said:?}");
    }
    assert_eq!((&stage.rollout()["status"], &stage.ring()["paused"]), (&json!("halted"), &json!(true)));
}

#[test]
fn stops_rely_on_no_revision_and_wait_for_no_plan() {
    let stage = Stage::running();
    let kept = |head: &str, _| if head.starts_with("post") && !is_order(head) { Fate::Keep } else { Fate::Pass };
    let proxy = Proxy::before(stage.plane.address(), kept);
    let said = stage.at(proxy.url(), "operator", &["halt"]);
    assert!(said.code == Some(0) && said.stdout.contains("a stop waits for nobody"), "{said:?}");
    assert_eq!(stage.rollout()["status"], "halted");
    let open = Proxy::before(stage.plane.address(), |_, _| Fate::Pass);
    for arguments in [&["pause", "ring", "oak-ring"][..], &["unpause", "ring", "oak-ring", "--yes", "--reason", "over"]]
    {
        assert_eq!(stage.at(open.url(), "operator", arguments).code, Some(0));
    }
    let orders = [proxy.orders(), open.orders()].concat();
    let relies: Vec<bool> = orders.iter().map(|head| head.contains("\r\nif-match: ")).collect();
    assert_eq!(relies, [false, false, true]);
    assert!(orders.iter().all(|head| head.contains("\r\nidempotency-key: ")), "{orders:?}");
}

#[test]
fn a_lost_answer_does_it_once() {
    let stage = Stage::running();
    let generation = stage.rollout()["generation"].as_u64().unwrap();
    let lossy = |head: &str, before| if is_order(head) && before < 2 { Fate::LoseAnswer } else { Fate::Pass };
    let proxy = Proxy::before(stage.plane.address(), lossy);
    let said = stage.at(proxy.url(), "operator", &["reset", "--yes", "--reason", "again", "-o", "json"]);
    let told = document(&said);
    assert_eq!((said.code, &told["outcome"], &told["replayed"]), (Some(0), &json!("done"), &json!(true)));
    assert!(said.stderr.contains("checking") && said.stderr.contains("the journal says: it was done"), "{said:?}");
    assert_eq!(stage.rollout()["generation"], generation + 1, "reset once");
    let key = |head: &String| head.lines().find(|line| line.starts_with("idempotency-key: ")).map(str::to_owned);
    let orders = proxy.orders();
    assert_eq!((orders.len(), orders.iter().all(|order| key(order) == key(&orders[0]))), (3, true));
}

#[test]
fn a_lost_request_is_done_once_as_well() {
    let stage = Stage::running();
    let generation = stage.rollout()["generation"].as_u64().unwrap();
    let lossy = |head: &str, before| if is_order(head) && before < 1 { Fate::Lose } else { Fate::Pass };
    let proxy = Proxy::before(stage.plane.address(), lossy);
    let said = stage.at(proxy.url(), "operator", &["reset", "--yes", "--reason", "again"]);
    assert!(said.code == Some(0) && said.stderr.contains("had not arrived"), "{said:?}");
    assert_eq!(stage.rollout()["generation"], generation + 1);
}

#[test]
fn a_plan_of_yesterday_is_not_carried_out() {
    let stage = Stage::running();
    let (url, token) = (stage.plane.url(), stage.plane.token("owner").to_owned());
    let folder = stage.plane.folder().to_owned();
    // Somebody is faster: between the plan and the order the ring gets another cap.
    let meddling = move |head: &str, _| {
        if is_order(head) {
            let variables = [("KURA_CONSOLE_API", &url[..]), ("KURA_CONSOLE_TOKEN", &token)];
            let said = kura(&folder, &variables, &["ring", "oak-ring", "--cap", "7", "--yes", "--reason", "first"]);
            assert_eq!(said.code, Some(0), "{said:?}");
        }
        Fate::Pass
    };
    let proxy = Proxy::before(stage.plane.address(), meddling);
    let arguments = ["ring", "oak-ring", "--cap", "3", "--yes", "--reason", "second"];
    let said = stage.at(proxy.url(), "operator", &arguments);
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.stderr.contains("ring oak-ring has other settings, by owner at revision"), "{said:?}");
    assert_eq!(stage.ring()["max_in_flight"], 7);
    let told =
        document(&stage.at(proxy.url(), "operator", &[&arguments[..], &["--settle", "9", "-o", "json"]].concat()));
    assert_eq!(told["outcome"], "done", "a change that changes nothing moves nothing: {told:#}");
}

#[test]
fn a_key_that_is_repeated_does_nothing_again() {
    let stage = Stage::running();
    let arguments = ["reset", "--yes", "--reason", "once", "--key", "window-7", "-o", "json"];
    let told = [0, 1].map(|_| document(&stage.operator(&arguments)));
    assert_eq!([&told[0]["replayed"], &told[1]["replayed"]], [&json!(false), &json!(true)]);
    assert_eq!(told[0]["answer"]["generation"], stage.rollout()["generation"]);
    let other = ["pause", "machine", "wk-1", "--yes", "--reason", "x", "--key", "window-7"];
    let reused = stage.operator(&other);
    assert!(reused.code == Some(2) && reused.stderr.contains("used for something else"), "{reused:?}");
    stage.operator(&["halt", "--key", "no key"]).fails(2, &["printable"]);
}

#[test]
fn the_name_is_typed_after_the_question_and_nothing_else_will_do() {
    let stage = Stage::running();
    let mut wrong = stage.typed(&["yank", "v1", "--reason", "it breaks drains"]);
    wrong.send("v1\n");
    wrong.wait_for("type v1 to do it:");
    wrong.send("v2\n");
    assert_eq!(wrong.wait_exit().code, Some(1), "{}", wrong.text());
    assert!(wrong.text().contains("nothing was done"), "{}", wrong.text());
    assert_eq!(stage.rollout()["status"], "running");

    let mut right = stage.typed(&["yank", "v1"]);
    right.wait_for("why?");
    right.send("it breaks drains\n");
    let shown = right.wait_for("type v1 to do it:");
    assert!(shown.contains("ends   the rollout of v1 is halted"), "{shown}");
    right.send("v1\n");
    right.wait_for("is yanked");
    assert_eq!(right.wait_exit().code, Some(0));
    let yank = stage.thing("/api/config/releases/", "git_ref", "v1")["yank"].clone();
    assert_eq!(yank["reason"], "it breaks drains");
}

#[test]
fn what_moved_while_somebody_thought_is_shown_and_asked_again() {
    let (stage, holder) = Stage::held();
    let mut person = stage.typed(&["pause", "machine", &holder, "--reason", "its disk"]);
    person.wait_for(&format!("type {holder} to do it:"));
    let id = stage.machine(&holder)["uuid"].as_str().unwrap().to_owned();
    let path = format!("/api/provisioning/machines/{id}");
    assert_eq!(stage.plane.call(Method::PATCH, &path, &json!({"ring": null})).0, 200);
    person.send(&format!("{holder}\n"));
    let shown = person.wait_for("Enter = do it");
    assert!(shown.contains(&format!("moved  machine {holder} ")) && shown.contains("by owner"), "{shown}");
    assert_eq!(stage.machine(&holder)["paused"], false, "nothing was done");
    person.send("\n");
    person.wait_for("is paused");
    assert_eq!(person.wait_exit().code, Some(0));
}

#[test]
fn an_uncap_is_a_word_of_its_own_and_a_stop_is_one_key() {
    let stage = Stage::running();
    let mut uncap = stage.typed(&["ring", "oak-ring", "--cap", "0", "--reason", "hurry"]);
    let shown = uncap.wait_for("type UNCAP to do it:");
    assert!(shown.contains("starts now: ") && shown.contains("hold the line"), "{shown}");
    uncap.send("oak-ring\n");
    assert_eq!(uncap.wait_exit().code, Some(1));
    assert_eq!(stage.ring()["max_in_flight"], 1);
    let mut halt = stage.typed(&["halt"]);
    halt.wait_for("y = do it:");
    halt.send("\n");
    assert_eq!(halt.wait_exit().code, Some(1), "Enter alone is a reflex");
    let mut halt = stage.typed(&["halt"]);
    halt.wait_for("y = do it:");
    halt.send("y\n");
    halt.wait_for("is halted");
    assert_eq!(halt.wait_exit().code, Some(0));
}

#[test]
fn whoever_waits_no_longer_is_told_that_it_is_unknown() {
    let stage = Stage::running();
    let cut =
        Proxy::before(stage.plane.address(), |head, _| if is_order(head) { Fate::LoseAnswer } else { Fate::Pass });
    let launch = Launch::console(&["reset", "--yes", "--reason", "again", "--key", "window-8"]).size(100, 30);
    let launch = launch.env("KURA_CONSOLE_API", cut.url()).env("KURA_CONSOLE_TOKEN", stage.plane.token("operator"));
    let mut person = launch.start();
    person.wait_for("checking");
    person.send("\x03");
    let shown = person.wait_for("--key window-8");
    assert!(shown.contains("unknown whether it was done"), "{shown}");
    assert_eq!(person.wait_exit().code, Some(6));
}

#[test]
fn a_stop_by_uuid_needs_nothing_but_its_own_endpoint() {
    let stage = Stage::running();
    let blind = |head: &str, _| if is_order(head) { Fate::Pass } else { Fate::Lose };
    let proxy = Proxy::before(stage.plane.address(), blind);
    let ring = stage.ring()["uuid"].as_str().unwrap().to_owned();
    let rollout = stage.rollout()["uuid"].as_str().unwrap().to_owned();
    stage.at(proxy.url(), "operator", &["pause", "ring", "oak-ring"]).fails(3, &["cannot be reached"]);
    let yank = stage.uuid("/api/config/releases/", "git_ref", "v1");
    stage.at(proxy.url(), "operator", &["yank", &yank, "--yes", "--reason", "x"]).fails(3, &["cannot be reached"]);
    for arguments in [&["pause", "ring", &ring][..], &["halt", &rollout]] {
        let said = stage.at(proxy.url(), "operator", arguments);
        assert!(said.code == Some(0) && said.stderr.contains("going on by uuid"), "{said:?}");
    }
    assert_eq!((&stage.rollout()["status"], &stage.ring()["paused"]), (&json!("halted"), &json!(true)));
}

#[test]
fn an_interrupt_is_a_no() {
    let stage = Stage::running();
    let mut person = stage.typed(&["reset", "--reason", "again"]);
    person.wait_for("type v1 to do it:");
    let before = stage.audit();
    person.send("\x03");
    assert_eq!(person.wait_exit().code, Some(1), "{}", person.text());
    assert!(person.text().contains("not confirmed") && person.modes_as_before(), "{}", person.text());
    assert_eq!(stage.audit(), before);
}

#[test]
fn what_is_meant_stays_what_was_seen_first() {
    let (stage, holder) = Stage::held();
    let mut person = stage.typed(&["pause", "machine", &holder, "--reason", "its disk"]);
    person.wait_for(&format!("type {holder} to do it:"));
    let id = stage.machine(&holder)["uuid"].as_str().unwrap().to_owned();
    assert_eq!(stage.plane.call(Method::DELETE, &format!("/api/provisioning/machines/{id}"), &Value::Null).0, 204);
    stage.plane.post("/api/provisioning/machines/", &json!({"hostname": holder}));
    person.send(&format!("{holder}\n"));
    assert_eq!(person.wait_exit().code, Some(5), "{}", person.text());
    assert_eq!(stage.machine(&holder)["paused"], false, "its namesake is not meant");
}

#[test]
fn nothing_from_outside_steers_the_terminal() {
    let stage = Stage::running();
    let hostile = "\u{1b}]0;x\u{7}\u{202e}oak";
    for arguments in [
        &["pause", "environment", "\u{1b}[2Joak"][..],
        &["environment", "oak", "--name", hostile],
        &["pause", "environment", "oak", "--reason", hostile],
        &["environments", "-o", "yaml"],
    ] {
        let said = stage.operator(arguments);
        let raw = said.stdout.clone() + &said.stderr;
        assert!(!raw.contains('\u{1b}') && !raw.contains('\u{202e}'), "{raw:?}");
    }
}

#[test]
fn completions_know_the_verbs() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = kura(folder.path(), &[], &["completions", shell]).stdout;
        for word in ["halt", "remove-machine", "track-config-tags", "unprotected"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}
