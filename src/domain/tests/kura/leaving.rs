//! What leaves: servers that are taken down, and objects that somebody else deletes (K26, K36, K42, K43, K51).

use jiff::Timestamp;

use super::rig::{Rig, facts};
use crate::domain::ids::ServerId;
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::object::{INSTANCE_FINALIZER, Stamp};
use crate::domain::kura::server::{GatewayMode, Roll, ServerStatus};
use crate::domain::kura::verb::KuraVerb;

const OWN: &str = "kgw-acme-eu";

/// A server that stands on a gateway of its own, applied a while after that was made.
fn on_its_own() -> Rig {
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.edit("acme", |server| server.spec_mut().gateway = GatewayMode::Dedicated);
    rig.reconcile();
    rig.pass_time(60);
    let now = rig.now;
    rig.edit("acme", |server| server.applied.as_mut().unwrap().at = now);
    rig.tick();
    rig.steps.clear();
    rig
}

fn destroy(rig: &mut Rig) {
    rig.verb(KuraVerb::DestroyServer { server: ServerId::named("acme") });
}

/// Somebody wants it gone, and it waits for a finalizer.
fn leaves(stamp: &mut Stamp, since: Timestamp) {
    (stamp.deleting_since, stamp.finalizers) = (Some(since), vec![INSTANCE_FINALIZER.to_owned()]);
}

#[test]
fn a_server_that_leaves_holds_neither_its_gateway_nor_its_class() {
    // K51, K42, K43
    let mut rig = on_its_own();
    destroy(&mut rig);
    (0..3).for_each(|_| rig.reconcile());
    let order =
        ["delete KuraInstance kura-acme-eu", "delete KuraGateway kgw-acme-eu", "delete IngressClass kgw-acme-eu"];
    assert_eq!(rig.written(), order);
    assert_eq!(rig.server("acme").status, ServerStatus::Destroyed);
    assert!(rig.world.kura.asked.is_empty(), "and nothing waits to be taken away");
}

#[test]
fn a_gateway_stays_as_long_as_an_instance_that_leaves_names_it() {
    // K42, K51
    let mut rig = on_its_own();
    destroy(&mut rig);
    let now = rig.now;
    leaves(&mut rig.live("acme").stamp, now);
    (0..3).for_each(|_| rig.reconcile());
    assert!(rig.steps.is_empty(), "its controller still needs the way out: {:?}", rig.written());
    let delete = KuraVerb::DeleteGateway { name: OWN.to_owned() };
    assert_eq!(rig.refused(delete), "in_use");
}

#[test]
fn a_server_that_leaves_deletes_its_instance_until_it_is_seen_to_leave() {
    // K51
    let mut rig = Rig::serving(&[], "0.19.0");
    destroy(&mut rig);
    let delete = ["delete KuraInstance kura-acme-eu"];
    for _ in 0..2 {
        rig.steps.clear();
        rig.tick();
        assert_eq!(rig.written(), delete, "whether the first one arrived is not known");
    }
    let now = rig.now;
    leaves(&mut rig.live("acme").stamp, now);
    rig.steps.clear();
    rig.tick();
    assert!(rig.steps.is_empty());
}

#[test]
fn an_instance_that_leaves_by_the_hand_of_somebody_else_is_waited_for_and_made_anew() {
    // K26, K29
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.reconcile();
    rig.steps.clear();
    let now = rig.now;
    leaves(&mut rig.live("acme").stamp, now);
    rig.reconcile();
    assert_eq!(rig.wait("acme"), ("not_observed".to_owned(), "the instance is being deleted".to_owned()));
    assert!(rig.steps.is_empty() && !rig.server("acme").status.is_leaving(), "nobody wants the server gone");
    rig.sight.instances.rows.clear();
    rig.tick();
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"]);
}

#[test]
fn pods_of_a_workload_that_leaves_are_left_alone() {
    // K36, K37
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.reconcile();
    (0..2).for_each(|ordinal| rig.pod("kura-acme-eu", ordinal, "0.19.0", false));
    rig.edit("acme", |server| {
        server.roll = Some(Roll { image: "0.20.0".to_owned(), fixed: false, pods: Vec::new() });
    });
    let now = rig.now;
    rig.sight.sets.rows.get_mut("kura-acme-eu").unwrap().stamp.deleting_since = Some(now);
    rig.steps.clear();
    let verdict = rig.tick();
    assert!(facts(&verdict).iter().all(|fact| !matches!(fact, KuraChange::RollFixed { .. })));
    assert!(rig.steps.is_empty(), "{:?}", rig.written());
    rig.sight.sets.rows.get_mut("kura-acme-eu").unwrap().stamp.deleting_since = None;
    rig.tick();
    assert_eq!(rig.written(), ["delete Pod kura-acme-eu-0", "delete Pod kura-acme-eu-1"], "it would otherwise");
}
