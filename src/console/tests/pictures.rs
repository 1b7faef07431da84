//! What the screens look like, cell by cell, at the sizes that count.

use insta::assert_snapshot;

use super::super::msg::{Level, Msg, Notice};
use super::super::snapshot::{FailedState, Freshness, RunResult};
use super::stage::Stage;
use crate::domain::change::Level as Held;
use crate::domain::ids::{EnvironmentId, MachineId, RingId, RolloutId};
use crate::domain::input::Verb;
use crate::domain::observed::Telemetry;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

/// The usual size, the wide one, the small one.
const USUAL: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (120, 36);
const SMALL: (u16, u16) = (40, 10);

fn rolling((width, height): (u16, u16)) -> Stage {
    Stage::rolling(width, height)
}

/// The holder works for a while.
fn moving(size: (u16, u16)) -> Stage {
    let mut stage = rolling(size);
    stage.pass_polling(724);
    stage.shown()
}

/// The first machine is done and soaks.
fn settling(size: (u16, u16)) -> Stage {
    let mut stage = moving(size);
    stage.report("ash", Outcome::Success, None);
    stage.pass_polling(65);
    stage.shown()
}

/// The holder failed to drain, which halts its ring at the first failure.
fn halted(size: (u16, u16)) -> Stage {
    let mut stage = moving(size);
    stage.report("ash", Outcome::Failed, Some("cordon_drain"));
    stage.pass_polling(190);
    stage.tick();
    stage.shown()
}

/// A17: the second tier was paused two days ago.
fn paused(size: (u16, u16)) -> Stage {
    let mut stage = moving(size);
    let pause = Verb::Pause(Held::Environment(EnvironmentId::named("pine-cp")));
    stage.verb_because(pause, Some("storage work"));
    stage.pass_polling(180_000);
    stage.shown()
}

fn results() -> Vec<RunResult> {
    let at = super::stage::start();
    vec![RunResult {
        outcome: Outcome::Failed,
        started_at: at,
        finished_at: Seconds(312).after(at),
        received_at: Seconds(314).after(at),
        changed_count: 2,
        failed_states: vec![FailedState {
            id: "cordon_drain".to_owned(),
            name: "drain the node".to_owned(),
            comment: "evicting pod web/db-0: 429 Too Many Requests\nCannot evict pod as it would violate its budget"
                .to_owned(),
        }],
        log_tail: "[INFO] cordoned ash\n[ERROR] eviction of web/db-0 refused".to_owned(),
    }]
}

#[test]
fn nothing_to_show_has_four_faces() {
    let mut stage = Stage::blank(80, 24);
    assert_snapshot!("connecting", stage.screen());
    stage.picture.api = Freshness::Refused {
        why: "the token is not known to this control plane".to_owned(),
        hint: "log in again, or set DURANTIC_API_TOKEN".to_owned(),
    };
    stage.show();
    assert_snapshot!("refused", stage.screen());
    let (since, retry_at) = (Seconds(42).before(stage.now), Some(Seconds(3).after(stage.now)));
    stage.picture.api = Freshness::Lost { since, why: "connection refused".to_owned(), retry_at };
    stage.show();
    assert_snapshot!("lost_before_anything", stage.screen());
    assert_snapshot!("empty", Stage::fleet(80, 24).screen());
}

#[test]
fn now_says_what_needs_a_human() {
    assert_snapshot!("now_calm", moving(USUAL).screen());
    assert_snapshot!("now_halted", halted(USUAL).screen());
    assert_snapshot!("now_halted_small", halted(SMALL).screen());
    assert_snapshot!("now_halted_wide", halted(WIDE).screen());
}

#[test]
fn now_tells_many_things_apart() {
    let mut stage = settling(USUAL);
    stage.verb(Verb::Pause(Held::Ring(RingId::named("pine-workers"))));
    stage.verb(Verb::Pause(Held::Machine(MachineId::named("cedar"))));
    stage.pass(300);
    stage.poll_missing("birch", "K8S_VIP");
    stage.ticked_at(Seconds(200).before(stage.now));
    std::sync::Arc::make_mut(&mut stage.picture.observed).telemetry = Telemetry::Unreadable;
    stage.show();
    assert_snapshot!("now_many", stage.screen());
}

#[test]
fn the_rollout_shows_slots_queues_and_clocks() {
    let mut stage = moving(USUAL);
    stage.press("2 j j");
    assert_snapshot!("rollout_moving", stage.screen());
    let mut stage = settling(USUAL);
    stage.press("2 j");
    assert_snapshot!("rollout_settling", stage.screen());
    let mut stage = halted(USUAL);
    stage.press("2 j j");
    assert_snapshot!("rollout_halted", stage.screen());
    let mut stage = moving(SMALL);
    stage.press("2");
    assert_snapshot!("rollout_small", stage.screen());
}

// A17
#[test]
fn paused_looks_paused() {
    let mut stage = paused(USUAL);
    stage.press("2");
    let screen = stage.screen();
    for word in ["PAUSED", "pine-cp", "op-a", "storage work", "2d 2h", "timer held"] {
        assert!(screen.contains(word), "{word} is not on the screen:\n{screen}");
    }
    assert_snapshot!("rollout_paused", screen);
    assert_snapshot!("now_paused", paused(USUAL).screen());
}

#[test]
fn an_offline_holder_counts_down_to_its_halt() {
    let mut stage = moving(USUAL);
    stage.pass(4_300);
    for name in ["birch", "cedar", "fir", "larch", "maple"] {
        stage.poll(name);
    }
    stage.show();
    assert_snapshot!("now_holder_offline", stage.screen());
}

#[test]
fn a_lost_source_fades_and_says_its_age() {
    let mut stage = moving(USUAL);
    stage.press("2");
    let since = stage.now;
    stage.now = Seconds(95).after(since);
    let retry_at = Some(Seconds(4).after(stage.now));
    stage.picture.api = Freshness::Lost { since, why: "connection reset".to_owned(), retry_at };
    stage.show();
    assert_snapshot!("rollout_lost", stage.screen());
}

#[test]
fn the_detail_of_a_machine_shows_its_failing_state() {
    let mut stage = halted(USUAL);
    let rollout = RolloutId::named("r1");
    stage.press("2 j j enter");
    stage.send(Msg::Results { rollout, machine: MachineId::named("ash"), results: Ok(results()) });
    assert_snapshot!("detail_failed", stage.screen());
    stage.press("G");
    assert_snapshot!("detail_failed_end", stage.screen());
    let mut stage = halted(WIDE);
    stage.press("2 j j");
    stage.send(Msg::Results { rollout, machine: MachineId::named("ash"), results: Ok(results()) });
    assert_snapshot!("detail_failed_wide", stage.screen());
}

#[test]
fn dialogs_name_their_target_and_what_follows() {
    let mut stage = moving(USUAL);
    stage.press("2 j j x h");
    assert_snapshot!("dialog_halt", stage.screen());
    stage.press("esc x r");
    assert_snapshot!("dialog_hold_ring", stage.screen());
    stage.press("esc a");
    assert_snapshot!("dialog_arm", stage.screen());
    stage.press("esc");
    stage.arm();
    stage.press("x m");
    assert_snapshot!("dialog_skip", stage.screen());
    let mut stage = halted(USUAL);
    stage.press("2 j j");
    stage.arm();
    stage.press("u x");
    assert_snapshot!("dialog_reset", stage.screen());
}

#[test]
fn the_log_is_in_plain_words() {
    let mut stage = halted(USUAL);
    let notice = Notice { at: stage.now, level: Level::Warning, text: "the picture was 12s late".to_owned() };
    stage.send(Msg::Notice(notice));
    stage.press("0");
    assert_snapshot!("log", stage.screen());
}

#[test]
fn layers_come_from_the_tables() {
    let mut stage = moving(USUAL);
    stage.press("?");
    assert_snapshot!("help", stage.screen());
    stage.press("esc 2 x");
    assert_snapshot!("pending", stage.screen());
    stage.press("esc :");
    stage.type_text("pa");
    assert_snapshot!("palette", stage.screen());
    stage.press("esc /");
    stage.type_text("state=queued !cedar held>soon");
    assert_snapshot!("filter", stage.screen());
}

#[test]
fn ascii_says_the_same() {
    let mut stage = halted(USUAL);
    stage.model.setup.ascii = true;
    stage.press("2 j j");
    let screen = stage.screen();
    assert!(screen.is_ascii());
    assert_snapshot!("rollout_ascii", screen);
}

#[test]
fn too_small_still_says_the_sentence() {
    assert_snapshot!("tiny", halted((20, 5)).screen());
    assert_snapshot!("tiny_calm", moving((30, 6)).screen());
}
