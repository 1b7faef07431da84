//! What joins and comes back, ladders, and the tags that are followed.

use super::super::msg::Msg;
use super::super::snapshot::Access;
use super::stage::Stage;
use super::verbs::{SIZES, at_ash, orders, pictures, pine_cp, says, verbs};
use crate::domain::fleet::Rung;
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::{RingPatch, Verb};

fn place(name: &str) -> (EnvironmentId, RingId) {
    (EnvironmentId::named(name), RingId::named(name))
}

#[test]
fn a_machine_is_added_by_its_name_and_place_with_its_plan() {
    let story = |size: (u16, u16)| {
        let mut stage = at_ash(size);
        stage.press("s i");
        stage.type_text("dogwood pine-workers/pine-workers");
        stage
    };
    pictures("dialog_add", story);
    let mut stage = story(SIZES[0]);
    let sent = orders(stage.press("enter enter"));
    let (tier, in_ring) = place("pine-workers");
    let Verb::AddMachine { id, hostname, node: None, environment, ring, bucket: None } = sent[0].order().verb.clone()
    else {
        panic!("no newcomer")
    };
    assert_eq!((hostname.as_str(), environment, ring), ("dogwood", Some(tier), Some(in_ring)));
    assert_ne!(id.0, uuid::Uuid::nil(), "it gets its identity as it is confirmed");
    assert_eq!(sent[0].planned_at(), Some(stage.picture.world.revision));
    stage.order(sent[0].order().clone());
    assert!(stage.picture.world.machines.contains_key(&id));
}

#[test]
fn a_name_that_is_taken_and_a_place_that_is_not_there_are_told_before_anything_is_sent() {
    for (typed, why) in [
        ("ash pine-cp/pine-cp", "it cannot be confirmed"),
        ("dogwood pine-cp", "type ENVIRONMENT/RING, such as pine-cp/pine-cp"),
        ("dogwood nowhere/pine-cp", "type ENVIRONMENT/RING, such as pine-cp/pine-cp"),
        ("", "type its host name and then its place, such as"),
    ] {
        let mut stage = at_ash(SIZES[0]);
        stage.press("s i");
        stage.type_text(typed);
        assert!(verbs(stage.press("enter enter")).is_empty(), "{typed}");
        says(&stage, why);
    }
}

#[test]
fn a_machine_without_a_place_is_added_and_told_to_be_out_of_scope() {
    let mut stage = at_ash(SIZES[0]);
    stage.press("s i");
    stage.type_text("dogwood");
    says(&stage, "it is out of scope until it has an environment and a ring");
    let sent = verbs(stage.press("enter enter"));
    assert!(matches!(&sent[0], Verb::AddMachine { environment: None, ring: None, .. }), "{sent:?}");
}

/// Where it stands in the queue is decided by an identity it does not have yet, so no number is promised.
#[test]
fn no_place_in_the_queue_is_promised_to_a_newcomer() {
    let mut stage = at_ash(SIZES[0]);
    stage.press("s i");
    stage.type_text("dogwood pine-cp/pine-cp");
    says(&stage, "it joins the 2 machines in the queue of pine-cp, at a place that its");
    assert!(!stage.screen().contains("number"), "{}", stage.screen());
}

// R70
#[test]
fn a_ladder_is_typed_in_steps_and_its_plan_says_who_is_elected_now_and_later() {
    let story = |size: (u16, u16)| {
        let mut stage = at_ash(size);
        stage.press("s l");
        stage.type_text("0:50,30m:80");
        stage
    };
    pictures("dialog_ladder", story);
    let mut stage = story(SIZES[0]);
    let sent = orders(stage.press("enter enter"));
    let rungs = [(0, 50), (1800, 80)].map(|(after_seconds, pct)| Rung { after_seconds, pct });
    let patch = RingPatch { wave_ladder: Some(rungs.to_vec()), ..RingPatch::default() };
    assert_eq!(sent[0].order().verb, pine_cp(patch));
    for (typed, why) in [
        ("0:50,10m:20", "it cannot be confirmed"),
        ("10m:50,0:100", "it cannot be confirmed"),
        ("all", "type steps like 0:20,30m:60,1h:100"),
        ("0:100", "it is 0:100 already"),
    ] {
        let mut stage = at_ash(SIZES[0]);
        stage.press("s l");
        stage.type_text(typed);
        assert!(verbs(stage.press("enter enter")).is_empty(), "{typed}");
        says(&stage, why);
    }
}

/// In a ring without a cap a step of the ladder is a wave: it takes the name.
#[test]
fn a_ladder_that_starts_several_at_once_takes_the_name() {
    let mut stage = Stage::fleet(80, 24);
    stage.verb(pine_cp(RingPatch {
        max_in_flight: Some(0),
        wave_ladder: Some(vec![Rung { after_seconds: 0, pct: 1 }]),
        ..RingPatch::default()
    }));
    stage.start_rollout("v1.31.2");
    stage.pass(30);
    stage.poll_all();
    stage.show();
    stage.press("2 j j");
    stage.arm();
    stage.press("s l");
    stage.type_text("0:100");
    says(&stage, "type pine-cp:");
    assert!(verbs(stage.press("enter tab tab enter")).is_empty());
}

// R119
#[test]
fn the_tags_that_are_followed_are_an_owners() {
    let mut stage = at_ash(SIZES[0]);
    stage.press("s p");
    says(&stage, "only an owner sets which tags are followed");
    let owner = |size| {
        let mut stage = at_ash(size);
        stage.picture.access = Access::Owner;
        stage.now = crate::domain::span::Seconds(1).after(stage.now);
        stage.picture.api = super::super::snapshot::Freshness::Live(stage.now);
        stage.show();
        stage.press("s p");
        stage
    };
    let mut stage = owner(SIZES[0]);
    stage.type_text("v1.31.*");
    says(&stage, "tags that match v1.31.* are followed where tags are tracked");
    let sent = verbs(stage.press("enter enter"));
    assert_eq!(sent, [Verb::ConfigureAccount { config_tag_pattern: Some(Some("v1.31.*".to_owned())) }]);
    let mut stage = owner(SIZES[0]);
    stage.type_text("none");
    assert!(verbs(stage.press("enter enter")).is_empty());
    says(&stage, "it is none already");
    stage.send(Msg::Paste("v9".to_owned()));
    says(&stage, "the value has to be typed, not pasted");
    pictures("dialog_tags", |size| {
        let mut stage = owner(size);
        stage.type_text("v1.31.*");
        stage
    });
}

// R12
#[test]
fn an_unassigned_machine_gets_a_place_again() {
    let mut stage = at_ash(SIZES[0]);
    let maple = MachineId::named("maple");
    stage.verb(Verb::AssignMachine { machine: maple, environment: Some(None), ring: Some(None), node: None });
    stage.show();
    stage.press("2 G");
    says(&stage, "maple is out of scope: it has no environment and no ring");
    stage.press("s n");
    says(&stage, "it is out of scope already");
    stage.press("s m");
    says(&stage, "new place, now none:");
    stage.type_text("pine-workers/pine-workers");
    let (tier, ring) = place("pine-workers");
    let back =
        Verb::AssignMachine { machine: maple, environment: Some(Some(tier)), ring: Some(Some(ring)), node: None };
    assert_eq!(verbs(stage.press("enter enter")), [back]);
}

/// An account in which no release was ever started: everything is there to be looked at and to be set.
fn untouched((width, height): (u16, u16)) -> Stage {
    let mut stage = Stage::fleet(width, height);
    stage.ring("spare-ring", 2);
    let maple = MachineId::named("maple");
    stage.verb(Verb::AssignMachine { machine: maple, environment: Some(None), ring: Some(None), node: None });
    stage.show();
    stage
}

#[test]
fn rings_and_machines_have_rows_before_the_first_rollout() {
    pictures("before_the_first_rollout", |size| {
        let mut stage = untouched(size);
        stage.press("2 j");
        stage
    });
    let mut stage = untouched(SIZES[0]);
    assert!(stage.model.facts.needs.is_empty(), "{:?}", stage.model.facts.needs);
    says(
        &stage,
        "no release was ever started: 2 environments, 3 rings, 6 machines, 1 release Next: start a release, on screen 6.",
    );
    stage.arm();
    stage.press("2 j s c");
    stage.type_text("2");
    assert_eq!(
        verbs(stage.press("enter enter")),
        [pine_cp(RingPatch { max_in_flight: Some(2), ..RingPatch::default() })]
    );
    for (keys, said) in [
        ("2 g j j", "ash waits for a first rollout"),
        ("2 G", "maple is out of scope"),
        ("2 G k", "spare-ring has no machine in any environment"),
        ("2 G k k", "1 machine is out of scope: nothing is served to it; 1 ring has no machine"),
    ] {
        stage.press(keys);
        says(&stage, said);
    }
    stage.press("2 G k s l");
    stage.type_text("0:50,1h:100");
    let sent = verbs(stage.press("enter enter"));
    assert!(matches!(&sent[..], [Verb::PatchRing { ring, .. }] if *ring == RingId::named("spare-ring")), "{sent:?}");
    stage.press("0");
    says(&stage, "maple is in no environment and no ring now");
}

#[test]
fn what_is_out_of_reach_is_folded_filtered_and_opened_like_everything_else() {
    let mut stage = untouched(SIZES[0]);
    stage.press("2 G k k space");
    assert!(!stage.screen().contains("maple"), "{}", stage.screen());
    stage.press("/");
    stage.type_text("map");
    says(&stage, "out of reach");
    says(&stage, "maple");
    assert!(!stage.screen().contains("spare-ring"), "{}", stage.screen());
    stage.press("enter G enter");
    says(&stage, "place no environment, no ring");
    stage.press("esc esc");
    assert!(stage.model.layers.is_empty());
}

#[test]
fn an_empty_account_says_what_comes_first() {
    let mut stage = Stage::blank(80, 24);
    stage.picture.world = std::sync::Arc::default();
    stage.take_seat("serve@bastion-1", true);
    stage.picture.access = Access::Viewer;
    stage.show();
    says(&stage, "Next: an operator adds what is missing; your token can look, not act.");
    stage.picture.access = Access::Operator;
    stage.show();
    says(&stage, "Next: an environment, with kura-console add-environment SLUG.");
    stage.environment("pine-cp", 10);
    stage.show();
    says(&stage, "Next: a ring, with kura-console add-ring SLUG.");
    stage.ring("pine-cp", 1);
    stage.show();
    says(&stage, "Next: machines, with s i here or kura-console add-machine HOST.");
    stage.machine("ash", "pine-cp", 1);
    stage.show();
    says(&stage, "Next: a release, with kura-console build GIT_REF.");
}
