//! Other managers of the same fields (K28).

use serde_json::json;

use super::rig::{Rig, facts};
use crate::domain::ids::ServerId;
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::step::{Deed, FieldConflict, Outcome, Ran};
use crate::domain::kura::verb::KuraVerb;

/// Somebody else's hand on the class of the instance.
fn edit(rig: &mut Rig, manager: &str) {
    let live = rig.live("acme");
    live.spec.edit(|spec| spec["ingressClassName"] = json!("theirs"));
    live.foreign.insert("spec.ingressClassName".to_owned(), manager.to_owned());
}

#[test]
fn a_conflict_is_told_by_field_and_manager_and_only_force_overrides_it() {
    // K28
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.render_otherwise("acme", "storageSize", "40Gi");
    let step = rig.tick().steps.remove(0);
    assert!(matches!(step.deed, Deed::Apply { force: false, .. }));
    let fields = vec![FieldConflict { field: "spec.ingressClassName".to_owned(), manager: "flux".to_owned() }];
    rig.tell(vec![Ran { step, outcome: Outcome::Conflict { fields } }]);
    let trouble = rig.server("acme").troubles.get("KuraInstance kura-acme-eu").cloned();
    assert_eq!(trouble.as_deref(), Some("spec.ingressClassName is owned by flux"));
    rig.verb(KuraVerb::ForceReapply { server: ServerId::named("acme") });
    assert!(matches!(rig.tick().steps[0].deed, Deed::Apply { force: true, .. }));
}

#[test]
fn an_edit_by_hand_is_seen_and_only_a_forced_row_heals_it() {
    // K24, K28
    let mut rig = Rig::serving(&[], "0.19.0");
    edit(&mut rig, "kubectl-edit");
    rig.reconcile();
    assert!(rig.steps.is_empty(), "the image and the revision agree");
    assert_eq!(rig.server("acme").foreign["spec.ingressClassName"].manager, "kubectl-edit");
    rig.verb(KuraVerb::ForceReapply { server: ServerId::named("acme") });
    rig.reconcile();
    assert_eq!(rig.live("acme").spec["ingressClassName"], json!("kura-eu"));
}

#[test]
fn the_third_edit_of_one_field_in_a_row_stops_the_tug_of_war() {
    // K28
    let mut rig = Rig::serving(&[], "0.19.0");
    for times in 1..=3 {
        edit(&mut rig, "flux");
        rig.reconcile();
        let told = facts(&rig.tick()).len();
        assert_eq!(told, 0, "each edit is told once");
        assert_eq!(rig.server("acme").foreign["spec.ingressClassName"].times, times);
        assert_eq!(rig.server("acme").tug_of_war().is_some(), times == 3);
        if times < 3 {
            rig.verb(KuraVerb::ForceReapply { server: ServerId::named("acme") });
            rig.reconcile();
        }
    }
    rig.steps.clear();
    rig.live("acme").revision = Some("somebody's".to_owned());
    rig.reconcile();
    assert!(rig.steps.is_empty(), "nothing is applied by itself any more");
    let (field, edit) = rig.server("acme").tug_of_war().unwrap();
    assert_eq!((field.as_str(), edit.manager.as_str()), ("spec.ingressClassName", "flux"));
    rig.verb(KuraVerb::ForceReapply { server: ServerId::named("acme") });
    rig.reconcile();
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"], "a person may");
}

#[test]
fn whoever_lets_go_after_a_force_is_not_accused_for_ever() {
    // K28
    let mut rig = Rig::serving(&[], "0.19.0");
    let edits = |rig: &Rig| rig.server("acme").foreign.get("spec.ingressClassName").map(|edit| edit.times);
    let force = |rig: &mut Rig| {
        rig.verb(KuraVerb::ForceReapply { server: ServerId::named("acme") });
        rig.reconcile();
    };
    for times in 1..=3 {
        edit(&mut rig, "flux");
        rig.reconcile();
        assert_eq!(edits(&rig), Some(times));
        force(&mut rig);
    }
    assert_eq!(edits(&rig), None, "the field stays as it was forced");
    rig.steps.clear();
    rig.live("acme").revision = Some("somebody's".to_owned());
    rig.reconcile();
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"], "drift heals by itself again");
    edit(&mut rig, "flux");
    rig.reconcile();
    assert_eq!(edits(&rig), Some(1), "and a new edit is the first of its row");
}

#[test]
fn what_is_still_seen_of_before_an_apply_is_no_new_edit() {
    // K28
    let mut rig = Rig::serving(&[], "0.19.0");
    edit(&mut rig, "kubectl-edit");
    rig.reconcile();
    rig.verb(KuraVerb::ForceReapply { server: ServerId::named("acme") });
    let apply = rig.tick().steps.remove(0);
    let done = |rig: &mut Rig| rig.tell(vec![Ran { step: apply.clone(), outcome: Outcome::Done }]);
    done(&mut rig);
    rig.tick();
    assert_eq!(rig.server("acme").foreign["spec.ingressClassName"].times, 1, "the watch has not told of the apply yet");
    rig.obey(&apply);
    edit(&mut rig, "kubectl-edit");
    rig.tick();
    assert_eq!(rig.server("acme").foreign["spec.ingressClassName"].times, 2, "this one is seen on top of it");
}

#[test]
fn another_manager_or_another_manifest_is_counted_anew() {
    // K28
    let mut rig = Rig::serving(&[], "0.19.0");
    for manager in ["flux", "argo"] {
        edit(&mut rig, manager);
        let verdict = rig.tick();
        let [KuraChange::FieldWrittenBack { times: 1, .. }] = facts(&verdict)[..] else { panic!("{verdict:?}") };
    }
    rig.render_otherwise("acme", "storageSize", "40Gi");
    rig.reconcile();
    assert!(rig.server("acme").foreign.is_empty());
}

#[test]
fn fields_that_are_not_rendered_are_nobodys_business_here() {
    // K49
    let mut rig = Rig::serving(&[], "0.19.0");
    let live = rig.live("acme");
    live.spec.edit(|spec| spec["somethingNew"] = json!({ "deep": true }));
    live.foreign.insert("spec.somethingNew.deep".to_owned(), "them".to_owned());
    let verdict = rig.tick();
    assert!(verdict.changes.is_empty() && verdict.steps.is_empty());
}
