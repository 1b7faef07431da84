//! A journal in a cluster that grew long, and the console that carries on over it.

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::journal::kubernetes::journal::KubernetesJournal;
use kura_console::app::shortening::KEPT_IN_A_CLUSTER;
use kura_console::control::ports::{Clock, Head, Journal};
use kura_console::domain::change::{Cause, Change};
use kura_console::domain::ids::AccountId;

use super::night::{Night, REASON};
use crate::e2e::database::journal as journal_says;
use crate::e2e::screen::take_the_seat;
use crate::journal::beds::drawer;
use crate::journal::changes::batch;

/// Entries of one append.
const APPENDED: u64 = 2_000;

fn account() -> AccountId {
    AccountId::named("default")
}

/// Appends entries that come to nothing until there are more than stay; where it ends then.
async fn grow(journal: &KubernetesJournal<SystemClock>) -> Head {
    let mut head = journal.head(account()).await.expect("a head");
    let now = SystemClock::start().now();
    while head.revision < KEPT_IN_A_CLUSTER + APPENDED {
        let mut next = batch(account(), head.revision, APPENDED, 0);
        for entry in &mut next.entries {
            (entry.at, entry.cause, entry.change) = (now, Cause::Tick, Change::ClockAccepted);
        }
        head = journal.append(next).await.expect("nobody else appends");
    }
    head
}

/// Whoever has the seat keeps it short, and that is the console while nobody else is left.
#[test]
fn a_console_that_carries_on_keeps_the_journal_short() {
    // R28
    let Some(mut night) = Night::falls() else { return };
    let mut console = night.console(&night.served.lease.cluster.admin_config());
    console.wait_for("fallback ready");
    night.served.plane.kill();
    let drawer = night.served.runtime.block_on(drawer(&night.served.lease));
    let journal = KubernetesJournal::of(drawer, "kura-console", "kubernetes://test/kura-console");
    let long = night.served.runtime.block_on(grow(&journal));
    assert_eq!(long.oldest, 1, "nobody compacts while nobody has the seat");

    console.wait_for("STANDING BY");
    take_the_seat(&mut console, REASON);
    let shortened = async || journal.head(account()).await.is_ok_and(|head| head.oldest > 1);
    night.served.runtime.block_on(night.served.lease.cluster.until("the console compacts", shortened));
    let short = night.served.runtime.block_on(journal.head(account())).expect("a head");
    assert!(short.epoch == 2 && short.revision - short.oldest < KEPT_IN_A_CLUSTER + APPENDED, "{short:?}");

    night.ends(console);
    let verified = journal_says(night.served.plane.folder(), &night.url, &["verify"]);
    assert!(verified.stdout.contains("nothing is wrong"), "{verified:?}");
}
