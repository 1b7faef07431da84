//! A node agent whose way to the control plane is cut, silent, or loses answers: a run is one run, and a report is told
//! once.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::agent::node::Node;
use super::super::e2e::plane::Plane;
use super::super::envtest::wire_cutter::WireCutter;
use super::judge::judge_beside;

/// What the agent runs: it says that it began, and goes on once the test says so.
const EXEC: &str = r#"echo "$KURA_GENERATION" >"$NOTES"; read _ <"$GO""#;

/// A poll that is held for 25 seconds is given up after 30 more.
const SILENCE: Duration = Duration::from_secs(90);

/// Between two looks at what was reported.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// One machine, whose agent is over there.
struct Stage {
    plane: Plane,
    wire: WireCutter,
    node: Node,
    releases: [String; 2],
    _runtime: tokio::runtime::Runtime,
}

fn uuid(body: &Value) -> String {
    body["uuid"].as_str().unwrap_or_else(|| panic!("no uuid in {body}")).to_owned()
}

impl Stage {
    fn set() -> Self {
        let plane = Plane::start();
        plane.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
        let ring = json!({"slug": "oak-ring", "max_in_flight": 1, "min_settle_seconds": 0});
        plane.post("/api/config/rings/", &ring);
        let machine = json!({"hostname": "wk-1", "environment": "oak", "ring": "oak-ring"});
        let machine = uuid(&plane.post("/api/provisioning/machines/", &machine));
        let build = |name: &str| uuid(&plane.post("/api/config/releases/build-from-git", &json!({"git_ref": name})));
        let releases = ["v1", "v2"].map(build);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let port = plane.address().rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
        let wire = runtime.block_on(WireCutter::before(port));
        let api = format!("http://127.0.0.1:{}", wire.port);
        let flags = [("--machine", machine.as_str()), ("--retries", "0")];
        let mut node = Node::of(&api, plane.token("agent"), EXEC, &flags);
        node.start();
        Self { plane, wire, node, releases, _runtime: runtime }
    }

    /// Begins a rollout; the path of what was reported of it.
    fn roll(&self, release: usize) -> String {
        let start = json!({"config_release_uuid": self.releases[release], "force": true});
        format!("/api/config/rollouts/{}/apply-results", uuid(&self.plane.post("/api/config/rollouts/", &start)))
    }

    /// Exactly one success was reported of each of so many generations.
    fn one_success(&self, path: &str, generations: usize) {
        let mut left = SILENCE.as_millis() / LOOK_AGAIN.as_millis();
        let results = loop {
            let results = self.plane.get(path);
            if results.as_array().is_some_and(|results| results.len() >= generations) {
                break results;
            }
            assert!(left > 0, "no result: {results:#}\n{}", self.node.log_so_far());
            left -= 1;
            std::thread::sleep(LOOK_AGAIN);
        };
        let results = results.as_array().expect("a list");
        let seen: BTreeSet<u64> = results.iter().filter_map(|result| result["generation"].as_u64()).collect();
        assert_eq!((results.len(), seen.len()), (generations, generations), "{results:#?}");
        assert!(results.iter().all(|result| result["outcome"] == "success"), "{results:#?}");
    }
}

#[test]
fn a_run_is_one_run_and_a_report_is_told_once_whatever_the_wire_does() {
    let mut stage = Stage::set();
    let first = stage.roll(0);
    let begun = stage.node.note();
    stage.wire.cut();
    stage.node.go();
    stage.node.says("cannot be reached");
    assert_eq!(stage.plane.get(&first), json!([]), "nothing can have arrived");
    stage.wire.mend();
    stage.one_success(&first, 1);

    let second = stage.roll(1);
    assert!(stage.node.note() > begun, "another generation");
    stage.wire.swallow_answers();
    stage.node.go();
    stage.one_success(&second, 1);
    stage.wire.mend();

    // The same release again begins a generation of its own.
    let third = stage.roll(0);
    assert_eq!(stage.node.note_within(SILENCE), "2", "nothing of the second one is run again");
    stage.node.go();
    stage.one_success(&third, 2);

    stage.wire.go_silent();
    let fourth = stage.roll(1);
    stage.wire.mend();
    stage.node.note_within(SILENCE);
    stage.node.go();
    stage.one_success(&fourth, 2);
    stage.one_success(&third, 2);
    assert_eq!(stage.node.unread_note(), None, "nothing was run twice");
    judge_beside(&stage.plane);
}
