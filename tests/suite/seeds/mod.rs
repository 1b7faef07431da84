//! Generated worlds: nothing breaks in them, the same seed is the same world, and a planted bug is found and made small.

use std::ops::ControlFlow;

use kura_console::sim::journal::Defect;
use kura_console::sim::seeds::generate::generate;
use kura_console::sim::seeds::profile::Profile;
use kura_console::sim::seeds::run::{Failure, Report, run, run_with};
use kura_console::sim::toll::Mishap;

/// Seeds that are always played; all of them are played by `simulate --seeds 0..2000`.
const ALWAYS: u64 = 40;

/// Seeds of all families at once that are always played: each is three worlds in one.
const ALWAYS_AT_ONCE: u64 = 8;

/// Seeds of faults that are always played.
const ALWAYS_OF_FAULTS: u64 = 60;

/// What happens in one of hundreds of worlds only.
const RARE: [Mishap; 7] = [
    Mishap::FencedAppend,
    Mishap::FencedWrite,
    Mishap::LastWrite,
    Mishap::LateDeed,
    Mishap::LateLanding,
    Mishap::StaleSight,
    Mishap::LostOutcome,
];

fn fails(defect: Defect) -> Failure {
    let report = run_with(0..ALWAYS, Profile::Rings, Some(defect), |_| ControlFlow::Continue(()));
    report.failure.expect("the planted bug was not found")
}

#[test]
fn nothing_that_people_agents_and_fate_do_breaks_a_rule_and_every_world_converges() {
    // R13, R16, R17, R18, R21, R22, R23, R28, R29, R31, R57, R66, R72, R78, R85, R86, R143, R148, R168, R175
    let mut told = Vec::new();
    let report = run(0..ALWAYS, Profile::Rings, |report| {
        told.push(report.seeds);
        ControlFlow::Continue(())
    });
    assert!(report.failure.is_none(), "{report}");
    assert_eq!((report.seeds, told.len()), (ALWAYS, 40));
    let tally = report.tally;
    assert!(tally.completed >= ALWAYS && tally.virtual_seconds >= ALWAYS * 7_200, "{report}");
    assert!(tally.grants > 10 * ALWAYS && tally.handed > 100 * ALWAYS && tally.answers > 20 * ALWAYS, "{report}");
    assert!(tally.races > ALWAYS / 2, "the processes hardly ever raced: {report}");
    let rare: Vec<Mishap> =
        Mishap::ALL.into_iter().take(Mishap::IN_RINGS).filter(|kind| tally.toll.of(*kind) < ALWAYS / 10).collect();
    assert!(rare.is_empty(), "these hardly ever happen: {rare:?}, {report}");
}

#[test]
fn nothing_that_people_controllers_and_fate_do_breaks_an_estate_and_the_newest_intent_wins() {
    // K5, K6, K8, K9, K10, K11, K12, K13, K19, K23, K25, K26, K27, K28, K37, K40, K42, K43, K51
    let report = run(0..ALWAYS, Profile::Kura, |_| ControlFlow::Continue(()));
    assert!(report.failure.is_none(), "{report}");
    let tally = report.tally.kura;
    assert!(tally.scheduled > 4 * ALWAYS && tally.superseded > ALWAYS && tally.succeeded > 2 * ALWAYS, "{report}");
    assert!(tally.applied > 6 * ALWAYS && tally.rolled > ALWAYS / 4 && tally.collected > ALWAYS / 10, "{report}");
    assert!(report.tally.races > ALWAYS / 4, "the processes hardly ever raced: {report}");
    let words = |seed| generate(Profile::Kura, seed).script.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(words(7) == words(7) && words(7) != words(8));
}

#[test]
fn nothing_that_people_kubelets_and_fate_do_breaks_a_roll_and_the_last_one_leaves_nothing_behind() {
    // F7, F8, F9, F13, F14, F15, F20, F21, F22, F23, F24, F28, F33, F35, F36, F37, F39, F46, F48, F50, F53, F54, F55, F60
    let report = run(0..ALWAYS, Profile::Rolls, |_| ControlFlow::Continue(()));
    assert!(report.failure.is_none(), "{report}");
    let tally = report.tally.rolls;
    assert!(tally.started > 3 * ALWAYS && tally.turns > 6 * ALWAYS && tally.green > 5 * ALWAYS, "{report}");
    assert!(tally.approved > ALWAYS && tally.succeeded > ALWAYS && tally.stopped > ALWAYS / 2, "{report}");
    assert!(tally.failed > ALWAYS / 4 && tally.broken > 5 * ALWAYS && tally.foreign > 0, "{report}");
    assert!(report.tally.races > ALWAYS / 4, "the processes hardly ever raced: {report}");
    let words = |seed| generate(Profile::Rolls, seed).script.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(words(7) == words(7) && words(7) != words(8));
}

#[test]
fn rollouts_servers_and_rolls_of_one_account_keep_their_rules_at_once() {
    // R28, K10, F23
    let report = run(0..ALWAYS_AT_ONCE, Profile::All, |_| ControlFlow::Continue(()));
    assert!(report.failure.is_none(), "{report}");
    let tally = report.tally;
    assert!(tally.completed >= ALWAYS_AT_ONCE && tally.kura.succeeded >= ALWAYS_AT_ONCE, "{report}");
    assert!(tally.rolls.succeeded >= ALWAYS_AT_ONCE && tally.grants > ALWAYS_AT_ONCE, "{report}");
}

#[test]
fn nothing_that_goes_wrong_between_processes_loses_doubles_or_stops_anything_for_good() {
    // R28, R168, A02, A20, A21
    let report = run(0..ALWAYS_OF_FAULTS, Profile::Faults, |_| ControlFlow::Continue(()));
    assert!(report.failure.is_none(), "{report}");
    let tally = report.tally;
    let rare: Vec<Mishap> = Mishap::ALL.into_iter().filter(|kind| tally.toll.of(*kind) == 0).collect();
    assert!(rare.iter().all(|kind| RARE.contains(kind)), "these never happen: {rare:?}");
    let faults = tally.faults;
    assert!(faults.worlds[2..].iter().all(|worlds| *worlds > 0) && faults.consoles > ALWAYS_OF_FAULTS / 2, "{report}");
    assert!(faults.takings > 2 * ALWAYS_OF_FAULTS && tally.grants > 2 * ALWAYS_OF_FAULTS, "{report}");
    assert!(faults.died_at.count() > 2 && faults.froze_at.count() > 2, "{report}");
    let words = |seed| generate(Profile::Faults, seed).script.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(words(7) == words(7) && words(7) != words(8));
}

#[test]
fn a_seed_is_a_world_the_same_one_every_time() {
    let once = |seed| -> Report { run(seed..seed + 3, Profile::Rings, |_| ControlFlow::Continue(())) };
    assert_eq!(once(100), once(100));
    assert_ne!(once(100).tally, once(200).tally);
    let words = |seed| generate(Profile::Rings, seed).script.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(words(7), words(7));
    assert_ne!(words(7), words(8));
}

#[test]
fn a_journal_that_appends_without_comparing_is_found() {
    // R28
    let failure = fails(Defect::Blind);
    assert!(failure.inputs.len() < failure.of, "{failure}");
    assert!(failure.to_string().contains(&format!("--seeds {}..{}", failure.seed, failure.seed + 1)), "{failure}");
}

#[test]
fn a_journal_that_forgets_what_it_acknowledged_is_found_and_the_script_made_small() {
    let failure = fails(Defect::Forgetful);
    assert!(failure.invariant.contains("was acknowledged, and is lost"), "{failure}");
    assert!((1..=4).contains(&failure.inputs.len()) && failure.of > 8, "{failure}");
    let again = fails(Defect::Forgetful);
    assert_eq!(failure, again, "making it small is as deterministic as the world");
}

#[test]
fn a_watcher_that_has_seen_enough_ends_it() {
    let report = run(0..ALWAYS, Profile::Rings, |report| match report.seeds {
        2 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert_eq!((report.seeds, report.failure), (2, None));
}
