//! Time and the frame: what ticks, what stands still, what an idle screen costs.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::super::msg::Msg;
use super::super::snapshot::Freshness;
use super::super::theme::{Depth, Theme};
use super::super::view::view;
use super::stage::{Stage, text};
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::{RingPatch, Verb};
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

/// Lets every second of a span pass on the screen alone and collects when it changed.
fn changes(stage: &mut Stage, seconds: u64) -> Vec<u64> {
    let began = stage.now;
    let mut before = stage.screen();
    let mut changed = Vec::new();
    for second in 1..=seconds {
        stage.now = Seconds(second).after(began);
        stage.send(Msg::Clock(stage.now));
        let after = stage.screen();
        if after != before {
            changed.push(second);
        }
        before = after;
    }
    changed
}

/// What the loop would do: sleep until the moment the view names, then draw. It must not miss a change.
fn wakes(stage: &mut Stage, seconds: u64) -> Vec<u64> {
    let began = stage.now;
    let end = Seconds(seconds).after(began);
    let mut changed = Vec::new();
    let mut before = stage.screen();
    while let (_, Some(wake)) = stage.draw() {
        assert!(wake > stage.now, "it wakes in the past");
        if wake > end {
            break;
        }
        stage.now = wake;
        stage.send(Msg::Clock(wake));
        let after = stage.screen();
        if after != before {
            changed.push(Seconds::between(began, wake).0);
        }
        before = after;
    }
    changed
}

fn stories() -> Vec<(&'static str, Stage)> {
    let mut settling = Stage::rolling(80, 24);
    settling.pass_polling(100);
    settling.report("ash", Outcome::Success, None);
    settling.press("2");
    let mut lost = Stage::rolling(80, 24);
    let retry_at = Some(Seconds(9).after(lost.now));
    lost.picture.api = Freshness::Lost { since: lost.now, why: "reset".to_owned(), retry_at };
    let mut armed = Stage::rolling(80, 24);
    armed.arm();
    let mut old = Stage::rolling(80, 24);
    old.pass_polling(7_200);
    vec![
        ("moving", Stage::rolling(80, 24)),
        ("settling", settling.shown()),
        ("lost", lost.shown()),
        ("armed", armed.shown()),
        ("old", old.shown()),
        ("empty", Stage::fleet(80, 24)),
        ("blank", Stage::blank(80, 24)),
        ("wide", {
            let mut stage = Stage::rolling(120, 36);
            stage.press("2 j j");
            stage
        }),
    ]
}

#[test]
fn the_view_names_every_moment_at_which_it_changes() {
    for (name, mut stage) in stories() {
        let mut other = stage.clone();
        assert_eq!(wakes(&mut stage, 400), changes(&mut other, 400), "{name}");
    }
}

#[test]
fn an_idle_screen_writes_nothing() {
    let mut stage = Stage::fleet(80, 24);
    for seconds in 1..=29 {
        let before = stage.draw().0;
        stage.now = Seconds(seconds).after(super::stage::start());
        stage.send(Msg::Clock(stage.now));
        assert!(before.diff(&stage.draw().0).is_empty(), "after {seconds} s");
    }
    assert_eq!(stage.draw().1, Some(Seconds(31).after(super::stage::start())), "then its age is shown");
}

#[test]
fn a_live_source_shows_no_age_and_a_late_one_does() {
    let mut stage = Stage::rolling(80, 24);
    let at = stage.now;
    for (age, shown) in [(30, "● live"), (31, "▲ stale 31s"), (90, "▲ stale 1m 30s")] {
        stage.now = Seconds(age).after(at);
        stage.send(Msg::Clock(stage.now));
        assert!(stage.screen().contains(shown), "{age}: {}", stage.screen());
    }
}

/// While nothing arrives nobody turns offline and no timer runs: what is not known cannot age.
#[test]
fn a_lost_picture_stands_still() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2");
    stage.picture.api = Freshness::Lost { since: stage.now, why: "reset".to_owned(), retry_at: None };
    stage.show();
    let body = |stage: &Stage| stage.screen().lines().skip(2).collect::<Vec<_>>().join("\n");
    let before = body(&stage);
    stage.now = Seconds(4_000).after(stage.now);
    stage.show();
    assert_eq!(body(&stage), before);
    assert!(stage.screen().contains("lost 1h 6m"));
}

#[test]
fn ages_are_counted_in_whole_seconds_that_tick_together() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2");
    let base = stage.now;
    let at = |millis: i64| base + jiff::SignedDuration::from_millis(millis);
    let screens: Vec<String> = [0, 400, 999].map(|ms| text(&stage.draw_at(80, 24, at(ms)).0)).into();
    assert!(screens.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(stage.draw_at(80, 24, at(400)).1, Some(at(1_000)));
}

// R54
#[test]
fn a_paused_ring_shows_no_countdown() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2");
    assert!(stage.screen().contains("halts in"));
    stage.verb(Verb::Pause(crate::domain::change::Level::Ring(RingId::named("pine-cp"))));
    stage.show();
    let row = stage.screen().lines().find(|l| l.contains("ash ")).map(str::to_owned).unwrap();
    assert!(row.contains("timer held") && !row.contains("halts in"), "{row}");
}

// R54
#[test]
fn a_holder_that_nobody_can_hear_is_not_late_and_nothing_counts_down() {
    let mut stage = Stage::rolling(80, 24);
    stage.pass_polling(5_000);
    stage.show();
    stage.press("1");
    assert!(stage.screen().contains("LATE"), "{}", stage.screen());
    stage.take_seat("console@bastion-2", false);
    stage.pass(60);
    stage.show();
    let screen = stage.screen();
    assert!(screen.contains("NO AGENTS") && screen.contains("console@bastion-2"), "{screen}");
    assert!(!screen.contains("LATE") && !screen.contains("halts in"), "{screen}");
    stage.press("2");
    let row = stage.screen().lines().find(|l| l.contains("ash ")).map(str::to_owned).unwrap();
    assert!(row.contains("no agent endpoint") && !row.contains("halts in"), "{row}");
    stage.take_seat("serve@bastion-1", true);
    stage.show();
    stage.press("1");
    assert!(!stage.screen().contains("NO AGENTS"), "{}", stage.screen());
}

#[test]
fn the_selection_can_be_seen_without_colours() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2 j j");
    for name in Theme::names() {
        let theme = Theme::shipped(name, Depth::Mono).unwrap();
        let area = Rect::new(0, 0, 80, 24);
        let mut buffer = Buffer::empty(area);
        view(&stage.model, &theme, stage.now, area, &mut buffer);
        let marked = |y: u16| {
            let cell = buffer.cell((20, y)).unwrap();
            cell.modifier.intersects(Modifier::REVERSED | Modifier::UNDERLINED | Modifier::BOLD)
        };
        let row = (0..24).find(|y| buffer.cell((0, *y)).unwrap().symbol() == "❯").unwrap();
        assert!(marked(row) && !marked(row + 1), "{name}");
    }
}

/// Ten thousand machines in one ring at 120x36: what is drawn costs what is visible.
#[test]
fn a_large_ring_is_drawn_fast_and_shows_its_holder() {
    let mut stage = large(10_000);
    stage.press("2");
    let screen = stage.screen();
    assert!(screen.contains("9999 queued"), "{screen}");
    let drawn = stage.model.lines.len();
    assert!(drawn >= 10_000, "{drawn}");
    stage.press("G");
    assert!(stage.model.tree_pick.index().is_some_and(|at| at + 1 == drawn));
}

/// A ring with that many machines, one of which holds its slot.
pub(super) fn large(machines: usize) -> Stage {
    let mut stage = Stage::blank(120, 36);
    stage.environment("big", 1);
    stage.verb(Verb::CreateRing {
        id: RingId::named("big"),
        slug: "big".to_owned(),
        settings: RingPatch { max_in_flight: Some(1), ..RingPatch::default() },
    });
    for n in 0..machines {
        let name = format!("node-{n:05}");
        stage.verb(Verb::AddMachine {
            id: MachineId::named(&name),
            hostname: name,
            node: None,
            environment: Some(EnvironmentId::named("big")),
            ring: Some(RingId::named("big")),
            bucket: None,
        });
    }
    stage.release("v2");
    stage.start_rollout("v2");
    stage.pass(1);
    let world = stage.picture.world.clone();
    let rollout = world.current().unwrap();
    let view = crate::domain::rows::LaneView::of(&world, rollout, *world.lanes().iter().next().unwrap().0, stage.now);
    let head = view.and_then(|v| v.queue().next()).map(|id| world.hostname(id).to_owned()).unwrap();
    stage.poll(&head);
    stage.shown()
}
