//! What an agent decides, case by case, and what it never does, whatever happens.

use super::scene::{Scene, habits, offer};
use crate::agent::heard::{Heard, Mail, Setback};
use crate::agent::memory::{Memory, Remedy, RunKind};
use crate::agent::mind::Habits;
use crate::domain::ids::MachineId;
use crate::domain::release::{Digest, Outcome};
use crate::domain::span::Seconds;
use crate::wire::agent::RebuiltBody;

#[test]
fn an_assignment_runs_once_it_is_written_down_and_is_reported() {
    let mut scene = Scene::new(0);
    assert_eq!(scene.asked.map(|(_, have, wait)| (have, wait)), Some((None, Seconds(0))));
    let upgrade = offer("upgrade", 3);
    scene.answer(Some(upgrade.clone()));
    assert_eq!(scene.running(), Some((RunKind::Arc, upgrade.edition)));
    assert!(!scene.run.as_ref().expect("a run").1, "it waits until its process group is known");
    scene.spawned();
    assert!(scene.run.as_ref().expect("a run").1);
    assert!(scene.mind.memory().run.as_ref().is_some_and(|run| run.process.is_some()));
    scene.wait(1);
    assert_eq!(scene.asked.map(|(_, have, wait)| (have, wait)), Some((Some(upgrade.edition), Seconds(25))));
    let report = scene.ends(0).expect("a report");
    assert_eq!((report.outcome, report.changed_count, report.generation), (Outcome::Success, 1, 3));
    assert!(matches!(&scene.sent, Some(Mail::Report(sent)) if *sent == report));
    scene.delivered();
    assert!(scene.mind.memory().reports.is_empty());
}

#[test]
fn a_failure_is_retried_then_latched_until_a_new_generation() {
    // R57, R63
    let mut scene = Scene::new(2);
    scene.answer(Some(offer("upgrade", 1)));
    for failed in 1..=3 {
        let report = scene.ends(9).expect("each failed run is reported");
        assert_eq!(report.outcome, Outcome::Failed);
        assert_eq!(report.failed_states.first().map(|s| s.comment.as_str()), Some("failed with exit code 9"));
        scene.delivered();
        assert_eq!(scene.begun.len(), failed);
        scene.wait(59);
        assert_eq!(scene.begun.len(), failed, "not before its time");
        scene.wait(1);
    }
    assert_eq!(scene.begun.len(), 3);
    scene.wait(100_000);
    scene.poll_again();
    scene.answer(Some(offer("upgrade", 1)));
    assert_eq!(scene.running(), None);
    scene.poll_again();
    scene.answer(None);
    scene.poll_again();
    scene.answer(Some(offer("upgrade", 1)));
    assert_eq!(scene.running(), None, "served again in the same generation it stays latched");
    scene.restart();
    scene.answer(Some(offer("upgrade", 1)));
    assert_eq!(scene.running(), None, "so it does after a restart");
    scene.poll_again();
    scene.answer(Some(offer("upgrade", 2)));
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 2).edition)));
}

#[test]
fn a_run_past_its_deadline_is_stopped_and_reported_as_timeout() {
    // R4, R57
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    scene.spawned();
    scene.wait(599);
    assert!(!scene.stopped);
    scene.wait(1);
    assert!(scene.stopped);
    scene.poll_again();
    scene.answer(None);
    let report = scene.ends(143).expect("a report");
    assert_eq!(report.outcome, Outcome::Timeout, "the first reason counts");
    assert_eq!(report.failed_states.first().map(|s| s.comment.as_str()), Some("stopped at its deadline of 10m"));

    let mut scene = Scene::new(0);
    let mut endless = offer("upgrade", 1);
    endless.timeout_seconds = Seconds(0);
    scene.answer(Some(endless));
    scene.wait(1_000_000);
    assert!(!scene.stopped, "R4: 0 = no deadline");
}

#[test]
fn a_withdrawn_run_is_stopped_and_what_follows_waits_for_fresh_word() {
    // R57, R95, R161
    for (next, cancel) in
        [(None, false), (None, true), (Some(offer("upgrade", 2)), true), (Some(offer("fix", 2)), false)]
    {
        let mut scene = Scene::new(0);
        scene.answer(Some(offer("upgrade", 1)));
        scene.poll_again();
        scene.answer_with(next.clone(), cancel);
        assert!(scene.stopped);
        scene.poll_again();
        let report = scene.ends(143).expect("a report");
        assert_eq!((report.outcome, report.generation), (Outcome::Canceled, 1));
        assert_eq!(scene.running(), None, "nothing begins before the control plane knows");
        scene.delivered();
        let (_, _, wait) = scene.asked.expect("it asks at once");
        assert_eq!(wait, Seconds(0));
        scene.answer(next.clone());
        assert_eq!(scene.running(), next.map(|next| (RunKind::Arc, next.edition)));
    }
}

#[test]
fn an_answer_that_was_on_its_way_before_the_report_is_no_fresh_word() {
    // R161
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    scene.poll_again();
    scene.answer(Some(offer("upgrade", 2)));
    scene.poll_again();
    scene.ends(143);
    scene.answer(Some(offer("upgrade", 2)));
    assert_eq!(scene.running(), None);
    scene.delivered();
    scene.answer(Some(offer("upgrade", 2)));
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 2).edition)));
    // the same for a success: asked before its report, an answer confirms nothing
    scene.poll_again();
    scene.ends(0);
    scene.answer(Some(offer("upgrade", 2)));
    assert!(scene.mind.memory().applied.as_ref().is_some_and(|applied| !applied.confirmed));
}

#[test]
fn cancel_beside_the_same_edition_stops_the_run_until_the_next_word() {
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    scene.poll_again();
    scene.answer_with(Some(offer("upgrade", 1)), true);
    assert_eq!(scene.ends(143).expect("a report").outcome, Outcome::Canceled);
    scene.delivered();
    assert_eq!(scene.asked.map(|(_, have, _)| have), Some(None));
    scene.answer(Some(offer("upgrade", 1)));
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 1).edition)));
}

#[test]
fn a_holder_that_was_paused_does_its_arc_again() {
    // R104, R113: a withdrawn run is not a failure, so nothing latches
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    for _ in 0..3 {
        scene.poll_again();
        scene.answer(None);
        scene.ends(143);
        scene.delivered();
        scene.answer(None);
        scene.poll_again();
        scene.answer(Some(offer("upgrade", 1)));
        assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 1).edition)));
    }
}

#[test]
fn drift_runs_go_on_for_ever_and_their_failure_is_an_arc() {
    // R9, R16, R58
    let mut scene = Scene::new(1);
    scene.done_with(&offer("upgrade", 1));
    for _ in 0..5 {
        let before = scene.now;
        while scene.run.is_none() {
            scene.sleep();
        }
        let pause = scene.now.duration_since(before).as_secs();
        assert!((900..=1800).contains(&pause), "after {pause} s");
        assert_eq!(scene.running(), Some((RunKind::Drift, offer("upgrade", 1).edition)));
        assert_eq!(scene.ends(0).expect("a report").outcome, Outcome::Success);
        scene.delivered();
    }
    scene.wait(1_800);
    assert_eq!(scene.ends(1).expect("a report").outcome, Outcome::Failed);
    scene.wait(60);
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 1).edition)));
    assert_eq!(scene.ends(1).expect("a report").outcome, Outcome::Failed);
    scene.wait(100_000);
    assert_eq!(scene.running(), None, "latched; its own release is no other good one to go back to");
}

#[test]
fn the_last_known_good_runs_once_when_a_later_release_latches() {
    // R62
    let mut scene = Scene::new(0);
    scene.done_with(&offer("upgrade", 1));
    scene.answer(Some(offer("hotfix", 2)));
    assert_eq!(scene.ends(1).expect("a report").outcome, Outcome::Failed);
    assert_eq!(scene.running(), Some((RunKind::LastGood, offer("upgrade", 1).edition)));
    scene.delivered();
    assert_eq!(scene.ends(1), None, "it reports nothing");
    scene.wait(100_000);
    assert_eq!((scene.running(), scene.begun.len()), (None, 3));
    scene.restart();
    scene.answer(Some(offer("hotfix", 2)));
    assert_eq!(scene.running(), None);
    scene.poll_again();
    scene.answer(Some(offer("upgrade", 3)));
    assert_eq!(
        scene.running(),
        Some((RunKind::Arc, offer("upgrade", 3).edition)),
        "the hotfix may have changed things"
    );
}

#[test]
fn a_done_machine_that_is_served_again_works_on_nothing() {
    // R94, R99
    let mut scene = Scene::new(0);
    scene.done_with(&offer("upgrade", 1));
    for generation in 2..=4 {
        scene.answer(Some(offer("upgrade", generation)));
        assert_eq!(scene.running(), None);
        scene.poll_again();
        assert_eq!(scene.asked.map(|(_, have, _)| have), Some(Some(offer("upgrade", generation).edition)));
    }
    scene.answer(None);
    scene.restart();
    scene.answer(Some(offer("upgrade", 5)));
    assert_eq!(scene.running(), None);
    scene.wait(1_800);
    assert_eq!(scene.running(), Some((RunKind::Drift, offer("upgrade", 5).edition)), "drift goes on under the new one");
}

#[test]
fn where_the_control_plane_may_not_count_it_as_done_it_runs_again() {
    // R175: the report may have come after the reset
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    scene.ends(0);
    scene.delivered();
    scene.answer(Some(offer("upgrade", 2)));
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 2).edition)));
    // R175: a generation was missed, so another release may have displaced this one
    let mut scene = Scene::new(0);
    scene.done_with(&offer("upgrade", 1));
    scene.answer(Some(offer("upgrade", 3)));
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 3).edition)));
    // another release with the same content has proven nothing
    let mut scene = Scene::new(0);
    scene.done_with(&offer("upgrade", 1));
    let mut twin = offer("twin", 2);
    twin.digest = offer("upgrade", 1).digest;
    scene.answer(Some(twin.clone()));
    assert_eq!(scene.running(), Some((RunKind::Arc, twin.edition)));
}

#[test]
fn a_new_rendering_of_what_is_applied_waits_for_the_drift_run() {
    let mut scene = Scene::new(0);
    scene.done_with(&offer("upgrade", 1));
    let mut changed = offer("upgrade", 1);
    changed.digest = Digest("rendered anew".to_owned());
    scene.answer(Some(changed.clone()));
    assert_eq!(scene.running(), None);
    scene.wait(1_800);
    assert_eq!(scene.run.as_ref().map(|(run, _)| &run.offer), Some(&changed));
}

#[test]
fn a_killed_agent_starts_its_arc_anew_once_it_hears_that_it_still_may() {
    // R27
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    scene.spawned();
    scene.restart();
    scene.wait(10_000);
    assert_eq!(scene.running(), None);
    assert_eq!(scene.asked.map(|(_, have, wait)| (have, wait)), Some((Some(offer("upgrade", 1).edition), Seconds(0))));
    scene.answer(Some(offer("upgrade", 1)));
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 1).edition)));
    assert_eq!(scene.mind.memory().reports, [], "the run that was cut off is not reported");
    assert_ne!(scene.begun[0].started_at, scene.begun[1].started_at);
}

#[test]
fn a_drift_run_that_was_cut_off_proves_nothing() {
    let mut scene = Scene::new(0);
    scene.done_with(&offer("upgrade", 1));
    scene.wait(1_800);
    assert_eq!(scene.running(), Some((RunKind::Drift, offer("upgrade", 1).edition)));
    scene.restart();
    scene.answer(Some(offer("upgrade", 2)));
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 2).edition)));
}

#[test]
fn reports_wait_for_a_control_plane_that_is_away_and_for_a_restart() {
    let mut scene = Scene::new(5);
    scene.answer(Some(offer("upgrade", 1)));
    for _ in 0..3 {
        scene.ends(1);
        if scene.sent.is_some() {
            scene.undelivered(Setback::Away);
        }
        scene.wait(60);
    }
    assert_eq!(scene.mind.memory().reports.len(), 3);
    scene.restart();
    for left in [2, 1, 0] {
        assert!(matches!(&scene.sent, Some(Mail::Report(first)) if *first == scene.mind.memory().reports[0]));
        scene.delivered();
        assert_eq!(scene.mind.memory().reports.len(), left);
    }
}

#[test]
fn a_report_that_is_refused_for_good_is_given_up_with_a_word() {
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    scene.ends(0);
    scene.refused();
    assert_eq!(scene.mind.memory().reports, []);
    assert!(scene.said.iter().any(|words| words.contains("is given up")), "{:?}", scene.said);
}

#[test]
fn an_answer_brings_letters_that_waited_for_it_on_their_way() {
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    scene.ends(0);
    for _ in 0..8 {
        scene.undelivered(Setback::Away);
        while scene.sent.is_none() {
            scene.sleep();
        }
    }
    scene.undelivered(Setback::Away);
    scene.poll_again();
    assert!(scene.sent.is_none());
    scene.answer(Some(offer("upgrade", 1)));
    assert!(scene.sent.is_some());
}

#[test]
fn a_control_plane_that_holds_no_polls_is_asked_as_often_as_it_says() {
    let mut scene = Scene::new(0);
    scene.answer(None);
    scene.poll_again();
    scene.answer(None);
    let before = scene.now;
    scene.poll_again();
    assert_eq!(scene.now.duration_since(before).as_secs(), 10);
    scene.wait(25);
    scene.answer(None);
    scene.wait(0);
    assert!(scene.asked.is_some(), "one that was held is followed by the next at once");
}

#[test]
fn setbacks_are_waited_out() {
    for (setback, at_least, at_most) in
        [(Setback::Away, 500, 1_000), (Setback::Denied, 30_000, 60_000), (Setback::Wait(Seconds(7)), 7_000, 7_500)]
    {
        let mut scene = Scene::new(0);
        scene.no_answer(setback);
        let before = scene.now;
        scene.poll_again();
        let waited = scene.now.duration_since(before).as_millis();
        assert!((at_least..=at_most).contains(&waited), "{setback:?}: {waited} ms");
    }
}

#[test]
fn a_rebuild_is_told_before_anything_is_asked_and_forgets_everything() {
    // R152, R153
    let mut memory = Memory::new(MachineId::named("ash"));
    let mut scene = Scene::with(memory.clone(), habits(0));
    scene.done_with(&offer("upgrade", 1));
    memory = scene.mind.memory().clone();
    assert!(memory.reimage("v1.30.2"));
    assert!(memory.applied.is_none() && memory.good.is_none() && memory.current.is_none());
    let mut scene = Scene::with(memory, habits(0));
    assert_eq!(scene.asked, None);
    let body = RebuiltBody { baked_version: Some("v1.30.2".to_owned()) };
    assert_eq!(scene.sent, Some(Mail::Rebuilt(body)));
    scene.undelivered(Setback::Away);
    scene.restart();
    scene.delivered();
    assert!(scene.asked.is_some());
    let mut memory = scene.mind.memory().clone();
    assert!(!memory.reimage("v1.30.2"), "once");
    assert!(memory.reimage("v1.31.0"));
}

#[test]
fn leaving_waits_for_the_run_and_a_second_word_stops_it() {
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    scene.hear(Heard::Leave);
    assert!(!scene.mind.may_leave() && !scene.stopped);
    scene.poll_again();
    let mut impatient = Scene::new(0);
    impatient.answer(Some(offer("upgrade", 1)));
    impatient.hear(Heard::Leave);
    impatient.hear(Heard::LeaveNow);
    assert!(impatient.stopped);
    assert_eq!(impatient.ends(143).expect("a report").outcome, Outcome::Canceled);
    assert_eq!(scene.ends(1).expect("a report").outcome, Outcome::Failed);
    for mut scene in [scene, impatient] {
        assert!(!scene.mind.may_leave(), "the report is on its way");
        scene.undelivered(Setback::Away);
        assert!(scene.mind.may_leave(), "it was tried");
        assert_eq!(scene.mind.memory().reports.len(), 1);
        scene.wait(10_000);
        assert_eq!(scene.running(), None);
    }
}

#[test]
fn an_idle_agent_leaves_at_once() {
    let mut scene = Scene::new(0);
    scene.done_with(&offer("upgrade", 1));
    scene.hear(Heard::Leave);
    assert!(scene.mind.may_leave());
}

#[test]
fn once_is_one_answer_and_what_follows_from_it() {
    let once = || Scene::with(Memory::new(MachineId::named("ash")), Habits { once: true, ..habits(3) });
    let mut scene = once();
    scene.answer(None);
    assert!(scene.mind.may_leave());
    let mut scene = once();
    scene.answer(Some(offer("upgrade", 1)));
    assert!(!scene.mind.may_leave());
    scene.ends(1);
    scene.delivered();
    assert!(scene.mind.may_leave());
    assert_eq!(scene.begun.len(), 1);
}

#[test]
fn content_that_got_lost_is_asked_for_again() {
    let mut scene = Scene::new(0);
    scene.answer(Some(offer("upgrade", 1)));
    scene.run = None;
    scene.hear(Heard::ContentLost);
    scene.poll_again();
    assert_eq!(scene.asked.map(|(_, have, _)| have), Some(None));
    scene.answer(Some(offer("upgrade", 1)));
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 1).edition)));
}

#[test]
fn a_clock_that_was_set_back_delays_nothing_beyond_its_own_time() {
    let mut scene = Scene::new(3);
    scene.answer(Some(offer("upgrade", 1)));
    scene.ends(1);
    let mut memory = scene.mind.memory().clone();
    let far = Seconds(9_000_000).after(scene.now);
    memory.trouble.as_mut().expect("trouble").remedy = Remedy::RetryAt(far);
    let mut scene = Scene::with(memory, habits(3));
    scene.delivered();
    scene.answer(Some(offer("upgrade", 1)));
    scene.wait(60);
    assert_eq!(scene.running(), Some((RunKind::Arc, offer("upgrade", 1).edition)));
}
