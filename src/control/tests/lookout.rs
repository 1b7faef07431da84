//! The lookout in virtual time: soon, not often, and never in a loop with whatever stands in the way.

use super::bed::account;
use super::running::Running;
use crate::domain::ids::AccountId;
use crate::domain::kura::step::Outcome;
use crate::domain::verdict::Reply;

#[test]
fn what_is_seen_and_what_a_person_wants_is_acted_upon_without_waiting_for_the_tick() {
    // K26
    let mut running = Running::start(account());
    running.deploy(false);
    running.driver.run(5);
    assert_eq!(running.tried(), 0, "nothing is written to what is not seen");
    running.show();
    running.driver.run(2);
    assert_eq!(running.tried(), 1, "it is seen, and the instance is not there");

    let mut running = Running::start(account());
    running.show();
    running.driver.run(2);
    assert_eq!(running.tried(), 0, "nobody wants anything yet");
    running.deploy(false);
    running.driver.run(2);
    assert_eq!(running.tried(), 1);
}

#[test]
fn a_write_that_does_not_succeed_is_tried_again_by_the_tick_or_by_a_person_and_by_nobody_else() {
    // K24, K28
    let mut running = Running::start(account());
    running.bed.store.cluster.lock().outcome = Outcome::Failed { why: "no".to_owned() };
    running.deploy(false);
    for _ in 0..20 {
        running.show();
        running.driver.run(2);
    }
    assert_eq!(running.tried(), 1, "whatever changes meanwhile");
    running.show();
    running.driver.run(30);
    assert_eq!(running.tried(), 2, "the tick tries again");
    running.show();
    running.driver.run(2);
    assert_eq!(running.tried(), 2);
    running.deploy(true);
    running.driver.run(2);
    assert_eq!(running.tried(), 3, "a person does not wait for it");
}

#[test]
fn an_account_whose_cluster_it_is_not_neither_sees_nor_touches_it() {
    let mut running = Running::start(AccountId::named("other"));
    running.show();
    running.deploy(true);
    running.driver.run(120);
    assert_eq!(running.tried(), 0);
    assert_eq!(running.service.observer.observe(&running.service.door.world()).cluster, None);
}

#[test]
fn a_cluster_that_is_not_the_one_everything_is_in_is_neither_read_nor_written_until_a_person_accepts_it() {
    // A19
    let (mine, other) = ("11111111-aaaa", "22222222-bbbb");
    let mut running = Running::start(account());
    running.deploy(false);
    running.show_as(mine);
    running.driver.run(2);
    assert_eq!(running.tried(), 1);
    assert_eq!(running.home().as_deref(), Some(mine), "before the first write it is settled where that goes");

    running.show_as(other);
    running.driver.run(130);
    assert_eq!(running.tried(), 1, "nothing is made there");
    let world = running.service.door.world();
    let sight = running.service.observer.observe(&world).cluster.unwrap();
    let why = sight.instances.contact.why().unwrap();
    assert!(why.contains("cluster 22222222") && why.contains("accept-cluster 22222222-bbbb"), "{why}");

    for (uid, reason, code) in [(mine, Some("moved"), "not_there"), (other, None, "reason_missing")] {
        let reply = running.accept(uid, reason);
        assert!(matches!(&reply, Reply::Refused(refusal) if refusal.code() == code), "{uid}: {reply:?}");
    }
    assert_eq!(running.accept(other, Some("moved to the new region")), Reply::Done);
    running.show_as(other);
    running.driver.run(2);
    assert_eq!(running.home().as_deref(), Some(other));
    assert_eq!(running.tried(), 2, "and made there");
}
