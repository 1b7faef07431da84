//! R167: the preflight list passes for the runbook's layout and names what differs from it.

use super::rig::{Rig, capped, ladder, machine};
use crate::domain::fleet::ConfigValues;
use crate::domain::ids::{EnvironmentId, ReleaseId};
use crate::domain::input::{RingPatch, Verb};
use crate::domain::preflight::{Grade, Plan, preflight};

/// The runbook's cluster, ticking, everybody online.
fn sound() -> Rig {
    let mut rig = Rig::cluster(&capped(1, 300, 5_400, 1));
    let values: ConfigValues = [("K8S_VIP".to_owned(), "10.0.0.1".into())].into();
    rig.verb(Verb::PatchEnvironment {
        environment: EnvironmentId::named("cp"),
        name: None,
        promotion_order: None,
        config_values: Some(values),
    });
    rig.poll_all(&["cp1", "cp2", "w1", "w2"]).tick();
    rig.observed.last_tick = Some(rig.now);
    rig
}

fn grades(rig: &Rig, protected: bool) -> Vec<(&'static str, Grade)> {
    let secrets = ["K8S_DRAIN_TOKEN".to_owned()];
    let plan = Plan { release: ReleaseId::named("v1"), protected, secrets: Some(&secrets) };
    let checks = preflight(&rig.world, &rig.observed, &plan, rig.now);
    assert!(checks.iter().all(|c| (c.grade == Grade::Pass) == c.hint.is_none() && !c.sentence.is_empty()));
    checks.into_iter().filter(|c| c.grade != Grade::Pass).map(|c| (c.id, c.grade)).collect()
}

#[test]
fn the_runbooks_layout_passes() {
    // R167, R87, R2, R3
    assert_eq!(grades(&sound(), true), []);
}

/// A check, how it comes out, and what makes it.
type Case = (&'static str, Grade, fn(&mut Rig));

#[test]
fn what_differs_is_named() {
    // R167, R103, R122, R162
    let cases: &[Case] = &[
        ("unattended", Grade::Warn, |r| {
            r.verb(Verb::PatchAccount { auto_deploy: Some(true), track_config_tags: None });
        }),
        ("idle", Grade::Fail, |r| {
            r.start("v2");
        }),
        ("release", Grade::Fail, |r| {
            r.verb(Verb::Yank { release: ReleaseId::named("v1") });
        }),
        ("serial", Grade::Warn, |r| {
            r.patch("cp", RingPatch { failure_count_threshold: Some(10), ..RingPatch::default() });
        }),
        ("serial", Grade::Fail, |r| {
            r.patch("cp", RingPatch { max_in_flight: Some(0), ..RingPatch::default() });
        }),
        ("settle", Grade::Warn, |r| {
            r.patch("cp", capped(1, 10, 5_400, 1));
        }),
        ("clocks", Grade::Fail, |r| {
            r.patch("cp", capped(1, 300, 1_800, 1));
        }),
        ("clocks", Grade::Warn, |r| {
            r.patch("cp", capped(1, 300, 0, 1));
        }),
        ("ladder", Grade::Warn, |r| {
            r.patch("cp", ladder(&[(0, 20), (600, 100)]));
        }),
        ("empty", Grade::Fail, |r| {
            r.environment("between", 10);
        }),
        ("path-tie", Grade::Warn, |r| {
            r.environment("between", 10);
        }),
        ("paused-members", Grade::Warn, |r| {
            r.pause(machine("w1"));
        }),
        ("offline-members", Grade::Warn, |r| {
            r.at(600);
        }),
        ("ticks", Grade::Fail, |r| {
            r.at(100);
        }),
        ("half-assigned", Grade::Warn, |r| {
            r.assign("w1", None, Some("workers"));
        }),
        ("shared-ring", Grade::Warn, |r| {
            r.assign("w1", Some("workers"), Some("cp"));
        }),
    ];
    for (id, grade, differ) in cases {
        let mut rig = sound();
        differ(&mut rig);
        let found = grades(&rig, true);
        assert!(found.contains(&(*id, *grade)), "{id}: {found:?}");
    }
    assert!(grades(&sound(), false).contains(&("protected", Grade::Warn)));
}
