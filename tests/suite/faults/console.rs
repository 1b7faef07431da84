//! A console whose way to the control plane is cut, slow, silent, or loses answers.

use std::time::Duration;

use kura_console::domain::change::{Change, Entry};
use reqwest::Method;
use serde_json::{Value, json};

use super::super::e2e::command::kura;
use super::super::e2e::plane::Plane;
use super::super::envtest::wire_cutter::WireCutter;
use super::super::pty::driver::Driver;
use super::judge::judge_beside;

/// Nothing comes over a stream for forty seconds before it is taken for lost, and an answer is waited for half a minute.
const SILENCE: Duration = Duration::from_secs(90);

/// What each piece takes on a slow wire.
const SLOW: Duration = Duration::from_millis(300);

/// A fleet of one ring, a console over a wire.
struct Stage {
    plane: Plane,
    wire: WireCutter,
    console: Driver,
    ring: String,
    /// The wire lives in it.
    _runtime: tokio::runtime::Runtime,
}

impl Stage {
    fn set() -> Self {
        let plane = Plane::start();
        plane.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
        let ring = plane.post("/api/config/rings/", &json!({"slug": "oak-ring", "max_in_flight": 1}));
        let ring = format!("/api/config/rings/{}", ring["uuid"].as_str().expect("an id"));
        plane.post(
            "/api/provisioning/machines/",
            &json!({"hostname": "wk-1", "environment": "oak", "ring": "oak-ring"}),
        );
        let release = plane.post("/api/config/releases/build-from-git", &json!({"git_ref": "v1"}));
        plane.post("/api/config/rollouts/", &json!({"config_release_uuid": release["uuid"]}));
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let port = plane.address().rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
        let wire = runtime.block_on(WireCutter::before(port));
        let url = format!("http://127.0.0.1:{}", wire.port);
        let mut console = plane.console("operator").env("KURA_CONSOLE_API", url).size(120, 36).start();
        console.wait_for("oak");
        console.send("2gj");
        console.wait_for("❯   ▾ oak-ring");
        Self { plane, wire, console, ring, _runtime: runtime }
    }

    fn ring(&self, verb: &str) {
        let (status, said) = self.plane.call(Method::POST, &format!("{}/{verb}", self.ring), &json!({}));
        assert!((200..300).contains(&status), "{verb}: {status} {said}");
    }

    /// How often the cap of the ring was set to this.
    fn caps(&self, cap: u32) -> usize {
        let said = kura(self.plane.folder(), &[], &["journal", "export", "--journal", "sqlite:kura.db"]);
        let entries = said.stdout.lines().map(|line| serde_json::from_str::<Entry>(line).expect("an entry"));
        let set =
            |change: &Change| matches!(change, Change::RingChanged { settings, .. } if settings.max_in_flight == cap);
        entries.filter(|entry| set(&entry.change)).count()
    }
}

/// The picture stays while nothing comes, what happened meanwhile is there as soon as the wire carries again, and the
/// console never ends for it.
#[test]
fn whatever_the_wire_does_the_picture_stays_and_catches_up() {
    let mut stage = Stage::set();
    stage.wire.cut();
    let lost = stage.console.wait_for("lost");
    assert!(lost.contains("oak-ring"), "the picture is kept:\n{lost}");
    stage.ring("pause");
    stage.wire.mend();
    stage.console.wait_for("PAUSED");

    stage.wire.slow_down(SLOW);
    stage.ring("unpause");
    stage.console.wait_gone("PAUSED");
    stage.wire.mend();

    stage.wire.go_silent();
    stage.ring("pause");
    let silent = stage.console.wait_until("lost", SILENCE, |screen| screen.contents().contains("lost"));
    assert!(silent.contains("oak-ring") && !silent.contains("PAUSED"), "the picture is kept:\n{silent}");
    stage.wire.mend();
    stage.console.wait_until("PAUSED", SILENCE, |screen| screen.contents().contains("PAUSED"));
    stage.console.send("q");
    assert_eq!(stage.console.wait_exit().code, Some(0));
    judge_beside(&stage.plane);
}

/// Nobody knows here whether it was done; it was, and it is not done again.
#[test]
fn an_order_whose_answer_is_swallowed_is_done_once() {
    // R93
    let mut stage = Stage::set();
    stage.console.send("a");
    stage.console.wait_for("Arm verbs");
    stage.console.send("a drill\r");
    stage.console.wait_for("ARMED");
    stage.console.send("sc");
    stage.console.wait_for("Set the cap of ring oak-ring?");
    stage.console.send("3");
    stage.console.wait_for("hold a slot, not 1");
    stage.wire.swallow_answers();
    stage.console.send("\r\r");
    let cap = |rings: &Value| rings[0]["max_in_flight"] == 3;
    stage.plane.get_until("/api/config/rings/", "the cap", cap);
    stage.wire.mend();
    stage.ring("pause");
    stage.console.wait_until("PAUSED", SILENCE, |screen| screen.contents().contains("PAUSED"));
    assert_eq!(stage.caps(3), 1, "{}", stage.console.text());
    // It goes on asking, and finds out.
    let asks = "… setting the cap of oak-ring";
    stage.console.wait_until("what became of it", SILENCE, |screen| !screen.contents().contains(asks));
    stage.console.send("q");
    assert_eq!(stage.console.wait_exit().code, Some(0));
    judge_beside(&stage.plane);
}
