//! The console on a terminal.

use super::super::pty::driver::{Driver, Launch};
use super::stub::{ASH, Extent, Mishap, ROLLOUT, Stub};

fn attached(stub: &Stub, size: (u16, u16)) -> Driver {
    let launch = Launch::console(&["--api", stub.url(), "--rollout", ROLLOUT]).env("KURA_CONSOLE_TOKEN", "k_test");
    launch.size(size.0, size.1).start()
}

/// Arms, and selects the machine of that name on the screen of the rollout.
fn armed(driver: &mut Driver) {
    driver.wait_for("basic link");
    driver.send("a");
    driver.wait_for("Arm verbs");
    driver.send("disk swap\r");
    driver.wait_for("ARMED");
}

#[test]
fn it_looks_at_the_rollout_and_says_what_it_cannot_know() {
    let stub = Stub::start(Extent::Listed);
    let mut driver = attached(&stub, (100, 30));
    driver.wait_for("basic link: status only, no plans");
    driver.send("2");
    let text = driver.wait_for("cedar");
    for told in ["ash", "birch", "pine-cp", "pending", "queued"] {
        assert!(text.contains(told), "{told}\n{text}");
    }
    assert!(!text.contains("nobody holds the seat") && !text.contains("NO TICK"), "{text}");
    driver.send("0");
    let log = driver.wait_for("no change stream");
    assert!(log.contains("no plans") && log.contains("no audit") && log.contains("no idempotency keys"), "{log}");
    stub.tell(|status| status["stall_reason"] = serde_json::json!("ash is soaking"));
    driver.send("1");
    driver.wait_for("ash is soaking");
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}

#[test]
fn a_verb_is_offered_without_a_plan_and_a_lost_answer_is_looked_up() {
    let stub = Stub::start(Extent::Listed);
    let mut driver = attached(&stub, (100, 40));
    armed(&mut driver);
    stub.next(Mishap::AnswerLost);
    driver.send("2");
    driver.wait_for("cedar");
    driver.send("/");
    driver.send("ash\r");
    driver.wait_gone("cedar");
    driver.send("Gxm");
    let dialog = driver.wait_for("Skip machine ash?");
    assert!(dialog.contains("the server cannot rehearse"), "{dialog}");
    assert!(dialog.contains("by the runbook the slot of ash is given back"), "{dialog}");
    driver.send("ash\r\t\r");
    let text = driver.wait_for("its answer was lost");
    assert!(text.contains("ash is paused"), "{text}");
    let asked = stub.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].path, format!("/api/provisioning/machines/{ASH}/config-pause"));
    driver.send("q");
    driver.wait_exit();
}
