//! An incident of Kura servers at the keys: the demo opens on it, and one key heals it while the screen says so.

use super::driver::{Driver, Launch};

fn shown(preset: &str) -> Driver {
    Launch::console(&["demo", "--preset", preset, "--speed", "60"]).size(100, 30).start()
}

/// Arms the console with a reason.
fn arm(driver: &mut Driver) {
    driver.send("a");
    driver.wait_for("Arm verbs");
    driver.send("INC-4471\r");
    driver.wait_for("ARMED");
}

#[test]
fn a_manifest_deadlock_is_healed_by_a_forced_re_apply_at_the_keys() {
    // K24, K29, K43
    let mut driver = shown("manifest-deadlock");
    let screen = driver.wait_for("THEN VERIFY");
    assert!(screen.contains("DOWN") && screen.contains("somebody edited"), "{screen}");
    driver.send("ua");
    driver.wait_for("verbs are not armed: press a first");
    arm(&mut driver);
    driver.send("ua");
    let asked = driver.wait_for("Force a re-apply of tuist-eu-central-1?");
    assert!(asked.contains("the running deployment of 0.10.15 is superseded"), "{asked}");
    driver.send("tuist-eu-central-1\r");
    driver.send("edited by hand\r");
    driver.send("\x1b[C\r");
    driver.wait_for("4/4");
    driver.send("3");
    let healed = driver.wait_for("4/4 serve");
    assert!(!healed.contains("replicating") && !healed.contains("edited"), "{healed}");
    driver.send("/tuist-eu\r");
    driver.wait_for("/tuist-eu");
    driver.send("w");
    driver.wait_for("ENDPOINT CHAIN");
    driver.send("G");
    let lineage = driver.wait_for("superseded by 0.10.15");
    assert!(lineage.contains("succeeded, forced") && lineage.contains("edited by hand"), "{lineage}");
    driver.send("\x1b");
    driver.wait_gone("HISTORY");
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}

#[test]
fn a_deployment_of_fourteen_hours_makes_way_for_a_tag_that_is_released_at_the_keys() {
    // K10, K35
    let mut driver = shown("stuck-14h");
    driver.wait_for("0.19.0 has waited");
    arm(&mut driver);
    driver.send("ut");
    driver.wait_for("tag, the newest is 0.19.0:");
    driver.send("0.20.0\r");
    let asked = driver.wait_for("4 servers are brought to 0.20.0 with the next ticks");
    assert!(asked.contains("1 open deployments are superseded"), "{asked}");
    driver.send("stuck-14h\r\x1b[C\r");
    driver.wait_until("every server serves 0.20.0", super::driver::PATIENCE, |screen| {
        let text = screen.contents();
        text.contains("no deployment is open, newest tag 0.20.0") && text.contains("4/4")
    });
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}
