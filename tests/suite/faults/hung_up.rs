//! A console that ticks loses its terminal while its journal does not answer, with an order on its way.

use std::time::Duration;

use kura_console::domain::change::{Change, Entry};
use serde_json::json;

use super::super::e2e::command::kura;
use super::super::e2e::plane::Plane;
use super::super::e2e::screen::take_the_seat;
use super::ground::Ground;
use super::judge::judge;
use super::load::Story;

/// Until it is gone: two seconds, and one for a busy machine.
const SOON: Duration = Duration::from_secs(3);

/// It does not wait for the journal: the seat expires, and the order is done once or not at all.
#[test]
fn a_terminal_that_vanishes_while_the_journal_is_silent_ends_the_console_all_the_same() {
    // A24
    let Some(ground) = Ground::database() else { return };
    let (wire, through) = ground.wire();
    let mut plane = Plane::on(&ground.url);
    plane.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
    plane.post("/api/config/rings/", &json!({"slug": "oak-ring", "max_in_flight": 1}));
    plane.post("/api/provisioning/machines/", &json!({"hostname": "wk-1", "environment": "oak", "ring": "oak-ring"}));
    let release = plane.post("/api/config/releases/build-from-git", &json!({"git_ref": "v1"}));
    plane.post("/api/config/rollouts/", &json!({"config_release_uuid": release["uuid"]}));
    let mut console = plane.console("operator").args(&["--journal", &through]).size(120, 36).start();
    console.wait_for("fallback ready");
    console.send("2gj");
    console.wait_for("❯   ▾ oak-ring");
    plane.kill();
    console.wait_for("STANDING BY");
    take_the_seat(&mut console, "the server is gone");
    console.send("sc");
    console.wait_for("Set the cap of ring oak-ring?");
    console.send("3");
    console.wait_for("hold a slot, not 1");
    wire.go_silent();
    console.send("\r\r");
    console.wait_for("setting the cap of oak-ring");
    console.hang_up();
    let ended = console.wait_exit();
    assert!(ended.after < SOON, "{ended:?}");

    plane.start_again();
    plane.get_until("/api/seat", "the control plane has it", |seat| seat["epoch"] == 3);
    let said = kura(plane.folder(), &[], &["journal", "export", "--journal", &ground.url]);
    let entries = said.stdout.lines().map(|line| serde_json::from_str::<Entry>(line).expect("an entry"));
    let capped =
        |entry: &Entry| matches!(&entry.change, Change::RingChanged { settings, .. } if settings.max_in_flight == 3);
    assert!(entries.filter(capped).count() <= 1, "it is never asked for twice");
    judge(plane.folder(), &ground.url, &Story::default());
}
