//! R167: the preflight list passes for the runbook's layout and names what differs from it.

use super::rig::{Rig, capped, ladder, machine};
use crate::domain::explain::Subject;
use crate::domain::fleet::ConfigValues;
use crate::domain::ids::MachineId;
use crate::domain::ids::{EnvironmentId, ReleaseId, RingId, SecretVersion};
use crate::domain::input::{RingPatch, Verb};
use crate::domain::observed::Node;
use crate::domain::preflight::{Check, Grade, Plan, preflight};
use crate::domain::release::{Contract, ContractWarning};

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
    holds_vip(&mut rig, "cp2");
    rig
}

fn holds_vip(rig: &mut Rig, node: &str) {
    let holder = Node { ready: true, unschedulable: false, version: None, holds_vip: true };
    rig.observed.nodes.insert(node.to_owned(), holder);
}

fn checks(rig: &Rig, protected: bool, secrets: Option<&[String]>) -> Vec<Check> {
    let plan = Plan { release: ReleaseId::named("v1"), protected, secrets };
    preflight(&rig.world, &rig.observed, &plan, rig.now)
}

/// What the check of this name says and advises.
fn said(rig: &Rig, id: &str, secrets: Option<&[String]>) -> (Grade, String, String) {
    let check = checks(rig, true, secrets).into_iter().find(|check| check.id == id).unwrap();
    (check.grade, check.sentence, check.hint.unwrap_or_default())
}

fn grades(rig: &Rig, protected: bool) -> Vec<(&'static str, Grade)> {
    let checks = checks(rig, protected, Some(&["K8S_DRAIN_TOKEN".to_owned()]));
    assert!(checks.iter().all(|c| (c.grade == Grade::Pass) == c.hint.is_none() && !c.sentence.is_empty()));
    checks.into_iter().filter(|c| c.grade != Grade::Pass).map(|c| (c.id, c.grade)).collect()
}

#[test]
fn the_runbooks_layout_passes() {
    // R167, R87, R2, R3
    assert_eq!(grades(&sound(), true), [("vip-holder", Grade::Warn)], "somebody has to hold the VIP");
}

#[test]
fn what_a_release_was_seen_to_break_and_to_look_up_is_named() {
    // R155, R167
    let mut rig = sound();
    let breach = |n: u8| ContractWarning { id: "guards".to_owned(), message: format!("breach {n}"), hint: None };
    let needs = ["secrets.K8S_DRAIN_TOKEN", "vars.K8S_VIP", "vars.db.host"].map(str::to_owned).to_vec();
    let warnings = [1, 2, 3, 4].map(breach).to_vec();
    let release = rig.world.releases.get_mut(&ReleaseId::named("v1")).unwrap();
    release.contract = Contract { warnings, needs };
    let (grade, sentence, _) = said(&rig, "contract", None);
    assert_eq!(grade, Grade::Warn);
    assert!(sentence.ends_with("contract: breach 1, breach 2, breach 3 and 1 more"), "{sentence}");
    let (grade, sentence, _) = said(&rig, "needs", None);
    assert_eq!(grade, Grade::Warn);
    assert!(sentence.ends_with("does not exist: secrets.K8S_DRAIN_TOKEN, vars.db.host"), "{sentence}");
    rig.verb(Verb::SetSecret { name: "K8S_DRAIN_TOKEN".to_owned(), version: SecretVersion::named("1") });
    assert_eq!(said(&rig, "drain-token", None).0, Grade::Pass);
    rig.verb(Verb::PatchRing {
        ring: RingId::named("cp"),
        patch: RingPatch { config_values: Some([("db".to_owned(), "x".into())].into()), ..RingPatch::default() },
    });
    assert_eq!(said(&rig, "needs", None).0, Grade::Pass);
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

#[test]
fn the_holder_of_the_vip_goes_last() {
    // R165
    let mut rig = sound();
    let (grade, sentence, hint) = said(&rig, "vip-holder", None);
    assert_eq!(grade, Grade::Warn);
    assert!(sentence.contains("cp2") && hint.contains("move the VIP") && hint.contains("no other is left"), "{hint}");
    rig.pause(machine("cp2")).start("v1");
    assert_eq!(said(&rig, "vip-holder", None).0, Grade::Pass);
    let of_cp2 = |rig: &Rig| rig.explain(Subject::Machine(MachineId::named("cp2"))).sentence;
    assert!(!of_cp2(&rig).contains("only one left"));
    rig.converge("cp1");
    assert!(of_cp2(&rig).contains("is the only one left: unpause it"), "{}", of_cp2(&rig));
    rig.at(600).tick();
    assert_eq!(rig.cursor(), "cp", "it holds the cursor meanwhile, which is harmless inside the tier");
    rig.unpause(machine("cp2")).converge("cp2").at(960).tick();
    assert_eq!(rig.cursor(), "workers");
    rig.observed.nodes = imbl::OrdMap::new();
    assert!(said(&rig, "vip-holder", None).1.contains("no node says"));
}

#[test]
fn the_token_workers_drain_with_is_looked_for_and_its_rights_are_told() {
    // R163, R164
    let rig = sound();
    let there = ["K8S_DRAIN_TOKEN".to_owned()];
    assert_eq!(said(&rig, "drain-token", Some(&there)).0, Grade::Pass);
    let (grade, sentence, hint) = said(&rig, "drain-token", Some(&[]));
    assert_eq!(grade, Grade::Warn);
    assert!(sentence.contains("no secret K8S_DRAIN_TOKEN"));
    for right in ["durantic-node-maintainer", "pods list and get", "pods/eviction create", "nodes get and patch"] {
        assert!(hint.contains(right), "{right} in {hint}");
    }
    assert!(said(&rig, "drain-token", None).1.contains("cannot be listed"));
}

#[test]
fn a_window_puts_back_the_switches_it_found_and_no_others() {
    // R121, R122
    let mut rig = sound();
    let set = |rig: &mut Rig, auto_deploy, track_config_tags| {
        rig.verb(Verb::PatchAccount { auto_deploy, track_config_tags });
    };
    let advice = |rig: &Rig| rig.explain(Subject::Rollout).next.join("; ");
    set(&mut rig, Some(true), None);
    set(&mut rig, Some(false), Some(false));
    let (grade, sentence, _) = said(&rig, "unattended", None);
    assert_eq!(grade, Grade::Pass);
    assert!(sentence.contains("auto_deploy was, until op-a turned it off"), "{sentence}");
    assert!(!sentence.contains("track_config_tags"), "that one was off already");
    rig.start("v1");
    let rollout = rig.rollout().id;
    rig.verb(Verb::Halt { rollout });
    assert!(advice(&rig).contains("put back auto_deploy, which op-a turned off"), "{}", advice(&rig));
    set(&mut rig, Some(true), None);
    assert!(!advice(&rig).contains("put back"), "it is what it was: {}", advice(&rig));
    set(&mut rig, None, Some(true));
    set(&mut rig, Some(false), None);
    set(&mut rig, None, Some(false));
    assert!(advice(&rig).contains("put back auto_deploy and track_config_tags"), "{}", advice(&rig));
    set(&mut rig, None, Some(true));
    assert!(advice(&rig).contains("put back auto_deploy, "), "{}", advice(&rig));
}
