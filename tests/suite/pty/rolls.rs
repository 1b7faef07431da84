//! Fleet rolls at the keys: the demo opens on a gate or an incident, and keys open the one and heal the other.

use super::driver::{Driver, Launch, PATIENCE};

fn shown(preset: &str, more: &[&str]) -> Driver {
    let words = ["demo", "--preset", preset, "--speed", "60"];
    Launch::console(&[&words[..], more].concat()).size(100, 40).start()
}

/// Arms the console with a reason.
fn arm(driver: &mut Driver) {
    driver.send("a");
    driver.wait_for("Arm verbs");
    driver.send("CHG-4471\r");
    driver.wait_for("ARMED");
}

#[test]
fn a_roll_of_a_canary_and_five_nodes_goes_through_once_its_gate_is_approved_by_key() {
    // F41, F54, F59
    let mut driver = shown("reference-roll", &["--pull-share", "80"]);
    let screen = driver.wait_for("GATE");
    assert!(screen.contains("waiting on canary gate"), "{screen}");
    driver.send("ug");
    driver.wait_for("verbs are not armed: press a first");
    arm(&mut driver);
    driver.send("ug");
    let asked = driver.wait_for("Approve the gate of kernel/fleet?");
    assert!(asked.contains("the canary gate opens: wk-2 goes next"), "{asked}");
    driver.send("\r");
    driver.send("4");
    driver.wait_for("rolling");
    driver.wait_until("five nodes follow one by one, and all of them are proven", PATIENCE, |screen| {
        let text = screen.contents();
        text.contains("5/5 (soak)") && text.matches("proven").count() >= 6
    });
    driver.send("\r");
    let full = driver.wait_for("canary opened by");
    assert!(full.contains("registry/seanfarm"), "{full}");
    assert!(full.contains("nothing needs you"), "{full}");
    driver.send("\x1b");
    driver.wait_gone("canary opened by");
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}

#[test]
fn a_wedged_runtime_holds_its_roll_until_a_probe_by_key_proves_it_mended() {
    // F13, F56
    let mut driver = shown("wedged-runtime", &[]);
    let screen = driver.wait_for("BLOCKED");
    assert!(screen.contains("wk-1 is Ready and cannot start containers"), "{screen}");
    arm(&mut driver);
    driver.send("5");
    driver.wait_for("broken");
    driver.send("up");
    driver.wait_for("a throwaway pod is made on wk-1 at the next tick, and judged");
    driver.send("\r");
    driver.wait_for("proven");
    driver.wait_gone("broken");
    driver.send("4");
    driver.wait_for("waiting on canary gate");
    driver.wait_gone("blocked");
    driver.send("ug");
    let asked = driver.wait_for("3 nodes tolerate 1 down");
    assert!(asked.contains("type kernel/fleet:"), "{asked}");
    driver.send("kernel/fleet\r\x1b[C\r");
    driver.wait_for("rolling");
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}
