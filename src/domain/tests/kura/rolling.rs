//! Pods that are not Ready roll together (K35-K41, K48).

use super::rig::{Rig, facts};
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::DeploymentStatus;
use crate::domain::kura::object::ObjectKind;
use crate::domain::kura::sight::PodDeleter;
use crate::domain::kura::step::{Deed, Outcome, Purpose, Ran};
use crate::domain::kura::workload::{PausedBy, UpdateStrategy};

const NAME: &str = "kura-acme-eu";

/// Five pods on 0.19.0, of which 1, 3 and 4 are not Ready; 0.20.0 was released.
fn degraded() -> Rig {
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    for ordinal in 0..5 {
        rig.pod(NAME, ordinal, "0.19.0", [0, 2].contains(&ordinal));
    }
    rig.steps.clear();
    rig
}

fn deleted(rig: &Rig) -> Vec<&str> {
    let pods = rig.steps.iter().filter(|step| step.object.kind == ObjectKind::Pod);
    pods.map(|step| step.object.name.as_str()).collect()
}

#[test]
fn pods_that_are_not_ready_are_deleted_together_once_the_template_is_new() {
    // K35, K36, K37 (I2, I3, A04)
    let mut rig = degraded();
    let first = rig.tick();
    assert!(first.steps.iter().all(|step| step.object.kind == ObjectKind::KuraInstance), "the template first");
    let outcome = rig.obey(&first.steps[0]);
    rig.look();
    rig.sight.sets.rows.get_mut(NAME).unwrap().image = Some("0.19.0".to_owned());
    rig.tell(vec![Ran { step: first.steps[0].clone(), outcome }]);
    assert!(deleted(&rig).is_empty(), "they would come back on the old image");
    rig.sight.sets.rows.get_mut(NAME).unwrap().image = Some("0.20.0".to_owned());
    let next = rig.tell(Vec::new());
    assert_eq!(deleted(&rig), ["kura-acme-eu-1", "kura-acme-eu-3", "kura-acme-eu-4"]);
    for step in &next.steps {
        let pod = &rig.sight.pods.rows[&step.object.name];
        assert_eq!(step.deed, Deed::Delete { from: pod.stamp.version() }, "UID and resourceVersion");
    }
    let kinds = [ObjectKind::PersistentVolumeClaim, ObjectKind::PersistentVolume];
    assert!(!rig.steps.iter().any(|step| kinds.contains(&step.object.kind)));
}

#[test]
fn each_pod_is_deleted_once_per_image_and_never_on_the_new_one() {
    // K35, K40, K41
    let mut rig = degraded();
    rig.reconcile();
    for ordinal in [1, 3, 4] {
        rig.pod(NAME, ordinal, "0.20.0", false);
    }
    let again = World::again(&rig);
    rig.world = again;
    rig.reconcile();
    rig.reconcile();
    assert_eq!(deleted(&rig).len(), 3, "a restart is no image change");
    assert_eq!(rig.server("acme").deleted_total.get("0.20.0"), Some(&3));
    rig.sight.pods.rows.get_mut("kura-acme-eu-0").unwrap().ready = false;
    rig.reconcile();
    assert_eq!(deleted(&rig).len(), 3, "the set was fixed when the change was observed");
    rig.release("0.21.0");
    rig.reconcile();
    assert_eq!(deleted(&rig).len(), 7, "1, 3 and 4 on 0.20.0, 0 on 0.19.0");
}

struct World;

impl World {
    /// What a process that was started anew reads.
    fn again(rig: &Rig) -> crate::domain::world::World {
        serde_json::from_value(serde_json::to_value(&rig.world).unwrap()).unwrap()
    }
}

#[test]
fn a_pod_that_starts_on_the_new_image_already_is_let_start() {
    // K35
    let mut rig = degraded();
    rig.pod(NAME, 4, "0.20.0", false);
    rig.reconcile();
    assert_eq!(deleted(&rig), ["kura-acme-eu-1", "kura-acme-eu-3"]);
}

#[test]
fn a_pod_that_became_ready_is_spared_and_one_that_took_a_place_goes_as_itself() {
    // K37 (A04)
    let mut rig = degraded();
    let apply = rig.tick().steps.remove(0);
    let outcome = rig.obey(&apply);
    let steps = rig.tell(vec![Ran { step: apply, outcome }]).steps;
    rig.sight.pods.rows.get_mut("kura-acme-eu-3").unwrap().ready = true;
    rig.pod(NAME, 4, "0.19.0", false);
    rig.steps.clear();
    rig.tell(steps.into_iter().map(|step| Ran { step, outcome: Outcome::Stale }).collect());
    let verdict = rig.tick();
    assert_eq!(deleted(&rig), ["kura-acme-eu-1", "kura-acme-eu-4"], "3 is Ready");
    let another = rig.sight.pods.rows["kura-acme-eu-4"].stamp.version();
    assert_eq!(
        verdict.steps[1].deed,
        Deed::Delete { from: another },
        "4 is another pod, and never taken for the first"
    );
}

/// A set whose strategy is bare, and whose first deletes were carried out; 1 came back on the old image, the others did not.
fn came_back() -> Rig {
    let mut rig = degraded();
    rig.reconcile();
    assert_eq!(deleted(&rig).len(), 3);
    rig.sight.sets.rows.get_mut(NAME).unwrap().is_bare = true;
    for (ordinal, tag) in [(1, "0.19.0"), (3, "0.20.0"), (4, "0.20.0")] {
        rig.pod(NAME, ordinal, tag, false);
    }
    rig.steps.clear();
    rig
}

#[test]
fn a_pod_that_came_back_on_the_old_image_goes_again_once_it_would_come_back_on_the_new_one() {
    // K35 (A04)
    let mut rig = came_back();
    rig.reconcile();
    assert!(deleted(&rig).is_empty(), "0 and 2 are old, so that 0 and 1 are made of the old template");
    rig.pod(NAME, 2, "0.20.0", false);
    let again = World::again(&rig);
    rig.world = again;
    rig.reconcile();
    assert_eq!(deleted(&rig), ["kura-acme-eu-1"], "0 alone is left");
    assert_eq!(rig.server("acme").deleted_total.get("0.20.0"), Some(&4));
    rig.pod(NAME, 1, "0.20.0", false);
    rig.reconcile();
    assert_eq!(deleted(&rig).len(), 1, "it is where it should be, though not Ready");
}

#[test]
fn a_pod_without_a_node_is_counted_when_it_goes_and_so_waits_for_the_walk() {
    // K35
    let mut rig = came_back();
    rig.pod(NAME, 2, "0.20.0", false);
    rig.sight.pods.rows.get_mut("kura-acme-eu-1").unwrap().node = None;
    rig.reconcile();
    assert!(deleted(&rig).is_empty(), "gone at once, it would be made of the old template again");
    rig.pod(NAME, 0, "0.20.0", true);
    rig.reconcile();
    assert_eq!(deleted(&rig), ["kura-acme-eu-1"]);
}

#[test]
fn a_place_whose_pods_never_get_the_new_image_is_left_alone_after_a_few() {
    // K35
    let mut rig = degraded();
    rig.reconcile();
    for _ in 0..10 {
        rig.pod(NAME, 3, "0.19.0-mirrored", false);
        rig.reconcile();
    }
    let of_3 = deleted(&rig).into_iter().filter(|name| *name == "kura-acme-eu-3").count();
    assert_eq!(of_3, 4, "itself, and three that took its place");
    rig.release("0.21.0");
    rig.reconcile();
    let of_3 = deleted(&rig).into_iter().filter(|name| *name == "kura-acme-eu-3").count();
    assert_eq!(of_3, 5, "each change of the image begins anew");
}

#[test]
fn whoever_took_a_place_is_not_marked_where_somebody_else_deletes() {
    // K48
    let mut rig = came_back();
    rig.sight.sets.rows.get_mut(NAME).unwrap().is_bare = false;
    rig.sight.deleter = PodDeleter::Controller;
    let verdict = rig.tick();
    let is_marked = facts(&verdict).iter().any(|fact| matches!(fact, KuraChange::RollFixed { .. }));
    assert!(verdict.steps.is_empty() && !is_marked, "{:?}", facts(&verdict));
}

#[test]
fn what_was_deleted_is_not_deleted_or_counted_again_while_it_is_still_seen() {
    // K35, K41
    let mut rig = degraded();
    let apply = rig.tick().steps.remove(0);
    let outcome = rig.obey(&apply);
    let steps = rig.tell(vec![Ran { step: apply, outcome }]).steps;
    let done: Vec<Ran> = steps.into_iter().map(|step| Ran { step, outcome: Outcome::Done }).collect();
    rig.steps.clear();
    rig.tell(done.clone());
    rig.tell(done);
    rig.tick();
    assert!(deleted(&rig).is_empty(), "the watch has not told of it yet");
    assert_eq!(rig.server("acme").deleted_total.get("0.20.0"), Some(&3));
}

#[test]
fn a_delete_that_fails_is_told_tried_again_and_fails_nothing() {
    // K39 (A04)
    let mut rig = degraded();
    let apply = rig.tick().steps.remove(0);
    let outcome = rig.obey(&apply);
    let steps = rig.tell(vec![Ran { step: apply, outcome }]).steps;
    let forbidden = |step| Ran { step, outcome: Outcome::Forbidden { why: "pods is forbidden".to_owned() } };
    rig.tell(steps.into_iter().map(forbidden).collect());
    let trouble = rig.server("acme").troubles.get("Pod kura-acme-eu-4").cloned();
    assert_eq!(trouble.as_deref(), Some("forbidden: pods is forbidden"));
    assert_eq!(rig.open("acme").status, DeploymentStatus::Running);
    rig.steps.clear();
    rig.reconcile();
    assert_eq!(deleted(&rig).len(), 3);
    assert!(rig.server("acme").troubles.is_empty());
}

#[test]
fn an_operators_pause_is_respected_and_marks_nothing_as_done() {
    // K38 (I7)
    let pauses = [UpdateStrategy::OnDelete, UpdateStrategy::RollingUpdate { partition: 2 }];
    for strategy in pauses {
        let mut rig = degraded();
        rig.sight.sets.rows.get_mut(NAME).unwrap().strategy = strategy;
        rig.reconcile();
        rig.reconcile();
        assert!(deleted(&rig).is_empty());
        assert_eq!(rig.sight.sets.rows[NAME].paused_by(), Some(PausedBy::Operator));
        rig.sight.sets.rows.get_mut(NAME).unwrap().strategy = UpdateStrategy::RollingUpdate { partition: 0 };
        rig.reconcile();
        assert_eq!(deleted(&rig).len(), 3, "once it is over");
    }
}

#[test]
fn the_controllers_own_hold_is_no_operators_pause() {
    // K38
    let mut rig = degraded();
    let set = rig.sight.sets.rows.get_mut(NAME).unwrap();
    (set.strategy, set.resize_hold) = (UpdateStrategy::OnDelete, true);
    assert_eq!(set.paused_by(), Some(PausedBy::Controller));
    rig.reconcile();
    assert_eq!(deleted(&rig).len(), 3);
}

#[test]
fn whoever_is_seen_for_the_first_time_has_changed_nothing() {
    // K40
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.edit("acme", |server| server.roll = None);
    rig.pod(NAME, 1, "0.18.0", false);
    rig.reconcile();
    assert!(deleted(&rig).is_empty());
    assert!(rig.server("acme").roll.as_ref().unwrap().pods.is_empty());
}

#[test]
fn a_manifest_change_without_an_image_change_rolls_nothing() {
    // K35
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.pod(NAME, 1, "0.18.0", false);
    rig.render_otherwise("acme", "storageSize", "40Gi");
    rig.reconcile();
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"]);
}

#[test]
fn where_another_controller_or_nobody_deletes_pods_we_do_not() {
    // K48
    for deleter in [PodDeleter::Controller, PodDeleter::Nobody] {
        let mut rig = degraded();
        rig.sight.deleter = deleter;
        rig.reconcile();
        assert!(deleted(&rig).is_empty());
    }
}

#[test]
fn the_outcome_of_a_delete_is_told_with_its_pod() {
    // K41
    let mut rig = degraded();
    let apply = rig.tick().steps.remove(0);
    let outcome = rig.obey(&apply);
    let step = rig.tell(vec![Ran { step: apply, outcome }]).steps.remove(0);
    assert!(matches!(&step.purpose, Purpose::NotReady { image, .. } if image == "0.20.0"));
    let verdict = rig.tell(vec![Ran { step, outcome: Outcome::Done }]);
    let told = facts(&verdict);
    assert!(
        matches!(told[0], KuraChange::PodDeleted { pod, image, .. } if pod == "kura-acme-eu-1" && image == "0.20.0")
    );
}
