//! Releases and history: what is on them, how they are narrowed, and a start from there, protected.

use insta::assert_snapshot;

use super::super::effect::Effect;
use super::super::model::{Screen, Subject};
use super::super::msg::Msg;
use super::super::past::PAST_WAIT;
use super::super::saying::say;
use super::super::shelf::{Item, face};
use super::stage::Stage;
use crate::domain::change::{Entry, Level};
use crate::domain::ids::{ReleaseId, RingId, RolloutId, SecretVersion};
use crate::domain::input::{Intent, Order, Verb};
use crate::domain::release::Outcome;

/// Two releases, one of them yanked while it ran.
fn yanked(width: u16, height: u16) -> Stage {
    let mut stage = Stage::rolling(width, height);
    stage.release("v1.31.3");
    stage.report("ash", Outcome::Success, None);
    stage.verb_because(Verb::Yank { release: ReleaseId::named("v1.31.2") }, Some("the CNI loses packets"));
    stage.pass_polling(60);
    stage.shown()
}

/// A rollout that another one displaced.
fn displaced(width: u16, height: u16) -> Stage {
    let mut stage = Stage::rolling(width, height);
    stage.release("hotfix-7");
    stage.pass_polling(300);
    stage.verb_because(
        Verb::Start {
            id: RolloutId::named("r2"),
            release: ReleaseId::named("hotfix-7"),
            protected: Some(false),
            force: true,
            intent: Some(Intent::Start),
        },
        Some("job 88213"),
    );
    stage.pass_polling(60);
    stage.shown()
}

/// What is said about the selected item.
fn said(stage: &Stage) -> String {
    say(&stage.picture, &stage.model.facts, stage.model.shown(), stage.now).sentence
}

#[test]
fn releases_say_what_was_yanked_why_and_who_is_still_on_it() {
    // R102, R116
    let mut stage = yanked(80, 24);
    stage.press("6 G");
    assert_snapshot!("releases_yanked", stage.screen());
    assert!(stage.screen().contains("the CNI loses packets") && stage.screen().contains("on it: ash"));
    stage.press("a");
    stage.type_text("CHG-1");
    stage.press("enter u s");
    assert!(stage.screen().contains("refused") && stage.model.layers.is_empty(), "{}", stage.screen());
}

#[test]
fn a_release_is_started_protected_after_its_rehearsal_and_by_its_name() {
    // R103, R167
    let mut stage = yanked(80, 24);
    stage.press("6 g");
    assert_eq!(stage.model.shown(), Subject::Item(Item::Release(ReleaseId::named("v1.31.3"))));
    stage.press("u s");
    assert!(stage.model.layers.is_empty() && stage.screen().contains("not armed"), "{}", stage.screen());
    stage.press("a");
    stage.type_text("CHG-4471");
    stage.press("enter u s");
    assert_snapshot!("dialog_start", stage.screen());
    assert!(stage.press("enter").is_empty(), "the name is typed first");
    stage.type_text("v1.31.3");
    let effects = stage.press("enter tab enter");
    let [Effect::SendOrder(sealed)] = &effects[..] else { panic!("{effects:?}") };
    let Verb::Start { id, release, protected, force, .. } = sealed.order().verb.clone() else { panic!("no start") };
    assert_eq!((release, protected, force), (ReleaseId::named("v1.31.3"), Some(true), false));
    assert_ne!(id.0, uuid::Uuid::nil(), "a rollout has an identity of its own");
}

#[test]
fn nothing_is_started_over_a_protected_rollout() {
    // R91, R103
    let mut stage = Stage::rolling(80, 24);
    stage.release("v1.31.3");
    stage.show();
    stage.press("a");
    stage.type_text("CHG-4471");
    stage.press("enter 6 G u s");
    assert!(stage.model.layers.is_empty(), "{}", stage.screen());
    assert!(stage.screen().contains("refused") && stage.screen().contains("protected"), "{}", stage.screen());
}

#[test]
fn history_says_what_displaced_what_and_who_did_what_why() {
    // R92
    let mut stage = displaced(120, 36);
    stage.press("7 j");
    assert_snapshot!("history_displaced", stage.screen());
    assert_eq!(
        said(&stage),
        "v1.31.2 was started, protected, by op-a; displaced by hotfix-7 of op-a; it lasted 5m 30s"
    );
    stage.press("k");
    assert!(said(&stage).contains("not protected, by op-a; displaced v1.31.2 of op-a"), "{}", said(&stage));
    stage.press("j j");
    assert!(said(&stage).contains("(job 88213)"), "{}", said(&stage));
}

#[test]
fn a_shelf_is_narrowed_by_words_opened_and_left() {
    let mut stage = displaced(80, 24);
    stage.press("7 /");
    stage.type_text("displaced V1.31.2");
    assert!(stage.model.history.rows.iter().all(|item| matches!(item, Item::Rollout(_))));
    assert_eq!(stage.model.history.rows.len(), 2);
    stage.press("enter g enter");
    assert_eq!(stage.model.layers.len(), 1, "a row opens in full");
    stage.press("esc esc");
    assert!(stage.model.history.filter.is_empty() && stage.model.screen == Screen::History);
    stage.press("/");
    stage.type_text("nobody did this");
    assert!(stage.screen().contains("nothing passes the filter"));
    stage.press("esc esc");
    assert_eq!(stage.model.screen, Screen::Now);
}

#[test]
fn shelves_are_there_before_anything_was_started() {
    let mut stage = Stage::fleet(80, 24);
    stage.press("6");
    assert!(stage.screen().contains("v1.31.2") && stage.screen().contains("ready"), "{}", stage.screen());
    let mut empty = Stage::blank(80, 24);
    empty.environment("pine-cp", 10);
    empty.show();
    empty.press("6");
    assert!(empty.screen().contains("no release was built yet"), "{}", empty.screen());
    empty.press("7");
    assert!(empty.screen().contains("environment"), "{}", empty.screen());
}

/// A fleet in which several people asked for several things, some of which were refused.
fn audited(width: u16, height: u16) -> Stage {
    let mut stage = Stage::rolling(width, height);
    stage.release("hotfix-7");
    let order = |by: &str, verb, reason: &str| {
        let reason = (!reason.is_empty()).then(|| reason.to_owned());
        Order { verb, by: by.to_owned(), reason, key: Some(format!("{by}-1")) }
    };
    stage.pass_polling(120);
    stage.order(order("mia", Verb::Pause(Level::Ring(RingId::named("pine-cp"))), "storage work"));
    stage.pass(30);
    let start = Verb::Start {
        id: RolloutId::named("r2"),
        release: ReleaseId::named("hotfix-7"),
        protected: Some(true),
        force: false,
        intent: Some(Intent::Start),
    };
    stage.order(order("job-88213", start, "pipeline"));
    stage.pass(30);
    stage.order(order("mia", Verb::Halt { rollout: RolloutId::named("r1") }, ""));
    stage.shown()
}

#[test]
fn history_has_every_verb_once_whether_it_was_done_or_refused() {
    for (width, height, name) in [(80, 24, "history_audit_80x24"), (120, 36, "history_audit_120x36")] {
        let mut stage = audited(width, height);
        stage.press("7 j");
        assert_snapshot!(name, stage.screen());
    }
    let stage = audited(80, 24);
    let verbs = stage.picture.tail.iter().filter(|entry| entry.is_audit()).count();
    let rows = stage.model.history.rows.iter().filter(|item| matches!(item, Item::Deed(_))).count();
    assert_eq!(rows, verbs, "a halt is one row, whatever it ended");
}

#[test]
fn a_verb_in_full_shows_its_plan_its_changes_and_its_place_in_the_chain() {
    for (width, height, name) in [(80, 24, "history_deed_80x24"), (120, 36, "history_deed_120x36")] {
        let mut stage = audited(width, height);
        stage.press("7 j enter");
        assert_snapshot!(name, stage.screen());
    }
    let mut stage = audited(120, 50);
    stage.press("7 j j enter");
    let screen = stage.screen();
    for part in ["refused (protected)", "pipeline", "job-88213-1", "hangs on"] {
        assert!(screen.contains(part), "{part} is missing:\n{screen}");
    }
}

#[test]
fn the_history_is_filtered_by_who_what_and_outcome() {
    let narrowed = |words: &str| {
        let mut stage = audited(80, 24);
        stage.press("7 /");
        stage.type_text(words);
        let shown = stage.model.history.rows.iter().filter_map(|item| face(&stage.picture, *item));
        shown.map(|face| (face.who, face.what)).collect::<Vec<_>>()
    };
    let row = |who: &str, what: &str| (who.to_owned(), what.to_owned());
    assert_eq!(narrowed("who=mia"), [row("mia", "halt"), row("mia", "pause-ring")]);
    assert_eq!(narrowed("state=refused"), [row("job-88213", "start")]);
    assert_eq!(narrowed("what=start who=op"), [row("op-a", "start")]);
    assert_eq!(narrowed("who=mia !what=halt"), [row("mia", "pause-ring")]);
    assert_eq!(narrowed("storage"), [row("mia", "pause-ring")]);
}

/// A journal from before there was an audit.
#[test]
fn deeds_without_a_link_are_told_by_the_change_that_tells_them_best() {
    let mut stage = audited(80, 24);
    stage.picture.tail.retain(|entry| !entry.is_audit());
    stage.show();
    stage.press("7 /");
    stage.type_text("who=mia what=halt");
    assert_eq!(stage.model.history.rows.len(), 1);
    assert!(stage.screen().contains("halted"), "{}", stage.screen());
}

/// A console that has seen the last `kept` changes of a story only, and every link of its audit.
fn latecomer(kept: usize) -> (Stage, Vec<Entry>) {
    let story = Stage::rolling(80, 24);
    let tail = story.picture.tail.clone();
    let links = tail.iter().filter(|entry| entry.is_audit()).map(|entry| entry.as_ref().clone()).collect();
    let mut stage = Stage::blank(80, 24);
    (stage.now, stage.picture) = (story.now, story.picture);
    stage.picture.tail = tail.clone().split_off(tail.len() - kept);
    (stage.shown(), links)
}

fn asked(effects: &[Effect]) -> Option<u64> {
    let before = |effect: &Effect| if let Effect::LoadPast { before } = effect { Some(*before) } else { None };
    effects.iter().find_map(before)
}

#[test]
fn what_people_did_long_ago_is_read_from_the_audit_as_somebody_looks_back() {
    let (mut stage, links) = latecomer(4);
    let deeds = |stage: &Stage| stage.model.history.rows.iter().filter(|item| matches!(item, Item::Deed(_))).count();
    let before = asked(&stage.press("7")).expect("the end of the list is in sight");
    assert_eq!(before, stage.picture.tail[0].revision);
    assert_eq!(asked(&stage.press("j G")), None, "one question at a time");
    let older: Vec<Entry> = links.into_iter().filter(|link| link.revision < before).collect();
    let known = deeds(&stage);

    let failed = stage.send(Msg::Past { before, links: Err("the disk is full".to_owned()) });
    assert!(asked(&failed).is_none() && stage.screen().contains("the disk is full"), "{}", stage.screen());
    stage.pass(PAST_WAIT.0);
    stage.show();
    stage.send(Msg::Past { before: 1, links: Ok(older.clone()) });
    assert_eq!(deeds(&stage), known, "an answer to another question");
    let next = asked(&stage.send(Msg::Past { before, links: Ok(older[2..].to_vec()) }));
    assert_eq!(next, Some(older[2].revision), "the end is still in sight");
    let end = asked(&stage.send(Msg::Past { before: older[2].revision, links: Ok(older[..2].to_vec()) }));
    assert_eq!(deeds(&stage), known + older.len());
    stage.press("G");
    assert!(stage.screen().contains("create-environment pine-cp"), "{}", stage.screen());
    stage.press("enter");
    assert!(stage.screen().contains("nothing: it is the first"), "{}", stage.screen());
    assert_eq!(asked(&stage.send(Msg::Past { before: end.unwrap_or(1), links: Ok(Vec::new()) })), None);
    assert_eq!(asked(&stage.press("esc k j")), None, "all of it is there");
}

#[test]
fn a_deed_stays_in_the_history_when_its_change_is_not_at_hand_any_more() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("7");
    let rows = stage.model.history.rows.clone();
    stage.picture.tail = stage.picture.tail.split_off(stage.picture.tail.len() - 4);
    stage.pass(1);
    stage.ring("oak", 1);
    stage.show();
    let kept = stage.model.history.rows.iter().filter(|item| rows.contains(item)).count();
    assert_eq!((kept, stage.model.history.rows.len()), (rows.len(), rows.len() + 1));
    stage.ring("elm", 1);
    stage.picture.tail.clear();
    stage.ring("yew", 1);
    stage.show();
    assert_eq!(stage.model.history.rows.len(), 2, "after a gap it begins anew: the rollout, and the last deed");
}

// R164, R167
#[test]
fn the_names_of_secrets_are_known_and_the_token_is_looked_for_among_them() {
    let mut stage = Stage::fleet(120, 36);
    stage.press("6");
    let said =
        |stage: &Stage| stage.screen().split(['│', '\n', ' ']).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
    assert!(said(&stage).contains("there is no secret K8S_DRAIN_TOKEN"), "{}", stage.screen());
    stage
        .verb(Verb::SetSecret { name: "K8S_DRAIN_TOKEN".to_owned(), version: SecretVersion(uuid::Uuid::from_u128(7)) });
    stage.show();
    assert!(!said(&stage).contains("drain-token"), "{}", stage.screen());
    stage.press("enter G");
    assert!(said(&stage).contains("K8S_DRAIN_TOKEN exists"), "{}", stage.screen());
    let mut glimpsed = Stage::fleet(120, 36);
    glimpsed.picture.glimpse = Some(std::sync::Arc::default());
    glimpsed.show();
    glimpsed.press("6");
    assert!(said(&glimpsed).contains("the secrets cannot be listed from here"), "{}", glimpsed.screen());
}
