//! What somebody edited on a real API server, at a console that is attached to its control plane: one screen says what it
//! is, and the force key on it heals it.

use serde_json::json;

use super::super::screen::Shown;
use super::bed::Served;
use crate::e2e::screen::{A_WHILE, arm};

const NAME: &str = "acme-eu-central";

/// Image and revision agree, so that nothing is applied by itself; it takes a person, and no more than this screen.
#[test]
fn what_was_edited_by_hand_is_said_on_one_screen_and_healed_by_its_force_key() {
    // K24, K28
    let Some(served) = Served::start() else { return };
    let (server, up) = (served.server(), served.up());
    served.release("0.20.0");
    served.applied("0.20.0");
    served.reconcile("0.20.0", up);
    let history = format!("{server}/deployments");
    served.plane.get_until(&history, "it succeeds", |rows| rows[0]["status"] == "succeeded");
    let mut console = served.plane.console("operator").size(120, 36).start();
    console.wait_for("live");
    served.edit(&json!({"spec": {"storageSize": "999Gi"}}));
    let said = [
        "acme-eu-central serves 0.20.0: somebody edited spec.storageSize: live 999Gi, rendered 20Gi",
        "so nothing is applied by itself",
        "u a force a re-apply",
        "THEN VERIFY",
    ];
    console.wait_for("EDITED");
    console.send("g");
    console.wait_until("why", A_WHILE, |screen| Shown::on(&screen.contents()).says(&said));

    arm(&mut console, "INC-4471");
    console.send("ua");
    console.wait_for(&format!("Force a re-apply of {NAME}?"));
    console.send(&format!("{NAME}\r"));
    console.send("edited by hand\r");
    console.send("\x1b[C\r");
    served.instance("force takes the field over", |object| object["spec"]["storageSize"] == "20Gi");
    let over = |screen: &vt100::Screen| !Shown::on(&screen.contents()).says(&["somebody edited"]);
    console.wait_until("it needs nobody any more", A_WHILE, over);
    console.send("q");
    assert_eq!(console.wait_exit().code, Some(0));
    let rows = served.plane.get(&history);
    let told = ["requested_by", "reason", "force"].map(|field| rows[0][field].clone());
    assert_eq!(told, [json!("operator"), json!("edited by hand"), json!(true)], "{rows:#}");
}
