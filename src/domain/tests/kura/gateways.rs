//! Gateways: collected after the apply, never one in use, finalizers by people only (K42-K44).

use super::rig::{Rig, facts, lose};
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::server::GatewayMode;
use crate::domain::kura::source::Contact;
use crate::domain::kura::step::{Deed, Outcome, Ran, Step};
use crate::domain::kura::traffic::IngressClass;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::verdict::Reply;

const OLD: &str = "kgw-acme-eu";

/// The instance stands on a gateway of its own, and is rendered for the shared one.
fn left_behind() -> Rig {
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.render_otherwise("acme", "ingressClassName", OLD);
    rig.reconcile();
    rig.pass_time(10);
    rig.put_gateway(OLD, "acme");
    rig.steps.clear();
    rig.edit("acme", |server| server.spec_mut().overrides.clear());
    rig
}

#[test]
fn a_gateway_nobody_names_is_deleted_after_the_apply_and_not_before() {
    // K43 (I1, A22)
    let mut rig = left_behind();
    let stamp = rig.sight.gateways.rows[OLD].stamp.clone();
    rig.sight
        .classes
        .rows
        .insert(OLD.to_owned(), IngressClass { stamp, controller: "c".to_owned(), has_controller: Some(false) });
    rig.reconcile();
    let order =
        ["apply KuraInstance kura-acme-eu", "delete KuraGateway kgw-acme-eu", "delete IngressClass kgw-acme-eu"];
    assert_eq!(rig.written(), order);
    assert!(matches!(rig.steps[1].deed, Deed::Delete { .. }));
}

#[test]
fn a_class_goes_although_its_gateway_is_seen_a_while_longer() {
    // K43
    let mut rig = left_behind();
    let stamp = rig.sight.gateways.rows[OLD].stamp.clone();
    let class = IngressClass { stamp, controller: "c".to_owned(), has_controller: Some(false) };
    rig.sight.classes.rows.insert(OLD.to_owned(), class);
    let apply = rig.tick().steps.remove(0);
    rig.obey(&apply);
    let delete = rig.tell(vec![Ran { step: apply, outcome: Outcome::Done }]).steps.remove(0);
    rig.steps.clear();
    rig.tell(vec![Ran { step: delete.clone(), outcome: Outcome::Done }]);
    assert!(rig.written().is_empty(), "what is seen lags behind what was written: {:?}", rig.written());
    rig.obey(&delete);
    rig.tick();
    assert_eq!(rig.written(), ["delete IngressClass kgw-acme-eu"]);
    let mut again = rig;
    again.steps.clear();
    again.pass_time(10);
    again.put_gateway(OLD, "acme");
    again.render_otherwise("acme", "ingressClassName", OLD);
    again.tick();
    assert!(
        again.written().iter().all(|line| !line.contains("IngressClass")),
        "it is used again: {:?}",
        again.written()
    );
}

#[test]
fn an_apply_that_failed_collects_nothing() {
    // K43 (A22)
    let mut rig = left_behind();
    let step = rig.tick().steps.remove(0);
    rig.tell(vec![Ran { step, outcome: Outcome::Failed { why: "timeout".to_owned() } }]);
    rig.tick();
    assert!(rig.written().iter().all(|line| line.starts_with("apply")));
}

#[test]
fn nothing_is_collected_on_an_empty_failed_or_stale_reading() {
    // K43 (A22, A20)
    let collects =
        |rig: &mut Rig| rig.tick_as_it_is().steps.iter().any(|step| matches!(step.deed, Deed::Delete { .. }));
    let applied = || {
        let mut rig = left_behind();
        let step = rig.tick().steps.remove(0);
        let outcome = rig.obey(&step);
        rig.look();
        let change = KuraChange::ManifestApplied {
            server: rig.server("acme").id,
            deployment: None,
            revision: rig.revision("acme"),
            image: "0.19.0".to_owned(),
            new_image: false,
            over: None,
        };
        assert_eq!(outcome, Outcome::Done);
        rig.world.kura.apply(rig.now, &change);
        rig
    };
    assert!(collects(&mut applied()), "it would otherwise");
    let mut rig = applied();
    let now = rig.now;
    lose(&mut rig.sight.instances, now);
    assert!(!collects(&mut rig));
    let mut rig = applied();
    lose(&mut rig.sight.gateways, now);
    assert!(!collects(&mut rig));
    let mut rig = applied();
    rig.sight.gateways.contact = Contact::Live { as_of: crate::domain::span::Seconds(90).before(now) };
    assert!(!collects(&mut rig));
    let mut rig = applied();
    rig.sight.instances.rows.clear();
    assert!(!collects(&mut rig), "an empty reading is none to delete on");
}

#[test]
fn a_gateway_that_an_instance_or_a_manifest_names_stays() {
    // K42, K43
    let mut rig = left_behind();
    rig.add("other");
    rig.edit("other", |server| drop(server.spec_mut().overrides.insert("ingressClassName".to_owned(), OLD.into())));
    rig.reconcile();
    assert_eq!(rig.sight.gateways.rows.len(), 1, "a manifest names it");
    let (gone, live) = (rig.world.kura.servers.clone(), rig.live("acme").clone());
    rig.edit("other", |server| server.spec_mut().overrides.clear());
    let mut stranger = live;
    stranger.stamp.name = "kura-stranger-eu".to_owned();
    stranger.spec.edit(|spec| spec["ingressClassName"] = OLD.into());
    rig.sight.instances.rows.insert("kura-stranger-eu".to_owned(), stranger);
    rig.reconcile();
    assert_eq!((rig.sight.gateways.rows.len(), gone.len()), (1, 2), "an instance names it");
    let delete = KuraVerb::DeleteGateway { name: OLD.to_owned() };
    assert_eq!(rig.refused(delete), "in_use", "not by a person either");
}

#[test]
fn a_gateway_younger_than_the_apply_or_of_somebody_else_stays() {
    // K43
    let mut rig = left_behind();
    rig.put_gateway("kgw-stranger-eu", "stranger");
    rig.reconcile();
    rig.pass_time(5);
    rig.put_gateway("kgw-young-eu", "acme");
    rig.reconcile();
    let left: Vec<&String> = rig.sight.gateways.rows.keys().collect();
    assert_eq!(left, ["kgw-stranger-eu", "kgw-young-eu"]);
}

#[test]
fn a_gateway_that_is_stuck_is_not_deleted_again_and_again() {
    // K44 (I10)
    let mut rig = left_behind();
    let since = rig.now;
    let gateway = rig.sight.gateways.rows.get_mut(OLD).unwrap();
    gateway.stamp.deleting_since = Some(since);
    gateway.stamp.finalizers = vec!["kuragateways.kura.tuist.dev/finalizer".to_owned()];
    rig.reconcile();
    rig.reconcile();
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"]);
    let strip = |finalizer: &str| {
        let (name, finalizer) = (OLD.to_owned(), Some(finalizer.to_owned()));
        KuraVerb::StripFinalizer { name, finalizer }
    };
    let finalizer = "kuragateways.kura.tuist.dev/finalizer";
    for reason in [None, Some("  ")] {
        let reply = rig.verb_because(strip(finalizer), reason);
        assert!(matches!(reply, Reply::Refused(refusal) if refusal.code() == "reason_missing"));
    }
    assert_eq!(rig.refused(strip("other/finalizer")), "not_there");
    assert_eq!(rig.verb(strip(finalizer)), Reply::Done);
    rig.reconcile();
    assert_eq!(rig.written()[1], "patch KuraGateway kgw-acme-eu");
    assert!(rig.world.kura.asked.is_empty() && rig.sight.gateways.rows.is_empty());
}

#[test]
fn a_finalizer_is_taken_off_only_where_a_deletion_waits_for_it() {
    // K44
    let mut rig = left_behind();
    let gateway = rig.sight.gateways.rows.get_mut(OLD).unwrap();
    gateway.stamp.finalizers = vec!["f".to_owned()];
    let strip = KuraVerb::StripFinalizer { name: OLD.to_owned(), finalizer: Some("f".to_owned()) };
    assert_eq!(rig.refused(strip), "not_leaving");
    assert!(facts(&rig.tick()).is_empty());
}

#[test]
fn of_several_finalizers_the_one_that_is_meant_is_named_and_each_goes_by_itself() {
    // K44
    let mut rig = left_behind();
    let since = rig.now;
    let gateway = rig.sight.gateways.rows.get_mut(OLD).unwrap();
    gateway.stamp.deleting_since = Some(since);
    let strip = |finalizer: Option<&str>| {
        let (name, finalizer) = (OLD.to_owned(), finalizer.map(str::to_owned));
        KuraVerb::StripFinalizer { name, finalizer }
    };
    assert_eq!(rig.refused(strip(None)), "not_there", "it waits for none");
    let finalizers = ["kuragateways.kura.tuist.dev/finalizer", "dns.example/record"];
    let gateway = rig.sight.gateways.rows.get_mut(OLD).unwrap();
    gateway.stamp.finalizers = finalizers.map(str::to_owned).to_vec();
    let Reply::Refused(no) = rig.verb(strip(None)) else { panic!("it is not said which") };
    assert_eq!((no.code(), no.field()), ("which_finalizer", Some("finalizer")));
    assert!(finalizers.iter().all(|finalizer| no.to_string().contains(finalizer)), "{no}");
    for finalizer in finalizers {
        assert_eq!(rig.verb(strip(Some(finalizer))), Reply::Done);
    }
    let strips = |step: &Step| matches!(step.deed, Deed::StripFinalizer { .. });
    let first = rig.tick().steps.into_iter().find(strips).unwrap();
    rig.tell(vec![Ran { step: first, outcome: Outcome::Done }]);
    let left: Vec<Option<&str>> = rig.world.kura.asked.iter().map(|asked| asked.finalizer.as_deref()).collect();
    assert_eq!(left, [Some("dns.example/record")], "the other one was asked for as well, and is not forgotten");
    let gateway = rig.sight.gateways.rows.get_mut(OLD).unwrap();
    gateway.stamp.finalizers.remove(0);
    assert_eq!(rig.verb(strip(None)), Reply::Done, "the only one that is left is meant");
    assert_eq!(rig.world.kura.asked.len(), 1, "and it waits already");
}

#[test]
fn a_class_stays_where_a_gateway_was_made_for_it_since() {
    // K43
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.put_gateway(OLD, "stranger");
    let stamp = rig.sight.gateways.rows[OLD].stamp.clone();
    let class = IngressClass { stamp, controller: "c".to_owned(), has_controller: Some(true) };
    rig.sight.classes.rows.insert(OLD.to_owned(), class);
    rig.verb(KuraVerb::DeleteGateway { name: OLD.to_owned() });
    let step = rig.tick().steps.remove(0);
    let outcome = rig.obey(&step);
    rig.tell(vec![Ran { step, outcome }]);
    assert_eq!(rig.world.kura.asked.len(), 1, "its class is to go as well");
    rig.pass_time(1);
    rig.put_gateway(OLD, "stranger");
    let verdict = rig.tick();
    assert!(verdict.steps.is_empty() && rig.world.kura.asked.is_empty(), "somebody stands on it again");
}

#[test]
fn a_gateway_is_not_made_on_a_reading_that_broke_off() {
    // K23, K27
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.edit("acme", |server| server.spec_mut().gateway = GatewayMode::Dedicated);
    rig.reconcile();
    rig.steps.clear();
    rig.sight.gateways.rows.clear();
    rig.pass_time(60);
    rig.look();
    let now = rig.now;
    lose(&mut rig.sight.gateways, now);
    rig.tick_as_it_is();
    assert!(rig.steps.is_empty(), "it may well be there");
}
