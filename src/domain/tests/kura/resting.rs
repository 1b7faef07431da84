//! A pass looks at whom something has changed for, and overlooks nobody.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::rig::Rig;
use crate::domain::ids::ServerId;
use crate::domain::kura::rested::Rest;
use crate::domain::kura::server::GatewayMode;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::source::Contact;
use crate::domain::kura::step::Ran;
use crate::domain::kura::traffic::Up;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::span::Seconds;

const TENANTS: [&str; 3] = ["a", "b", "c"];

/// Three servers that serve: one as usual, one without an endpoint, one through a gateway of its own.
fn at_rest() -> Rig {
    let mut rig = Rig::new(&["0.1.0"]);
    TENANTS.iter().for_each(|tenant| rig.add(tenant));
    rig.edit("b", |server| server.spec_mut().private = true);
    rig.edit("c", |server| server.spec_mut().gateway = GatewayMode::Dedicated);
    rig.settle();
    rig.tick();
    rig.tick_as_it_is();
    rig
}

/// Whom the next pass looks at, as the cluster is seen now.
fn due(rig: &Rig) -> Vec<&'static str> {
    let servers = &rig.world.kura.servers;
    let last = rig.world.kura.rested.take();
    let (rest, due) = Rest::begin(last, servers, &rig.sight, rig.now);
    rig.world.kura.rested.leave(rest);
    TENANTS.into_iter().filter(|tenant| due.contains(&ServerId::named(tenant))).collect()
}

fn due_after(change: impl FnOnce(&mut Rig)) -> Vec<&'static str> {
    let mut rig = at_rest();
    change(&mut rig);
    due(&rig)
}

#[test]
fn only_those_are_looked_at_again_for_whom_something_changed() {
    // K23, K26
    assert!(due_after(|_| {}).is_empty());
    assert!(due_after(|rig| rig.pass_time(60)).is_empty(), "time alone changes nothing while the readings are fresh");
    let instance = |rig: &mut Rig| rig.sight.instances.rows.get_mut("kura-a-eu").unwrap().revision = None;
    assert_eq!(due_after(instance), ["a"]);
    assert_eq!(due_after(|rig| drop(rig.sight.sets.rows.remove("kura-b-eu"))), ["b"]);
    assert_eq!(due_after(|rig| drop(rig.sight.gateways.rows.remove("kgw-c-eu"))), ["c"]);
    assert_eq!(due_after(|rig| drop(rig.sight.endpoints.remove("a-eu.kura.tuist.dev"))), ["a"]);
    assert_eq!(due_after(|rig| drop(rig.sight.pods.rows.remove("kura-b-eu-1"))), ["b"]);
    let given = |rig: &mut Rig| {
        rig.sight.pods.rows.get_mut("kura-b-eu-0").unwrap().instance = Some("kura-a-eu".to_owned());
    };
    assert_eq!(due_after(given), ["a", "b"], "one loses a pod, and one has another");
    assert_eq!(due_after(|rig| rig.edit("c", |server| server.spec_mut().replicas = 7)), ["c"]);
    assert_eq!(due_after(|rig| rig.pass_time(90)), TENANTS, "nothing is read any more");
    assert_eq!(due_after(|rig| rig.now = Seconds(1).before(rig.now)), TENANTS);
    let kinds: [fn(&mut Sight) -> &mut Contact; 4] = [
        |sight| &mut sight.instances.contact,
        |sight| &mut sight.sets.contact,
        |sight| &mut sight.pods.contact,
        |sight| &mut sight.gateways.contact,
    ];
    for kind in kinds {
        assert_eq!(due_after(|rig| *kind(&mut rig.sight) = Contact::Never), TENANTS);
    }
}

#[test]
fn whoever_has_something_to_do_is_looked_at_until_it_is_done() {
    let mut rig = at_rest();
    rig.sight.instances.rows.remove("kura-a-eu");
    rig.tick_as_it_is();
    assert_eq!(due(&rig), ["a"], "what is decided is not done, and no deployment is open");
    let mut rig = at_rest();
    rig.release("0.2.0");
    rig.tick();
    assert_eq!(due(&rig), TENANTS, "what is decided is not done");
    rig.settle();
    rig.tick();
    rig.tick_as_it_is();
    assert!(due(&rig).is_empty());
}

/// One thing that happens; `pick` says to whom, `how` in which way.
fn happen(rig: &mut Rig, what: u8, pick: usize, how: usize) {
    let tenant = TENANTS[pick % TENANTS.len()];
    let (instance, host) = (format!("kura-{tenant}-eu"), format!("{tenant}-eu.kura.tuist.dev"));
    let server = ServerId::named(tenant);
    match what % 16 {
        0 => drop(rig.verb(KuraVerb::ReleaseTag { tag: format!("0.{how}.0") })),
        1 => drop(rig.verb(KuraVerb::ForceReapply { server })),
        2 => rig.edit(tenant, |server| server.spec_mut().replicas = u32::try_from(how).unwrap_or(1) + 1),
        3 => drop(rig.sight.instances.rows.remove(&instance)),
        4 => {
            if let Some(live) = rig.sight.instances.rows.get_mut(&instance) {
                live.observed_image = Some(format!("kura:0.{how}.0"));
                live.revision = live.revision.take().filter(|_| how.is_multiple_of(2));
            }
        }
        5 => {
            if let Some(set) = rig.sight.sets.rows.get_mut(&instance) {
                set.image = Some(format!("kura:0.{how}.0"));
            }
        }
        6 => drop(rig.sight.sets.rows.remove(&instance)),
        7 => drop(rig.sight.gateways.rows.remove(&format!("kgw-{tenant}-eu"))),
        8 => {
            if let Some(probe) = rig.sight.endpoints.get_mut(&host) {
                probe.up = Up::Status { status: [200, 503][how % 2] };
                probe.as_of = rig.now;
            }
        }
        9 => drop(rig.sight.endpoints.remove(&host)),
        10 => {
            let contacts = rig.sight.contacts_mut();
            let count = contacts.len();
            if let Some(contact) = contacts.into_iter().nth((pick * 8 + how) % count) {
                *contact = Contact::Never;
            }
        }
        11 => rig.look(),
        12 => rig.pods_follow(),
        13 => {
            if let Some(pod) = rig.sight.pods.rows.get_mut(&format!("{instance}-{}", how % 2)) {
                pod.ready = !pod.ready;
            }
        }
        14 => drop(rig.sight.pods.rows.remove(&format!("{instance}-{}", how % 2))),
        _ => carry_out(rig),
    }
}

/// What is decided is done, and what follows from that is decided.
fn carry_out(rig: &mut Rig) {
    let steps = rig.tick_as_it_is().steps;
    let ran = steps.iter().map(|step| Ran { step: step.clone(), outcome: rig.obey(step) }).collect();
    rig.tell(ran);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn nobody_who_has_something_to_do_is_overlooked(
        history in prop::collection::vec((any::<u8>(), 0..3_usize, 0..8_usize, 0..3_usize), 1..40),
    ) {
        // K23, K26
        let mut rig = at_rest();
        for (what, pick, how, ticks) in history {
            happen(&mut rig, what, pick, how);
            for _ in 0..ticks {
                rig.pass_time([1, 29, 95, 190][(pick + how) % 4]);
                // It compares what is decided with what a look at everybody decides.
                rig.tick_as_it_is();
            }
        }
        let known: BTreeSet<ServerId> = rig.world.kura.servers.keys().copied().collect();
        prop_assert_eq!(known.len(), TENANTS.len());
    }
}
