//! The fallback on screen: where the console stands, what a first tick would do, and who may take the seat.

use std::sync::Arc;

use super::super::effect::Effect;
use super::super::msg::Msg;
use super::super::snapshot::{Access, Freshness};
use super::stage::{Stage, start};
use crate::domain::fallback::{AgentRoutes, Fallback, Rung, SeatSeen, Silence};
use crate::domain::span::Seconds;

const OVER: &str = "postgres://kura@db/kura";

fn seen(is_free: bool) -> SeatSeen {
    let (holder, quiet_since) = (Some("serve@bastion-1".to_owned()), Some(start()));
    SeatSeen { holder, epoch: 1, quiet_since, is_free, ..SeatSeen::default() }
}

/// A rollout whose holder drains, on a console that stands there.
fn on(rung: Rung, trouble: Option<&str>) -> Stage {
    let mut stage = Stage::rolling(80, 24);
    stage.pass(30);
    let is_lost = rung != Rung::Attached;
    let silence = Silence { since: start(), why: "connection refused".to_owned(), retry_at: None };
    stage.picture.fallback = Some(Arc::new(Fallback {
        over: Some(OVER.to_owned()),
        trouble: trouble.map(str::to_owned),
        agents: AgentRoutes::Nowhere,
        rung,
        silence: is_lost.then_some(silence),
        auto_at: None,
        is_looked_at: true,
    }));
    stage.show();
    stage
}

fn says(stage: &Stage, text: &str) {
    let screen = stage.screen();
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(text), "{text:?} is not on the screen:\n{screen}");
}

#[test]
fn the_header_says_on_every_rung_where_the_console_stands() {
    let cases = [
        (Rung::Attached, None, "fallback ready"),
        (Rung::Attached, Some("no journal was named"), "no fallback"),
        (Rung::StandingBy(seen(true)), None, "STANDING BY"),
        (Rung::Waiting(seen(false)), None, "WAITS FOR THE SEAT"),
        (Rung::Seated(7), None, "SEAT IS HERE, epoch 7"),
        (Rung::HandingBack(7), None, "handing the seat back"),
    ];
    for (rung, trouble, words) in cases {
        let is_lost = rung.is_embedded();
        let mut stage = on(rung, trouble);
        stage.press("2");
        says(&stage, words);
        assert_eq!(stage.screen().contains("api lost 1m"), is_lost, "{}", stage.screen());
    }
}

#[test]
fn whoever_knows_that_the_seat_is_free_names_nobody_in_it() {
    let mut stage = on(Rung::StandingBy(seen(true)), None);
    stage.picture.seat.holder = Some("serve@bastion-1".to_owned());
    stage.show();
    stage.press("2");
    says(&stage, "· seat free ▲");
    assert!(!stage.screen().contains("seat serve"), "{}", stage.screen());
    for rung in [Rung::StandingBy(seen(false)), Rung::Attached] {
        let mut stage = on(rung, None);
        stage.picture.seat.holder = Some("serve@bastion-1".to_owned());
        stage.show();
        stage.press("2");
        says(&stage, "seat serve@bastion-1");
    }
}

#[test]
fn agents_that_cannot_be_served_are_told_of_with_the_reason() {
    let mut stage = on(Rung::StandingBy(seen(true)), None);
    let mut fallback = (**stage.picture.fallback.as_ref().unwrap()).clone();
    fallback.agents = AgentRoutes::Refused("127.0.0.1:7778 is taken by another process".to_owned());
    stage.picture.fallback = Some(Arc::new(fallback));
    stage.show();
    stage.press("F");
    says(&stage, "no agent endpoint: 127.0.0.1:7778 is taken by another process");
    says(&stage, "nothing promotes: 127.0.0.1:7778 is taken by another process");
}

#[test]
fn what_needed_a_human_when_last_seen_is_not_that_the_control_plane_is_gone_since() {
    let lost = |stage: &mut Stage| {
        stage.picture.api = Freshness::Lost { since: stage.now, why: "connection refused".to_owned(), retry_at: None };
        stage.show();
    };
    let mut stage = on(Rung::Lost, Some("no journal was named"));
    lost(&mut stage);
    says(&stage, "▲ 1 needs you");
    let mut stage = on(Rung::Lost, Some("no journal was named"));
    stage.pass(7_200);
    stage.tick();
    lost(&mut stage);
    assert!(stage.model.facts.needs.len() > 1, "a holder that drains for so long needs somebody");
    says(&stage, &format!("▲ {} needed you when last seen", stage.model.facts.needs.len() - 1));
}

#[test]
fn what_needs_a_human_first_is_that_the_control_plane_is_gone() {
    let mut stage = on(Rung::StandingBy(seen(true)), None);
    stage.press("1 g");
    says(&stage, "API LOST control plane standing by");
    says(&stage, "F shows what the first tick would do, and how to take the seat");
    stage.press("enter");
    says(&stage, "IF IT TOOK THE SEAT NOW");
}

#[test]
fn the_page_tells_the_seat_the_journal_and_the_first_tick() {
    let mut stage = on(Rung::StandingBy(seen(true)), None);
    stage.press("F");
    for words in [
        "standing by: the journal is read from here",
        OVER,
        "silent for 1m: connection refused",
        "the seat is free; serve@bastion-1 had it, epoch 1, and is silent for 1m",
        "no agent endpoint: no stall timer ages, nothing promotes",
        "its first tick would change nothing",
        "a arms verbs; then F asks whether to take the seat",
    ] {
        says(&stage, words);
    }
    let mut stage = on(Rung::Attached, Some("no journal was named: --journal URL, as serve names it"));
    stage.press("F");
    says(&stage, "could not carry on: no journal was named");
    assert!(!stage.screen().contains("IF IT TOOK"), "{}", stage.screen());
}

#[test]
fn the_seat_is_taken_by_somebody_who_armed_typed_and_confirmed_and_is_left_with_one_key() {
    let mut stage = on(Rung::StandingBy(seen(true)), None);
    stage.press("F F");
    says(&stage, "verbs are not armed: press a first");
    stage.press("esc");
    stage.arm();
    stage.press("F F");
    says(&stage, "Take the seat of account acme?");
    assert_eq!(stage.press("enter"), [], "the name is missing");
    stage.type_text("acme");
    let effects = stage.press("enter tab enter");
    let [Effect::Seat(sealed)] = &effects[..] else { panic!("{effects:?}") };
    let (takes, signature) = sealed.clone().open();
    assert!(takes && signature.by == "op-a" && signature.reason.is_some(), "{signature:?}");

    let mut stage = on(Rung::Seated(2), None);
    stage.press("F F");
    says(&stage, "Leave the seat of account acme?");
    says(&stage, "nobody ticks");
    assert_eq!(stage.press("enter"), []);
    stage.press("F");
    let effects = stage.press("y");
    let [Effect::Seat(sealed)] = &effects[..] else { panic!("{effects:?}\n{}", stage.screen()) };
    assert!(!sealed.clone().open().0);
}

#[test]
fn nobody_takes_the_seat_of_a_control_plane_that_answers_or_on_what_is_not_known() {
    let refusals: [(Stage, &str); 4] = [
        (on(Rung::Attached, None), "the control plane answers: the seat stays with it"),
        (on(Rung::Lost, Some("it does not answer within 20 s")), "cannot carry on: it does not answer within 20 s"),
        (on(Rung::HandingBack(3), None), "the control plane is back"),
        (
            {
                let mut stage = on(Rung::StandingBy(seen(true)), None);
                stage.picture.access = Access::Viewer;
                stage.show();
                stage
            },
            "it can look, not act",
        ),
    ];
    for (mut stage, why) in refusals {
        if stage.picture.access != Access::Viewer {
            stage.arm();
        }
        stage.press("F F");
        assert!(!stage.screen().contains("Take the seat of account"), "{}", stage.screen());
        says(&stage, why);
    }
}

#[test]
fn a_journal_that_is_lost_as_well_leaves_the_picture_and_takes_nothing() {
    let mut stage = on(Rung::StandingBy(seen(true)), None);
    stage.arm();
    let since = stage.now;
    stage.pass(40);
    stage.picture.api = Freshness::Lost { since, why: "the journal does not answer".to_owned(), retry_at: None };
    stage.send(super::super::msg::Msg::Clock(stage.now));
    stage.send(super::super::msg::Msg::Picture(Box::new(stage.picture.clone())));
    stage.press("F");
    says(&stage, &format!("rehearsed on a picture that is {} old", Seconds(40)));
    stage.press("F");
    says(&stage, "what you see is 40s old: only stopping verbs work now");
}

#[test]
fn before_it_was_looked_at_the_header_promises_no_fallback() {
    let mut stage = on(Rung::Attached, None);
    let fallback = stage.picture.fallback.as_deref().cloned().unwrap();
    stage.picture.fallback = Some(Arc::new(Fallback { is_looked_at: false, ..fallback }));
    stage.show();
    says(&stage, "no fallback");
    assert!(!stage.screen().contains("fallback ready"), "{}", stage.screen());
    stage.press("F");
    says(&stage, "whether this console could carry on is being looked at");
    stage.press("esc");
    stage.send(Msg::Resize { width: 120, height: 36 });
    says(&stage, "no fallback yet");
}

#[test]
fn where_there_is_room_the_header_says_over_what_it_could_be_carried_on() {
    let mut stage = on(Rung::Attached, None);
    assert!(!stage.screen().contains("postgres"), "{}", stage.screen());
    stage.send(Msg::Resize { width: 120, height: 36 });
    says(&stage, "fallback ready: postgres");
}
