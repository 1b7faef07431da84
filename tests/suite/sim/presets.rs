//! What a preset shows at the first look, and that none of it stands still afterwards.

use kura_console::domain::change::Change;
use kura_console::domain::hold::hold;
use kura_console::domain::observed::Observed;
use kura_console::domain::rollout::{Ending, HaltCause};
use kura_console::domain::rows::{MachineRow, RowState, machine_rows};
use kura_console::domain::span::Seconds;
use kura_console::sim::presets::preset;
use kura_console::sim::stage::Stage;

use super::bed::{at, current, history};

const OPENING: u64 = 50_000;

fn open(name: &str) -> Stage {
    let mut stage = preset(name).unwrap().stage(at(OPENING), 1);
    stage.advance_to(at(OPENING)).unwrap();
    stage
}

fn rows(stage: &Stage, seconds: u64) -> Vec<MachineRow> {
    let observed = Observed {
        last_poll: kura_console::control::ports::Presence::seen(&stage.outside().presence, stage.account()),
        ..Observed::starting_at(at(0))
    };
    machine_rows(&stage.world(), &observed, &current(stage), at(seconds))
}

fn row<'a>(rows: &'a [MachineRow], hostname: &str) -> &'a MachineRow {
    rows.iter().find(|row| row.hostname == hostname).unwrap()
}

#[test]
fn the_window_opens_in_its_middle_with_something_to_decide() {
    let stage = open("window");
    let rows = rows(&stage, OPENING);
    let control_plane = rows.iter().filter(|row| row.hostname.starts_with("oak-cp"));
    assert!(control_plane.clone().all(|row| row.state == RowState::Applied && row.settles_at.is_none()));

    let holder = row(&rows, "oak-w3");
    assert!(holder.holds_slot && holder.is_online == Some(false), "{holder:?}");
    let left = Seconds::between(at(OPENING), Seconds(5_400).after(holder.held_since.unwrap()));
    assert!((180..=600).contains(&left.0), "{left} to the stall");
    let settling = row(&rows, "oak-w5");
    assert!(settling.state == RowState::Applied && settling.settles_at.is_some(), "{settling:?}");
    let done = row(&rows, "oak-w1");
    assert!(done.state == RowState::Applied && done.settles_at.is_none(), "{done:?}");
    assert_eq!(row(&rows, "oak-w2").state, RowState::Paused);
    let queued = row(&rows, "oak-w4");
    assert!(queued.state == RowState::Queued && queued.queue_position == Some(1), "{queued:?}");
    assert!(current(&stage).protected && current(&stage).started_by == "maria");
}

#[test]
fn the_window_goes_on_settling_admitting_and_halting() {
    let mut stage = open("window");
    stage.advance_to(at(OPENING + 180)).unwrap();
    let later = rows(&stage, OPENING + 180);
    assert!(row(&later, "oak-w4").holds_slot);
    stage.advance_to(at(OPENING + 660)).unwrap();
    let halts: Vec<HaltCause> = current(&stage).halted_rings.values().map(|halt| halt.cause).collect();
    assert_eq!(halts, [HaltCause::Stall]);
}

#[test]
fn the_fresh_window_has_its_first_node_at_work_and_everybody_else_behind_it() {
    let rows = rows(&open("fresh"), OPENING);
    assert_eq!(rows.iter().filter(|row| row.holds_slot).count(), 1);
    assert_eq!(rows.iter().filter(|row| row.state == RowState::Queued).count(), 2);
    assert_eq!(rows.iter().filter(|row| row.state == RowState::Waiting).count(), 5);
}

#[test]
fn the_halted_ring_says_which_drain_failed_and_why() {
    let stage = open("halted");
    let rollout = current(&stage);
    let halt = rollout.halted_rings.values().next().unwrap();
    assert!(halt.reason.contains("oak-w1") && halt.reason.contains("cordon_drain"), "{}", halt.reason);
    let sick = row(&rows(&stage, OPENING), "oak-w1").clone();
    assert!(sick.state == RowState::Failed && sick.holds_slot, "{sick:?}");
    let observed = Observed::starting_at(at(0));
    assert!(hold(&stage.world(), &observed, &rollout, at(OPENING)).is_some());
}

#[test]
fn the_superseded_window_interrupted_a_node_and_is_told_from_its_successor() {
    let stage = open("superseded");
    let world = stage.world();
    let endings: Vec<_> = world.rollouts.iter().map(|rollout| rollout.ending.clone()).collect();
    assert!(matches!(endings[..], [Some(Ending::Superseded { .. }), None]), "{endings:?}");
    let ended = |change: &Change| matches!(change, Change::LeaseEnded { .. });
    let interrupted = history(&stage).iter().any(|step| {
        step.changes.iter().any(|change| matches!(change, Change::RolloutStarted { .. }))
            && step.changes.iter().any(ended)
    });
    assert!(interrupted, "nobody was in mid-drain");
}

#[test]
fn the_fleet_of_ten_thousand_moves_at_the_first_look_and_a_minute_later() {
    let mut stage = open("fleet");
    let count = |stage: &Stage, state: RowState| rows(stage, OPENING).iter().filter(|row| row.state == state).count();
    let (applied, revision) = (count(&stage, RowState::Applied), stage.world().revision);
    assert_eq!(stage.world().machines.len(), 10_000);
    assert!(applied > 0 && count(&stage, RowState::Pending) > 100 && count(&stage, RowState::Queued) > 100);
    stage.advance_to(at(OPENING + 60)).unwrap();
    assert!(stage.world().revision > revision);
    assert!(current(&stage).is_running() && current(&stage).halted_rings.is_empty());
}
