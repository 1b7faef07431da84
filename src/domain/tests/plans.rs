//! Plans: what is said before a verb is given is what it does, and a plan knows when it is one of yesterday.

use super::rig::{Rig, capped, machine, ring};
use crate::domain::change::{Cause, Entry};
use crate::domain::ids::{MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::input::{Intent, RingPatch, Verb};
use crate::domain::plan::{Plan, PlanKind, Thing, moved, plan};
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;

fn held() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 0, 3_600, 10), &["a", "b", "c"]);
    rig.start_protected("v1");
    rig.poll("a");
    rig.at(120);
    rig
}

fn planned(rig: &Rig, verb: &Verb) -> Plan {
    plan(verb, &rig.world, &rig.observed, "op-a", rig.now)
}

fn start(release: &str, force: bool, intent: Option<Intent>) -> Verb {
    let (id, release) = (RolloutId::named("next"), ReleaseId::named(release));
    Verb::Start { id, release, protected: None, force, intent }
}

fn cap(max_in_flight: u32) -> Verb {
    let patch = RingPatch { max_in_flight: Some(max_in_flight), ..RingPatch::default() };
    Verb::PatchRing { ring: RingId::named("oak"), patch }
}

fn says(plan: &Plan, kind: PlanKind, part: &str) -> bool {
    plan.lines.iter().any(|line| line.kind == kind && line.text.contains(part))
}

#[test]
fn a_skip_names_the_slot_that_ends_how_long_it_was_held_and_who_is_next() {
    // R105, R110
    let rig = held();
    let plan = planned(&rig, &Verb::Pause(machine("a")));
    let (a, b) = (MachineId::named("a"), MachineId::named("b"));
    assert_eq!(plan.ended.iter().map(|l| (l.machine, l.held)).collect::<Vec<_>>(), [(a, Seconds(120))]);
    assert_eq!((plan.cancelled.as_slice(), plan.starts.as_slice()), ([a].as_slice(), [b].as_slice()));
    assert!(says(&plan, PlanKind::Ends, "held for 2m") && says(&plan, PlanKind::Warns, "cordoned"), "{plan:#?}");
    assert!(says(&plan, PlanKind::Warns, "keeps holding the cursor"), "{plan:#?}");
    assert_eq!(plan.revision, rig.world.revision);
}

#[test]
fn a_hold_ends_no_slot_and_starts_nobody() {
    // R105, R107
    let rig = held();
    let plan = planned(&rig, &Verb::Pause(ring("oak")));
    assert!(!plan.ends_lease() && plan.starts.is_empty(), "{plan:#?}");
    assert_eq!(plan.cancelled, [MachineId::named("a")]);
    assert!(says(&plan, PlanKind::Stays, "order of the queue stay"), "{plan:#?}");
}

#[test]
fn uncapping_names_everybody_who_starts_at_once() {
    // R125
    let rig = held();
    let plan = planned(&rig, &cap(0));
    assert_eq!(plan.starts, [MachineId::named("b"), MachineId::named("c")].into_iter().collect::<Vec<_>>().sorted());
    assert!(plan.ends_lease() && plan.cancelled.is_empty(), "the run goes on without a slot: {plan:#?}");
    assert!(says(&plan, PlanKind::Warns, "no cap any more"), "{plan:#?}");
}

#[test]
fn a_supersede_is_refused_in_the_plan_as_it_would_be_in_earnest_and_forced_it_says_what_it_costs() {
    // R91, R92
    let rig = held();
    let refused = planned(&rig, &start("v2", false, None));
    assert_eq!(refused.refused.map(|refusal| refusal.code()), Some("protected"));
    let forced = planned(&rig, &start("v2", true, None));
    assert!(says(&forced, PlanKind::Ends, "the protected rollout of v1 is superseded"), "{forced:#?}");
    assert_eq!(forced.cancelled, [MachineId::named("a")]);
    assert!(forced.names.contains(&Thing::Release(ReleaseId::named("v2"))));
    let reset = planned(&rig, &start("v1", false, Some(Intent::Reset)));
    assert!(says(&reset, PlanKind::Starts, "begins again at oak"), "{reset:#?}");
}

#[test]
fn what_changes_nothing_says_so() {
    let mut rig = held();
    rig.pause(ring("oak"));
    let plan = planned(&rig, &Verb::Pause(ring("oak")));
    assert!(says(&plan, PlanKind::Stays, "nothing changes") && plan.lines.len() == 1, "{plan:#?}");
}

/// Every verb there is, on a fleet in mid-window.
fn verbs() -> Vec<Verb> {
    vec![
        Verb::Pause(machine("a")),
        Verb::Pause(ring("oak")),
        cap(0),
        cap(2),
        start("v1", false, None),
        start("v2", true, None),
        Verb::Yank { release: ReleaseId::named("v1") },
        Verb::Yank { release: ReleaseId::named("v2") },
        Verb::RemoveMachine { machine: MachineId::named("a") },
        Verb::AssignMachine { machine: MachineId::named("a"), environment: Some(None), ring: None, node: None },
        Verb::PatchAccount { auto_deploy: Some(true), track_config_tags: None },
        Verb::AcceptClock,
    ]
}

#[test]
fn what_a_plan_promises_is_what_happens() {
    for verb in verbs() {
        let mut rig = held();
        let plan = planned(&rig, &verb);
        assert!(!plan.lines.is_empty(), "{verb:?}");
        let before = rig.holders();
        let reply = rig.try_verb(verb.clone());
        assert!(!matches!(reply, Reply::Refused(_)), "{reply:?}");
        let gone: Vec<String> = before.into_iter().filter(|name| !rig.holders().contains(name)).collect();
        let ended: Vec<&str> = plan.ended.iter().map(|lease| lease.machine).map(|id| name(id)).collect();
        assert_eq!(gone, ended, "{verb:?}");
        for machine in &plan.starts {
            assert!(rig.poll(name(*machine)).is_some(), "{verb:?}: {} was to start", name(*machine));
        }
    }
}

fn name(id: MachineId) -> &'static str {
    ["a", "b", "c"].into_iter().find(|name| MachineId::named(name) == id).unwrap()
}

#[test]
fn a_plan_of_yesterday_is_told_by_what_it_names() {
    let mut rig = held();
    let entries = |rig: &Rig| -> Vec<Entry> {
        let entry = |(n, change): (u64, &crate::domain::change::Change)| Entry {
            revision: rig.world.revision + n,
            at: rig.now,
            by: "b".to_owned(),
            cause: Cause::Poll,
            change: change.clone(),
        };
        (0..).zip(&rig.changes).map(entry).collect()
    };
    let skip = Verb::Pause(machine("a"));
    rig.pause(machine("c"));
    assert_eq!(moved(&planned(&rig, &skip), &rig.world, entries(&rig).iter()), [], "c has no part in it");
    rig.ok("a");
    let told = moved(&planned(&rig, &skip), &rig.world, entries(&rig).iter());
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].thing, Thing::Machine(MachineId::named("a")));
    assert!(told[0].sentence().starts_with("machine a "), "{}", told[0].sentence());
}

/// In the order of their ids.
trait Sorted {
    fn sorted(self) -> Self;
}

impl Sorted for Vec<MachineId> {
    fn sorted(mut self) -> Self {
        self.sort();
        self
    }
}
