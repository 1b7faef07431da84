//! Who lost the seat without noticing: what it decides leaves no trace, neither in the journal nor in the cluster.

use tokio::sync::mpsc;

use super::bed::{Bed, Process, keyed, pause, verb};
use super::store::Fault;
use crate::control::door::DoorError;
use crate::control::ports::Clock;
use crate::domain::ids::{Epoch, RolloutId, ServerId};
use crate::domain::input::{Input, Verb};
use crate::domain::kura::server::ServerSpec;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::verdict::Reply;

fn take(process: &Process, name: &str, under: Epoch) {
    let input = Input::TakeSeat { holder: name.to_owned(), agents: true };
    assert_eq!(process.ask_under(vec![(Some(under), input)]), [Ok(Reply::Seated(under + 1))]);
}

fn tick(process: &Process, epoch: Epoch) -> Result<Reply, DoorError> {
    process.ask_under(vec![(Some(epoch), Input::Tick { fresh: RolloutId::named("fresh") })]).remove(0)
}

/// A server that is to be put up.
fn wanted() -> Vec<Input> {
    let (tenant, region) = ("acme".to_owned(), "eu".to_owned());
    let id = ServerId::named("acme-eu");
    let (tenant_id, cluster_id, spec) = (None, None, Box::new(ServerSpec::default()));
    let verbs = [
        KuraVerb::ReleaseTag { tag: "0.20.0".to_owned() },
        KuraVerb::AddServer { id, tenant, tenant_id, region, cluster_id, spec },
        KuraVerb::Deploy { server: id, tag: "0.20.0".to_owned(), force: false },
    ];
    verbs.into_iter().map(|wanted| verb(Verb::Kura(wanted))).collect()
}

#[test]
fn a_tick_that_changes_nothing_writes_to_the_cluster_only_while_the_seat_is_held() {
    // R28, A21
    let bed = Bed::new();
    let mut a = bed.process("a");
    let (lots, mut given) = mpsc::channel(8);
    a.turns.lots = lots;
    take(&a, "a", 0);
    assert!(a.ask(wanted()).iter().all(|reply| !matches!(reply, Ok(Reply::Refused(_)) | Err(_))));
    let mut before = 0;
    for _ in 0..4 {
        bed.clock.pass(60);
        bed.store.cluster.show(bed.clock.now());
        while given.try_recv().is_ok() {}
        before = bed.world().revision;
        assert_eq!(tick(&a, 1), Ok(Reply::Done));
    }
    assert_eq!(bed.world().revision, before, "what is tried again is no fact");
    assert!(given.try_recv().is_ok_and(|lot| lot.epoch == 1), "and a write all the same");

    take(&bed.process("b"), "b", 1);
    bed.clock.pass(60);
    bed.store.cluster.show(bed.clock.now());
    assert_eq!(tick(&a, 1), Err(DoorError::Deposed));
    assert!(given.try_recv().is_err(), "b has the seat, and a had not noticed");
}

#[test]
fn where_a_write_may_still_be_under_way_nobody_is_told_that_nothing_was_done() {
    let bed = Bed::running();
    let a = bed.process("a");
    for (is_far, expected) in [(false, "nothing was done"), (true, "it may have been done")] {
        bed.store.lock().is_far = is_far;
        bed.store.fault(Fault::Fail);
        bed.store.fault(Fault::Fail);
        let error = a.one(pause("birch")).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn what_was_done_under_a_key_before_is_not_denied_while_the_journal_shows_the_past() {
    let bed = Bed::running();
    let (a, b) = (bed.process("a"), bed.process("b"));
    a.one(keyed(pause("birch"), "k1")).unwrap();
    bed.store.lock().is_stale = true;
    let error = b.one(keyed(pause("birch"), "k1")).unwrap_err();
    assert!(error.to_string().starts_with("it may have been done"), "{error}");
    bed.store.lock().is_stale = false;
    assert_eq!(b.one(keyed(pause("birch"), "k1")), Ok(Reply::Done));
    assert_eq!(bed.store.lock().batches.len(), 1);
}
