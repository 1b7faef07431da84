//! Two processes on one journal, with faults and a crash: no interleaving gives one slot to two machines.

use kura_console::control::service::Settings;
use kura_console::domain::change::{Change, Level};
use kura_console::domain::span::Seconds;
use kura_console::sim::agents::behaviour::Behaviour;
use kura_console::sim::fleet::Brakes;
use kura_console::sim::journal::JournalFault;
use kura_console::sim::script::Cue;
use kura_console::sim::stage::{Stage, Ties};

use super::bed::{
    OPERATOR, assert_sound, assert_unbroken, at, cluster, fullest_lane, history, machine, seconds, stage, start,
};

/// Seeds that are tried.
const SEEDS: u64 = 200;

/// Two servers, eight workers that all poll at the same instants, one slot.
fn rivals(seed: u64) -> Stage {
    let mut stage = stage(seed, Ties::Shuffled);
    stage.start_process("second", Settings::default());
    let brakes = Brakes { settle: Seconds(0), ..Brakes::SERIAL };
    cluster(&mut stage, (0, 8), brakes, &Behaviour { apply: Seconds(30), ..Behaviour::default() });
    start(&mut stage, 5);
    stage
}

/// People who skip machines and take them back in the very instants in which all machines poll: whoever is at the
/// head of the queue in one server's world need not be in the other's.
fn meddle(stage: &mut Stage, seed: u64) {
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut skipped = [false; 8];
    for turn in (2..40).map(|half| half / 2) {
        let n = dice.usize(..8);
        let what = Level::Machine(machine(&format!("w-{}", n + 1)));
        let order = if skipped[n] { OPERATOR.unpauses(what, "") } else { OPERATOR.pauses(what, "") };
        skipped[n] = !skipped[n];
        stage.script().add(at(turn * 10), Cue::Orders(vec![order]));
    }
}

#[test]
fn two_servers_never_grant_two_leases_for_one_slot() {
    // R28
    // Must fail once `SimJournal` appends without comparing `expected` with its head.
    let mut races = 0;
    for seed in 0..SEEDS {
        let mut stage = rivals(seed);
        meddle(&mut stage, seed);
        stage.advance_to(at(95)).unwrap();
        let account = stage.account();
        stage.outside().journal.fail_next(account, fault(seed));
        stage.advance_to(at(200)).unwrap();
        assert_sound(&stage);
        assert!(grants(&stage) >= 2, "seed {seed}: {} leases in 200 s", grants(&stage));
        for step in history(&stage) {
            let taken = fullest_lane(&step.after, step.at);
            assert!(taken <= 1, "seed {seed}: {taken} slots of one at {} s", seconds(step.at));
        }
        races += stage.outside().journal.races(account);
    }
    assert!(races > SEEDS, "the servers hardly ever raced: {races} times in {SEEDS} runs");
}

#[test]
fn a_server_that_dies_at_any_await_leaves_one_that_goes_on_without_a_second_lease() {
    // R28
    for seed in 0..SEEDS / 2 {
        let mut stage = rivals(seed);
        meddle(&mut stage, seed);
        stage.advance_to(at(99)).unwrap();
        let holder = stage.world().seat.holder.expect("somebody ticks");
        assert!(stage.crash(&holder, seed * 7));
        stage.advance_to(at(400)).unwrap();
        assert_unbroken(&stage);
        assert!(history(&stage).iter().all(|step| fullest_lane(&step.after, step.at) <= 1), "seed {seed}");
        assert_ne!(stage.world().seat.holder, Some(holder), "seed {seed}");
        let ticks = stage.door().map(|door| door.published().borrow().last_tick.map(seconds));
        assert!(ticks.flatten().is_some_and(|last| last >= 300), "seed {seed}: the survivor does not tick");
    }
}

fn fault(seed: u64) -> JournalFault {
    match seed % 3 {
        0 => JournalFault::Conflict,
        1 => JournalFault::Error,
        _ => JournalFault::LostAnswer,
    }
}

fn grants(stage: &Stage) -> usize {
    let granted = |change: &&Change| matches!(change, Change::LeaseGranted { .. });
    history(stage).iter().map(|step| step.changes.iter().filter(granted).count()).sum()
}
