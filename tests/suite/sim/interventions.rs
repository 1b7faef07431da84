//! What people and fate do to a running window, on the real loop.

use kura_console::domain::change::{Change, LeaseEnd, Level};
use kura_console::domain::ids::{MachineId, ReleaseId, RolloutId};
use kura_console::domain::input::Verb;
use kura_console::domain::release::Outcome;
use kura_console::domain::rollout::{Ending, HaltCause};
use kura_console::domain::span::Seconds;
use kura_console::sim::agents::behaviour::Behaviour;
use kura_console::sim::fleet::Brakes;
use kura_console::sim::script::Cue;
use kura_console::sim::stage::{Stage, Ties};

use super::bed::{
    OPERATOR, assert_sound, at, cluster, current, history, machine, r1, run_to_the_end, stage, start, v1,
};

/// Three workers and no control plane to wait for, v1 started at 60 s.
fn workers(behaviour: &Behaviour) -> Stage {
    let mut stage = stage(7, Ties::InOrder);
    cluster(&mut stage, (1, 3), Brakes { settle: Seconds(0), ..Brakes::SERIAL }, behaviour);
    start(&mut stage, 60);
    stage
}

/// Lives on until a worker holds a slot, and a little longer.
fn until_a_worker_holds(stage: &mut Stage) -> (u64, MachineId) {
    for second in (60..7_200).step_by(5) {
        stage.advance_to(at(second)).unwrap();
        let holder =
            stage.world().machines.values().find(|m| m.lease.is_some() && m.hostname.starts_with("w-")).cloned();
        if let Some(holder) = holder {
            return (second, holder.id);
        }
    }
    panic!("no worker ever held a slot");
}

fn holders(stage: &Stage) -> Vec<MachineId> {
    stage.world().machines.values().filter(|m| m.lease.is_some()).map(|m| m.id).collect()
}

fn lease_ends(stage: &Stage) -> Vec<(MachineId, LeaseEnd)> {
    let ended = |change: &Change| match change {
        Change::LeaseEnded { machine, cause } => Some((*machine, *cause)),
        _ => None,
    };
    history(stage).iter().flat_map(|step| &step.changes).filter_map(ended).collect()
}

#[test]
fn a_paused_holder_hands_its_slot_to_the_next_within_seconds() {
    // R22, R110
    let mut stage = workers(&Behaviour::default());
    let (now, holder) = until_a_worker_holds(&mut stage);
    let pause = OPERATOR.pauses(Level::Machine(holder), "its disk");
    stage.script().add(at(now + 60), Cue::Orders(vec![pause]));
    stage.advance_to(at(now + 71)).unwrap();
    let next = holders(&stage);
    assert!(next.len() == 1 && next[0] != holder, "{next:?}");
    assert_eq!(lease_ends(&stage).last(), Some(&(holder, LeaseEnd::Paused)));

    stage.script().add(at(now + 4_000), Cue::Orders(vec![OPERATOR.unpauses(Level::Machine(holder), "")]));
    run_to_the_end(&mut stage, 7_200);
    assert_eq!(current(&stage).ending, Some(Ending::Completed));
    assert_sound(&stage);
}

#[test]
fn a_paused_machine_that_never_applied_holds_the_rollout_open() {
    // R79
    let mut stage = workers(&Behaviour::default());
    let (now, holder) = until_a_worker_holds(&mut stage);
    stage.script().add(at(now), Cue::Orders(vec![OPERATOR.pauses(Level::Machine(holder), "")]));
    stage.advance_to(at(now + 10_000)).unwrap();
    assert!(current(&stage).is_running());
    let left = stage.world().machines.values().filter(|m| !m.is_done(v1())).map(|m| m.id).collect::<Vec<_>>();
    assert_eq!(left, [holder]);
    assert_sound(&stage);
}

#[test]
fn a_failed_holder_halts_its_ring_and_a_reset_lets_it_try_again() {
    // R26, R60, R94, R63
    let mut stage = workers(&Behaviour { apply: Seconds(120), ..Behaviour::default() });
    let sick =
        Behaviour { apply: Seconds(120), outcome: Outcome::Failed, heals_after: Some(1), ..Behaviour::default() };
    for name in ["w-1", "w-2", "w-3"] {
        stage.script().add(at(1), Cue::Behave(machine(name), Box::new(sick.clone())));
    }
    let (now, holder) = until_a_worker_holds(&mut stage);
    stage.advance_to(at(now + 1_000)).unwrap();
    let halts: Vec<_> = current(&stage).halted_rings.values().map(|halt| (halt.cause, halt.machine)).collect();
    assert_eq!(halts, [(HaltCause::Threshold, holder)]);
    assert_eq!(holders(&stage), [holder], "a failed holder keeps its slot, nobody else gets one");

    stage.script().add(at(now + 1_000), Cue::Orders(vec![OPERATOR.resets(v1(), "mended")]));
    stage.advance_to(at(now + 1_300)).unwrap();
    let healed = &stage.world().machines[&holder];
    assert!(healed.is_done(v1()), "{healed:?}");
    assert_eq!(lease_ends(&stage).iter().filter(|(_, cause)| *cause == LeaseEnd::Reset).count(), 1);
    assert_sound(&stage);
}

#[test]
fn a_silent_holder_halts_its_ring_at_the_stall_timeout_and_finishes_its_arc_when_it_is_back() {
    // R49, R53, R27
    let mut stage = workers(&Behaviour::default());
    let (now, holder) = until_a_worker_holds(&mut stage);
    stage.script().add(at(now + 30), Cue::Silence(holder));
    stage.advance_to(at(now + 5_390)).unwrap();
    assert!(current(&stage).halted_rings.is_empty());
    stage.advance_to(at(now + 5_400 + 60)).unwrap();
    let halt = current(&stage).halted_rings.values().next().cloned().expect("halted within a tick");
    assert_eq!((halt.cause, halt.machine), (HaltCause::Stall, holder));
    assert!(halt.reason.contains("offline"), "{}", halt.reason);

    stage.script().add(at(now + 6_000), Cue::BringBack(holder));
    stage.advance_to(at(now + 6_700)).unwrap();
    assert!(stage.world().machines[&holder].is_done(v1()));
    assert_eq!(current(&stage).halted_rings.len(), 1, "it stays halted");
    assert_sound(&stage);
}

#[test]
fn a_halted_rollout_serves_nobody_and_cancels_the_run_in_flight() {
    // R115, R57
    let mut stage = workers(&Behaviour::default());
    let (now, holder) = until_a_worker_holds(&mut stage);
    let halt = OPERATOR.gives(Verb::Halt { rollout: r1() }, "stop");
    stage.script().add(at(now + 60), Cue::Orders(vec![halt]));
    stage.advance_to(at(now + 2_000)).unwrap();
    assert!(matches!(current(&stage).ending, Some(Ending::Halted { .. })));
    assert_eq!(lease_ends(&stage).last(), Some(&(holder, LeaseEnd::Halted)));
    let machine = &stage.world().machines[&holder];
    assert_eq!((&machine.last_result, machine.failures), (&None, None), "a canceled run is no failure");
    assert_sound(&stage);
}

#[test]
fn a_release_that_comes_back_after_a_supersede_is_applied_again_by_everybody() {
    // R92, R175
    let mut stage = workers(&Behaviour { apply: Seconds(60), ..Behaviour::default() });
    let (now, _) = until_a_worker_holds(&mut stage);
    let force = OPERATOR.forces(RolloutId::named("r2"), ReleaseId::named("v2"), "a hotfix");
    stage.script().add(at(now + 30), Cue::Orders(vec![force]));
    let again = OPERATOR.forces(RolloutId::named("r3"), v1(), "back to the window");
    stage.script().add(at(now + 100), Cue::Orders(vec![again]));
    stage.advance_to(at(now + 100)).unwrap();
    run_to_the_end(&mut stage, now + 3_600);
    assert_eq!(current(&stage).ending, Some(Ending::Completed));
    assert!(lease_ends(&stage).iter().any(|(_, cause)| *cause == LeaseEnd::Superseded));
    assert_sound(&stage);
}

#[test]
fn an_outage_of_the_results_store_stops_the_queue_and_not_the_holder() {
    // R142, R143, R145, R146
    let mut stage = workers(&Behaviour::default());
    let (now, holder) = until_a_worker_holds(&mut stage);
    stage.script().add(at(now + 10), Cue::Telemetry { up: false });
    stage.script().add(at(now + 2_000), Cue::Telemetry { up: true });
    stage.advance_to(at(now + 1_999)).unwrap();
    assert!(stage.world().machines[&holder].is_done(v1()), "the holder was served and its success counted");
    assert_eq!(holders(&stage), [], "nobody is admitted");
    stage.advance_to(at(now + 2_071)).unwrap();
    assert_eq!(holders(&stage).len(), 1);
    assert_sound(&stage);
}

#[test]
fn a_rebuilt_machine_queues_and_converges_again() {
    // R152, R153
    let mut stage = workers(&Behaviour::default());
    let (now, holder) = until_a_worker_holds(&mut stage);
    stage.script().add(at(now + 700), Cue::Rebuild(holder, Some("v1.30".to_owned())));
    stage.advance_to(at(now + 705)).unwrap();
    assert!(!stage.world().machines[&holder].is_done(v1()));
    run_to_the_end(&mut stage, 7_200);
    assert!(stage.world().machines[&holder].is_done(v1()));
    assert_sound(&stage);
}
