//! Errands over the link: orders and questions, run beside the loop, their answers told to the loop.

use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use super::convert;
use super::heard::Heard;
use crate::console::effect::Sealed;
use crate::console::msg::Msg;
use crate::control::link::Link;
use crate::control::ports::Clock;
use crate::domain::ids::{MachineId, RolloutId};

/// How long orders that are under way are waited for when the console ends.
pub const ORDERS_WAIT: Duration = Duration::from_secs(1);

/// What runs errands over a link.
#[derive(Debug)]
pub struct Errands<L> {
    link: L,
    heard: Sender<Heard>,
    orders: JoinSet<()>,
}

impl<L: Link> Errands<L> {
    /// Errands over `link`; answers go to `heard`.
    pub fn new(link: L, heard: Sender<Heard>) -> Self {
        Self { link, heard, orders: JoinSet::new() }
    }

    /// Gives an order, once. It is opened here and nowhere else.
    pub fn order(&mut self, sealed: Sealed) {
        while self.orders.try_join_next().is_some() {}
        let (link, heard, order) = (self.link.clone(), self.heard.clone(), sealed.into_order());
        let key = order.key.clone().unwrap_or_default();
        tracing::info!(by = order.by, key, verb = ?order.verb, "an order leaves");
        self.orders.spawn(async move {
            let answer = link.order(order).await;
            tracing::info!(key, ?answer, "an order was answered");
            tell(&heard, Msg::Answer { key, answer: convert::answer(answer) }).await;
        });
    }

    /// Asks for the last results of a machine.
    pub fn results(&self, rollout: RolloutId, machine: MachineId) {
        let (link, heard) = (self.link.clone(), self.heard.clone());
        tokio::spawn(async move {
            let results = link.results(rollout, machine).await;
            let results = results.map(|results| results.into_iter().map(convert::result).collect());
            tell(&heard, Msg::Results { rollout, machine, results }).await;
        });
    }

    /// Waits for orders under way, so that leaving does not cut one off; at most `ORDERS_WAIT`.
    pub async fn finish(mut self, clock: &impl Clock) {
        let answered = async { while self.orders.join_next().await.is_some() {} };
        tokio::select! {
            () = answered => {}
            () = clock.sleep(ORDERS_WAIT) => tracing::warn!("left while an order was unanswered"),
        }
    }
}

/// Nobody listens once the loop is over; then the answer is in the log only.
async fn tell(heard: &Sender<Heard>, msg: Msg) {
    let _ = heard.send(Heard::Msg(Box::new(msg))).await;
}
