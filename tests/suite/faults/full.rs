//! The disk of the journal is full, in the middle of everything.

use reqwest::Method;
use serde_json::json;

use super::super::e2e::plane::Plane;
use super::frozen::{CHAPTER, ticks};
use super::judge::judge;
use super::load::{Fleet, Load};
use super::mount::Mount;

/// Mebibytes; the journal, its log, telemetry and vault of a new account take about one.
const DISK: u32 = 8;

/// How often the disk fills up.
const TIMES: usize = 3;

/// What cannot be kept is not promised, and whoever asks is told why; what is known is shown. With room again everything
/// goes on in the same process.
#[test]
fn a_full_disk_is_said_and_costs_nothing_but_time() {
    let Some(disk) = Mount::of(DISK) else { return };
    let plane = Plane::on(&disk.journal());
    ticks(&plane, 1);
    let fleet = Fleet::lay(&plane);
    let load = Load::on(&fleet, &[&plane]);
    load.goes_on(CHAPTER);
    let mut made = 2;
    for nth in 0..TIMES {
        disk.fill();
        load.meets_trouble();
        // Room that SQLite has set aside already is still used.
        let (status, said) = loop {
            let new = json!({"slug": format!("fir-{nth}-{made}"), "promotion_order": 10 + made});
            match plane.call(Method::POST, "/api/config/environments/", &new) {
                (201, _) => made += 1,
                refused => break refused,
            }
        };
        assert!(status == 503 && said.to_string().contains("the disk is full"), "{status} {said:#}");
        let environments = plane.get("/api/config/environments/");
        assert_eq!(environments.as_array().map(Vec::len), Some(made), "what is known is shown: {environments:#}");
        disk.clear();
        load.goes_on(CHAPTER);
    }
    let story = load.end();
    let judged = judge(plane.folder(), &disk.journal(), &story);
    assert!(judged.grants > 0 && story.reports > 0 && story.unsure.is_empty(), "{story:?}");
    assert!(story.troubles >= TIMES && story.acknowledged.len() >= (TIMES + 1) * CHAPTER, "{story:?}");
}
