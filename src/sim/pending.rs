//! Being pending once: what every port call of the simulated host does before it answers.
//!
//! Without it a call would be over before anybody else could take a step, and no interleaving would be explored.

use std::future::poll_fn;
use std::task::Poll;

/// Gives every other ready task the chance to go first, once.
pub async fn pend_once() {
    let mut pended = false;
    poll_fn(move |context| {
        if pended {
            return Poll::Ready(());
        }
        pended = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
