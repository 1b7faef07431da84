//! One rollout from its start to its halt: six machines with real agents, a person at the console, and a control plane
//! that is killed in the middle.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::agent::node::Node;
use super::super::pty::driver::Driver;
use super::plane::Plane;
use super::screen::{select, wait_for_row};

/// What an agent runs: it says that it began, and goes on once the test says so.
const EXEC: &str = r#"echo "$KURA_RUN $KURA_GENERATION" >"$NOTES"; read _ <"$GO""#;

const MACHINES: usize = 6;

/// What is typed where the console asks why.
const REASON: &str = "its disk is being replaced";

/// A fleet with a ring of one slot, and a rollout of it under way.
struct Stage {
    plane: Plane,
    nodes: BTreeMap<String, Node>,
    ids: BTreeMap<String, String>,
    rollout: String,
}

impl Stage {
    fn set(plane: Plane) -> Self {
        let ids = configure(&plane);
        let nodes = ids.iter().map(|(hostname, id)| {
            let mut node = Node::of(&plane.url(), plane.token("agent"), EXEC, &[("--machine", id), ("--retries", "0")]);
            node.start();
            (hostname.clone(), node)
        });
        Self { nodes: nodes.collect(), ids, rollout: String::new(), plane }
    }

    /// Started over HTTP; without force nothing takes its place.
    fn start_protected(&mut self) {
        let [release, other] = ["v1", "v2"].map(|git_ref| build(&self.plane, git_ref));
        let start = json!({"config_release_uuid": release, "protected": true});
        self.rollout = text(&self.plane.post("/api/config/rollouts/", &start), "uuid");
        let (status, said) =
            self.plane.call(reqwest::Method::POST, "/api/config/rollouts/", &json!({"config_release_uuid": other}));
        assert_eq!((status, said["code"].as_str()), (409, Some("protected")), "{said}");
    }

    fn status(&self) -> Value {
        self.plane.get(&format!("/api/config/rollouts/{}/status", self.rollout))
    }

    fn node(&mut self, hostname: &str) -> &mut Node {
        self.nodes.get_mut(hostname).expect("a machine")
    }

    /// What agents reported of this rollout, as `machine: outcome`, the oldest first.
    fn outcomes_until(&self, count: usize) -> Vec<String> {
        let path = format!("/api/config/rollouts/{}/apply-results", self.rollout);
        let told = |body: &Value| body.as_array().is_some_and(|results| results.len() >= count);
        let results = self.plane.get_until(&path, &format!("{count} results"), told);
        let told = |result: &Value| format!("{}: {}", text(result, "hostname"), text(result, "outcome"));
        results.as_array().expect("a list").iter().rev().map(told).collect()
    }
}

/// What the runbook sets up before the first rollout; machines by name.
fn configure(plane: &Plane) -> BTreeMap<String, String> {
    plane.post("/api/config/environments/", &json!({"name": "Oak", "slug": "oak", "promotion_order": 1}));
    let ring = json!({
        "name": "oak-ring", "max_in_flight": 1, "min_settle_seconds": 1, "stall_timeout_seconds": 5400,
        "failure_count_threshold": 1,
    });
    plane.post("/api/config/rings/", &ring);
    let machine = |n| {
        let hostname = format!("node-{n}");
        let body = json!({"hostname": hostname, "environment": "oak", "ring": "oak-ring"});
        let id = text(&plane.post("/api/provisioning/machines/", &body), "uuid");
        (hostname, id)
    };
    (1..=MACHINES).map(machine).collect()
}

fn build(plane: &Plane, git_ref: &str) -> String {
    let body = json!({"git_ref": git_ref, "engine": "saltstack", "timeout_seconds": 3600, "notes": "a drill"});
    text(&plane.post("/api/config/releases/build-from-git", &body), "uuid")
}

fn text(body: &Value, field: &str) -> String {
    body[field].as_str().unwrap_or_else(|| panic!("no {field} in {body}")).to_owned()
}

/// The holder, then the queue.
fn line_of(status: &Value) -> Vec<String> {
    let machines = status["machines"].as_array().expect("machines");
    let holders: Vec<&Value> = machines.iter().filter(|row| row["holds_slot"] == true).collect();
    let mut queue: Vec<&Value> = machines.iter().filter(|row| row["queue_position"].is_u64()).collect();
    queue.sort_by_key(|row| row["queue_position"].as_u64());
    assert_eq!(holders.len(), 1, "one slot, one holder: {status:#}");
    holders.into_iter().chain(queue).map(|row| text(row, "hostname")).collect()
}

/// A status without what passes: who was heard of when, and the revision it was read at.
fn lasting(mut status: Value) -> Value {
    let rows = status["machines"].as_array_mut().expect("machines");
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.retain(|field, _| !matches!(field.as_str(), "is_online" | "last_seen_at"));
    }
    let body = status.as_object_mut().expect("a body");
    body.retain(|field, _| !matches!(field.as_str(), "revision" | "stall_reason" | "stall_kind"));
    status
}

fn arm(console: &mut Driver) {
    console.send("a");
    console.wait_for("Arm verbs");
    console.send(&format!("{REASON}\r"));
    console.wait_for("ARMED");
}

/// Skips a machine: the dialog wants its name, and rests on the button that does nothing.
fn skip(console: &mut Driver, hostname: &str) {
    select(console, hostname);
    console.send("xm");
    let dialog = console.wait_for(&format!("Skip machine {hostname}?"));
    assert!(dialog.contains(&format!("type {hostname}:")), "{dialog}");
    console.send(&format!("{hostname}\r\t\r"));
    console.wait_gone("Skip machine");
}

fn halt(console: &mut Driver) {
    console.send("xh");
    console.wait_for("Halt the rollout of v1?");
    console.send("y");
    console.wait_for("HALTED");
}

#[test]
fn a_rollout_moves_is_steered_by_keys_survives_a_kill_and_is_halted() {
    let mut stage = Stage::set(Plane::start());
    let mut console = stage.plane.console("operator").size(100, 30).start();
    console.wait_for("No rollout yet");
    stage.start_protected();
    console.send("2");
    console.wait_for("holds");
    let line = line_of(&stage.status());
    assert_eq!(line.len(), MACHINES, "{line:?}");

    the_queue_moves_by_itself(&mut stage, &mut console, &line);
    a_person_takes_the_holder_out(&mut stage, &mut console, &line);
    the_control_plane_dies_and_comes_back(&mut stage, &mut console, &line);
    a_person_halts_it(&mut stage, &mut console, &line);

    console.send("q");
    assert_eq!(console.wait_exit().code, Some(0));
    what_was_done_is_on_this_machine_too(&console);
}

/// Each verb of the console stands in its local audit, before it left and with what was answered.
fn what_was_done_is_on_this_machine_too(console: &Driver) {
    let kept = std::fs::read_to_string(console.home().join(".local/state/kura-console/audit.jsonl")).expect("a file");
    let lines: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |phase: &str| -> Vec<(Value, Value)> {
        let lines = lines.iter().filter(|line| line["phase"] == phase);
        lines.map(|line| (line["verb"].clone(), line["key"].clone())).collect()
    };
    let (intents, outcomes) = (of("intent"), of("outcome"));
    assert_eq!(intents, outcomes, "{kept}");
    let verbs: Vec<&str> = intents.iter().filter_map(|(verb, _)| verb.as_str()).collect();
    assert_eq!(verbs, ["pause-machine", "halt"], "{kept}");
    assert!(lines.iter().filter(|l| l["phase"] == "outcome").all(|l| l["answer"]["kind"] == "done"), "{kept}");
}

/// The first machine is done and has settled: the second one is granted.
fn the_queue_moves_by_itself(stage: &mut Stage, console: &mut Driver, line: &[String]) {
    wait_for_row(console, &line[0], &["pending", "holds"]);
    wait_for_row(console, &line[1], &["queued", "number 1"]);
    assert_eq!(stage.node(&line[0]).note(), "arc 0");
    stage.node(&line[0]).go();
    wait_for_row(console, &line[0], &["applied"]);
    wait_for_row(console, &line[1], &["pending", "holds"]);
    wait_for_row(console, &line[2], &["queued", "number 1"]);
    assert_eq!(stage.node(&line[1]).note(), "arc 0");
}

/// The lease of the second one ends, its run is withdrawn, the third one is granted.
fn a_person_takes_the_holder_out(stage: &mut Stage, console: &mut Driver, line: &[String]) {
    let id = stage.ids[&line[1]].clone();
    arm(console);
    skip(console, &line[1]);
    wait_for_row(console, &line[1], &["PAUSED"]);
    wait_for_row(console, &line[2], &["pending", "holds"]);
    stage.node(&line[1]).says("withdrawn");
    assert_eq!(stage.node(&line[2]).note(), "arc 0");
    assert_eq!(stage.outcomes_until(2), [format!("{}: success", line[0]), format!("{}: canceled", line[1])]);
    let pause = &stage.plane.get(&format!("/api/provisioning/machines/{id}"))["pause"];
    assert_eq!((pause["by"].as_str(), pause["reason"].as_str()), (Some("operator"), Some(REASON)));
}

/// The console says so, gives no orders meanwhile and recovers by itself; nothing of the rollout moved.
fn the_control_plane_dies_and_comes_back(stage: &mut Stage, console: &mut Driver, line: &[String]) {
    let before = stage.status();
    assert_eq!((line_of(&before), &before["blocking"]["paused"]), (line[2..].to_vec(), &json!(1)));
    stage.plane.kill();
    console.wait_for("lost");
    select(console, &line[2]);
    console.send("xm");
    console.wait_for("only stopping verbs work now");
    stage.plane.start_again();
    console.wait_gone("lost");
    console.wait_for("live");
    wait_for_row(console, &line[2], &["pending", "holds"]);
    assert_eq!(lasting(stage.status()), lasting(before), "same holder, same queue, held since the same moment");
}

/// The run in flight is withdrawn, and nobody else ever began one, or began one twice.
fn a_person_halts_it(stage: &mut Stage, console: &mut Driver, line: &[String]) {
    halt(console);
    assert_eq!(stage.status()["status"], "halted");
    stage.node(&line[2]).says("withdrawn");
    let outcomes = ["success", "canceled", "canceled"];
    let expected: Vec<String> = line.iter().zip(outcomes).map(|(name, outcome)| format!("{name}: {outcome}")).collect();
    assert_eq!(stage.outcomes_until(3), expected);
    for (hostname, node) in &stage.nodes {
        assert_eq!(node.unread_note(), None, "{hostname} ran once more");
        assert!(node.memory().run.is_none(), "{hostname} still runs something");
    }
}
