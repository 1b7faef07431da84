//! B16: what a row says, in order of precedence, and what stands beside it.

use super::rig::{Rig, capped, environment, ladder, machine, ring};
use crate::domain::explain::Subject;
use crate::domain::ids::{MachineId, RolloutId};
use crate::domain::input::{Input, RingPatch, Verb};
use crate::domain::observed::{Observed, Telemetry};
use crate::domain::release::Outcome;
use crate::domain::rollout::Rollout;
use crate::domain::rows::{MachineRow, machine_rows};
use crate::domain::span::Seconds;

fn line() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b", "c"]);
    rig.start("v1");
    rig
}

/// State, slot and place of a machine's row.
fn row(rig: &Rig, name: &str) -> (&'static str, bool, Option<usize>) {
    let row = rig.row(name);
    (row.state.word(), row.holds_slot, row.queue_position)
}

/// Rows of a rollout that need not be the current one.
fn rows_of(rig: &Rig, rollout: &Rollout) -> Vec<MachineRow> {
    machine_rows(&rig.world.as_of(rollout), &rig.observed, rollout, rig.now)
}

#[test]
fn a_pause_of_the_machine_goes_before_every_other_state() {
    // R129
    let mut rig = line();
    rig.converge("a").break_render("c", "K8S_VIP");
    rig.poll("b");
    rig.fail("b").patch("oak", capped(2, 0, 0, 10));
    rig.poll("c");
    assert_eq!([rig.state("a"), rig.state("b"), rig.state("c")], ["applied", "failed", "errored"]);
    for name in ["a", "b", "c"] {
        rig.pause(machine(name));
        assert_eq!(row(&rig, name), ("paused", false, None));
    }
    rig.unpause(machine("a")).unpause(machine("c"));
    assert_eq!([rig.state("a"), rig.state("c")], ["applied", "errored"], "the states below were only covered");
}

#[test]
fn a_paused_ring_or_environment_leaves_every_row_as_it_is() {
    // R129
    for level in [ring("oak"), environment("oak")] {
        let mut rig = Rig::cluster(&capped(1, 0, 0, 10));
        rig.environment("oak", 9).ring("oak", capped(1, 0, 0, 10));
        for (name, bucket) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
            rig.machine(name, "oak", "oak", bucket);
        }
        rig.start("v1");
        rig.converge("a").poll("b");
        rig.pause(machine("d"));
        let before = rig.rows();
        rig.pause(level);
        assert_eq!(rig.rows(), before, "{level:?}");
        let states: Vec<&str> = before.iter().map(|row| row.state.word()).collect();
        assert_eq!(states, ["applied", "pending", "queued", "paused", "waiting", "waiting", "waiting", "waiting"]);
    }
}

#[test]
fn applied_is_the_marker_and_the_latest_result_soaking_or_not() {
    // R130
    let mut rig = Rig::line("oak", capped(1, 300, 0, 10), &["a"]);
    rig.start("v1");
    rig.converge("a");
    assert_eq!((row(&rig, "a"), rig.slots("oak").settling), (("applied", false, None), 1));
    rig.at(300);
    assert_eq!((rig.state("a"), rig.slots("oak").settling), ("applied", 0));
    rig.fail("a");
    assert_eq!(rig.state("a"), "failed", "the marker alone is no proof");
    rig.poll("a");
    rig.ok("a");
    assert_eq!(rig.state("a"), "applied");
    rig.result("a", Outcome::Canceled);
    assert_eq!(rig.state("a"), "applied", "a withdrawn run says nothing");
    rig.start("v1");
    assert_eq!(rig.state("a"), "applied", "a reset is no reason to doubt it");
    rig.start("v2");
    assert_eq!(rig.state("a"), "queued", "another release is");
}

#[test]
fn failed_is_the_latest_result_of_this_generation_with_or_without_a_slot() {
    // R131
    let mut rig = line();
    rig.poll("a");
    rig.fail("a");
    assert_eq!(row(&rig, "a"), ("failed", true, None), "a holder that fails keeps its slot");
    rig.break_render("a", "K8S_VIP").poll("a");
    assert_eq!(rig.state("a"), "failed", "a failure goes before a render error");
    rig.mend_render("a").ok("a").fail("a");
    rig.poll("b");
    assert_eq!(row(&rig, "a"), ("failed", false, Some(1)), "a flap queues at its place");
    rig.poll("a");
    rig.ok("b").poll("a");
    rig.result("a", Outcome::Timeout);
    assert_eq!(rig.state("a"), "failed", "killed at the deadline is failed");
    rig.result("a", Outcome::Canceled);
    assert_eq!(rig.state("a"), "failed", "a withdrawn run is no later result");
    rig.start("v1");
    assert_eq!(row(&rig, "a"), ("queued", false, Some(1)), "an earlier generation colours nothing");
}

#[test]
fn errored_holds_no_slot_unless_it_held_one_before() {
    // R132
    let mut rig = line();
    rig.break_render("a", "K8S_VIP").poll_all(&["a", "b"]);
    assert_eq!(row(&rig, "a"), ("errored", false, Some(1)));
    assert_eq!(rig.row("a").render_error, Some(vec!["K8S_VIP".to_owned()]));
    rig.break_render("a", "K8S_DRAIN_TOKEN").poll("a");
    assert_eq!(rig.row("a").render_error, Some(vec!["K8S_DRAIN_TOKEN".to_owned()]), "the last render counts");
    rig.mend_render("a").poll("a");
    assert_eq!(row(&rig, "a"), ("pending", true, None));
    assert_eq!(rig.row("a").render_error, None);
    rig.break_render("a", "K8S_VIP").poll("a");
    assert_eq!(row(&rig, "a"), ("errored", true, None));

    let mut rig = Rig::line("oak", RingPatch::default(), &["a"]);
    rig.break_render("a", "K8S_VIP").start("v1");
    assert_eq!((rig.poll("a"), row(&rig, "a")), (None, ("errored", false, None)), "also without a cap");
}

#[test]
fn pending_holds_the_slot_or_is_at_work_in_an_uncapped_ring() {
    // R133
    let mut rig = line();
    rig.poll("a");
    assert_eq!(row(&rig, "a"), ("pending", true, None));
    let uncapped = ladder(&[(0, 3), (600, 100)]);
    let mut rig = Rig::line("oak", uncapped, &["a", "b", "c"]);
    rig.environment("later", 20).ring("later", RingPatch::default()).machine("z", "later", "later", 1);
    rig.start("v1");
    rig.poll("a");
    assert_eq!(row(&rig, "a"), ("pending", false, None), "served");
    assert_eq!(row(&rig, "b"), ("pending", false, None), "elected and not asked yet");
    assert_eq!(row(&rig, "c"), ("waiting", false, None), "not elected");
    assert_eq!(row(&rig, "z"), ("waiting", false, None), "not open");
    rig.ok("a");
    assert_eq!(rig.state("a"), "applied");
}

#[test]
fn queued_is_elected_open_unfinished_and_without_a_lease() {
    // R134
    let mut rig = Rig::line(
        "oak",
        RingPatch { wave_ladder: ladder(&[(0, 4)]).wave_ladder, ..capped(1, 0, 0, 10) },
        &["a", "b", "c", "d"],
    );
    rig.start("v1");
    rig.poll("a");
    let rows = ["a", "b", "c", "d"].map(|name| row(&rig, name));
    let queued = |place| ("queued", false, Some(place));
    assert_eq!(rows, [("pending", true, None), queued(1), queued(2), ("waiting", false, None)]);
    rig.ok("a");
    assert_eq!(row(&rig, "b"), queued(1), "a free slot is taken by a poll, not by being free");
}

#[test]
fn waiting_is_a_later_environment_or_not_elected() {
    // R135, R72
    let mut rig = Rig::cluster(&ladder(&[(0, 2), (600, 100)]));
    rig.start("v1");
    let states = |rig: &Rig| ["cp1", "cp2", "w1", "w2"].map(|name| rig.state(name));
    assert_eq!(states(&rig), ["pending", "waiting", "waiting", "waiting"]);
    rig.at(600);
    assert_eq!(states(&rig), ["pending", "pending", "waiting", "waiting"], "time elects here, not there");
    rig.converge("cp1").converge("cp2").at(660).tick();
    assert_eq!(states(&rig), ["applied", "applied", "waiting", "waiting"], "w1 and w2 have buckets 3 and 4");
    rig.at(1_260);
    assert_eq!(states(&rig), ["applied", "applied", "pending", "pending"], "its ladder began when it opened");
}

#[test]
fn a_ladder_begins_when_a_place_in_the_path_opens_its_environment() {
    // R70, R77
    let mut rig = Rig::cluster(&ladder(&[(0, 2), (600, 100)]));
    rig.start("v1");
    rig.at(5_000).verb(Verb::PatchEnvironment {
        environment: crate::domain::ids::EnvironmentId::named("workers"),
        name: None,
        promotion_order: Some(Some(9)),
        config_values: None,
    });
    assert_eq!(rig.at(5_599).state("w1"), "waiting", "open for 599 s only");
    assert_eq!(rig.at(5_600).state("w1"), "pending");
}

#[test]
fn a_slot_never_stands_beside_a_state_without_one_nor_beside_a_place() {
    // R136
    let mut rig = Rig::line("oak", capped(2, 60, 0, 10), &["a", "b", "c", "d", "e"]);
    let sound = |rig: &Rig| {
        for row in rig.rows() {
            let without = ["paused", "applied", "queued", "waiting"].contains(&row.state.word());
            assert!(!row.holds_slot || (!without && row.queue_position.is_none()), "{row:?}");
        }
    };
    rig.start("v1");
    rig.poll_all(&["a", "b"]);
    sound(&rig);
    rig.fail("a").ok("b").pause(machine("c"));
    sound(&rig);
    rig.pause(machine("a")).break_render("d", "X").poll_all(&["d", "e"]);
    sound(&rig);
    rig.at(60).poll_all(&["d", "e"]).unpause(machine("a")).fail("b").patch("oak", capped(1, 60, 0, 10));
    sound(&rig);
    rig.start("v1");
    sound(&rig);
}

#[test]
fn eligible_is_open_and_elected_whatever_is_paused() {
    // R137
    let mut rig = Rig::cluster(&ladder(&[(0, 2)]));
    rig.start("v1");
    let eligible = |rig: &Rig| ["cp1", "cp2", "w1"].map(|name| rig.row(name).eligible);
    assert_eq!(eligible(&rig), [true, false, false]);
    for level in [machine("cp1"), ring("cp"), environment("cp")] {
        rig.pause(level);
        assert_eq!(eligible(&rig), [true, false, false], "{level:?}");
        rig.unpause(level);
    }
    rig.converge("cp1");
    assert_eq!(eligible(&rig), [true, false, false], "a done machine was elected too");
}

#[test]
fn offline_is_no_state_and_unknown_until_it_is_known() {
    // R138
    let mut rig = line();
    rig.observed = Observed::starting_at(rig.now);
    rig.poll("a");
    assert_eq!((rig.row("a").is_online, rig.row("b").is_online), (Some(true), None));
    let seen = rig.row("a").last_seen_at;
    rig.at(179);
    assert_eq!((rig.row("a").is_online, rig.row("b").is_online), (Some(true), None), "just started: nobody is offline");
    let states = [rig.state("a"), rig.state("b")];
    rig.at(180);
    assert_eq!((rig.row("a").is_online, rig.row("b").is_online), (Some(false), Some(false)));
    assert_eq!([rig.state("a"), rig.state("b")], states, "it changes no state");
    assert_eq!((rig.row("a").last_seen_at, rig.row("b").last_seen_at), (seen, None));
}

#[test]
fn an_outage_serves_the_applied_without_a_slot_and_shows_what_was_known() {
    // R177, R142
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b", "c"]);
    rig.start("v1");
    rig.converge("a").converge("b").fail("b");
    rig.poll("b");
    let before = rig.rows();
    rig.observed.telemetry = Telemetry::Unreadable;
    assert_eq!(rig.rows(), before, "rows are those of the main database");
    assert!(rig.poll("a").is_some(), "its marker says applied");
    assert_eq!((rig.changes.len(), rig.holders()), (0, vec!["b".to_owned()]), "without a lease");
    assert_eq!(rig.poll("c"), None, "who proved nothing is not admitted");
    rig.ok("b").fail("a");
    assert_eq!([rig.state("a"), rig.state("b"), rig.state("c")], ["failed", "applied", "queued"]);
    assert_eq!(rig.poll("a"), None, "it is known to have failed, and nothing is granted now");
    assert!(rig.poll("b").is_some());
    rig.observed.telemetry = Telemetry::Readable;
    assert!(rig.poll("a").is_some());
}

#[test]
fn rows_of_a_rollout_that_is_over_follow_the_same_states_without_a_lease() {
    // R179
    let mut rig = Rig::cluster(&capped(1, 0, 0, 10));
    rig.start("v1");
    rig.converge("cp1").poll("cp2");
    rig.fail("cp2").pause(machine("w2"));
    let halted = rig.rollout().id;
    rig.verb(Verb::Halt { rollout: halted });
    let states = |rows: &[MachineRow]| rows.iter().map(|r| (r.state.word(), r.holds_slot)).collect::<Vec<_>>();
    let expected = [("applied", false), ("failed", false), ("waiting", false), ("paused", false)];
    assert_eq!(states(&rig.rows()), expected);
    assert_eq!(rig.row("cp2").queue_position, Some(1), "it would be next");
    rig.start("v2");
    rig.poll("cp1");
    assert_eq!(rig.holders(), ["cp1"]);
    let old = rig.world.rollout(halted).unwrap().clone();
    let rows = rows_of(&rig, &old);
    assert!(rows.iter().all(|row| !row.holds_slot && row.held_since.is_none()), "the slot is another rollout's");
    assert_eq!(states(&rows), expected, "and the states are still those of v1");
}

#[test]
fn rows_of_an_earlier_rollout_have_the_buckets_of_its_release() {
    // R179, R32
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &[]);
    for n in 0..6 {
        let id = MachineId::named(&format!("m{n}"));
        rig.machine(&format!("m{n}"), "oak", "oak", 0);
        rig.world.edit_machine(id, |m| m.bucket = None);
    }
    rig.world.reindex();
    rig.start("v1");
    let of_v1: Vec<(String, u8)> = rig.rows().into_iter().map(|row| (row.hostname, row.bucket)).collect();
    let first = rig.rollout().id;
    rig.start("v2");
    let old = rig.world.rollout(first).unwrap().clone();
    let again: Vec<(String, u8)> = rows_of(&rig, &old).into_iter().map(|row| (row.hostname, row.bucket)).collect();
    assert_eq!(again, of_v1);
}

#[test]
fn until_it_converges_a_rebuilt_machine_runs_the_version_of_its_image() {
    // R154
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b"]);
    rig.start("v1");
    rig.converge("a").poll("b");
    rig.step(&Input::Rebuilt { machine: MachineId::named("a"), version: Some("v1.30.2".to_owned()) });
    let said = |rig: &Rig| rig.explain(Subject::Machine(MachineId::named("a")));
    assert!(said(&rig).sentence.contains("v1.30.2"), "{:?}", said(&rig));
    assert_eq!(rig.state("a"), "queued", "in the meantime the cluster has two versions");
    rig.ok("b");
    assert!(crate::domain::observed::POLL_AFTER <= Seconds(60), "the window is one sync and one upgrade");
    rig.converge("a");
    assert!(!said(&rig).sentence.contains("v1.30.2"), "{:?}", said(&rig));
    assert_eq!(rig.world.rollout(RolloutId::named("r1")).unwrap().status(), "running");
}
