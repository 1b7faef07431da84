//! Errands over the link: orders and questions, run beside the loop, their answers told to the loop.

use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use super::convert;
use super::heard::Heard;
use crate::console::effect::{Sealed, SealedSeat};
use crate::console::msg::Msg;
use crate::control::link::Link;
use crate::control::ports::Clock;
use crate::domain::ids::{MachineId, Revision, RolloutId};

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
        let (link, heard) = (self.link.clone(), self.heard.clone());
        let (order, planned_at) = sealed.open();
        let key = order.key.clone().unwrap_or_default();
        tracing::info!(by = order.by, key, verb = ?order.verb, planned_at, "an order leaves");
        self.orders.spawn(async move {
            let answer = link.order(order, planned_at).await;
            tracing::info!(key, ?answer, "an order was answered");
            tell(&heard, Msg::Answer { key, answer: convert::answer(answer) }).await;
        });
    }

    /// Takes or leaves the seat, once. It is opened here and nowhere else.
    pub fn seat(&mut self, sealed: SealedSeat) {
        let (link, heard) = (self.link.clone(), self.heard.clone());
        let order = convert::seat_order(sealed);
        let key = order.key.clone();
        tracing::info!(by = order.by, key, wish = ?order.wish, "a wish about the seat leaves");
        self.orders.spawn(async move {
            let answer = link.seat(order).await;
            tracing::info!(key, ?answer, "a wish about the seat was answered");
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

    /// Asks for what people did in front of a revision.
    pub fn past(&self, before: Revision) {
        let (link, heard) = (self.link.clone(), self.heard.clone());
        tokio::spawn(async move {
            let links = link.past(before).await;
            tell(&heard, Msg::Past { before, links }).await;
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use jiff::Timestamp;
    use tokio::sync::{Notify, mpsc, watch};

    use super::*;
    use crate::console::arming::Arming;
    use crate::console::effect::{Signature, Stop};
    use crate::console::msg::Answer;
    use crate::control::link;
    use crate::control::picture::Picture;
    use crate::control::ports::ApplyResult;
    use crate::domain::ids::RingId;
    use crate::domain::input::{Order, Verb};

    /// Answers an order once it is let to.
    #[derive(Clone, Default)]
    struct Slow {
        sent: Arc<AtomicUsize>,
        planned_at: Arc<Mutex<Vec<Option<Revision>>>>,
        answer: Arc<Notify>,
    }

    impl Link for Slow {
        fn pictures(&self) -> watch::Receiver<Picture> {
            unreachable!("nobody looks")
        }

        async fn order(&self, _: Order, planned_at: Option<Revision>) -> link::Answer {
            self.planned_at.lock().unwrap().push(planned_at);
            self.sent.fetch_add(1, Ordering::SeqCst);
            self.answer.notified().await;
            link::Answer::Done { sentence: "done".to_owned() }
        }

        async fn results(&self, _: RolloutId, _: MachineId) -> Result<Vec<ApplyResult>, String> {
            Err("none".to_owned())
        }
    }

    /// A clock whose sleeps are over at once, or never.
    #[derive(Clone)]
    struct Hands(bool);

    impl Clock for Hands {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }

        async fn sleep(&self, _: Duration) {
            if self.0 {
                std::future::pending().await
            }
        }
    }

    fn sealed() -> Sealed {
        let signature = Signature { by: "op-a".to_owned(), reason: None, key: "k-1".to_owned() };
        Sealed::stop(Stop::Ring(RingId::named("pine-workers")), signature)
    }

    #[tokio::test]
    async fn leaving_waits_for_an_order_under_way_and_sends_it_once() {
        let (link, (heard, mut told)) = (Slow::default(), mpsc::channel(4));
        let mut errands = Errands::new(link.clone(), heard);
        errands.order(sealed());
        link.answer.notify_one();
        errands.finish(&Hands(true)).await;
        assert_eq!(link.sent.load(Ordering::SeqCst), 1);
        let Some(Heard::Msg(msg)) = told.recv().await else { panic!("no answer") };
        let done = Answer::Done { sentence: "done".to_owned() };
        assert!(matches!(*msg, Msg::Answer { key, answer } if key == "k-1" && answer == done));
    }

    #[tokio::test]
    async fn an_order_takes_the_revision_of_its_plan_along_and_a_stop_takes_none() {
        let armed = Arming::from(Timestamp::UNIX_EPOCH, "drain test").proof(Timestamp::UNIX_EPOCH).unwrap();
        let signature = Signature { by: "op-a".to_owned(), reason: None, key: "k-2".to_owned() };
        for (sealed, planned_at) in
            [(sealed(), None), (Sealed::armed(Verb::AcceptClock, 41, armed, signature), Some(41))]
        {
            let link = Slow::default();
            let mut errands = Errands::new(link.clone(), mpsc::channel(4).0);
            errands.order(sealed);
            link.answer.notify_one();
            errands.finish(&Hands(true)).await;
            assert_eq!(*link.planned_at.lock().unwrap(), [planned_at]);
        }
    }

    #[tokio::test]
    async fn leaving_does_not_wait_for_ever() {
        let mut errands = Errands::new(Slow::default(), mpsc::channel(4).0);
        errands.order(sealed());
        errands.finish(&Hands(false)).await;
    }

    #[tokio::test]
    async fn results_that_cannot_be_read_are_an_answer() {
        let (heard, mut told) = mpsc::channel(4);
        let (rollout, machine) = (RolloutId::named("r"), MachineId::named("ash"));
        Errands::new(Slow::default(), heard).results(rollout, machine);
        let Some(Heard::Msg(msg)) = told.recv().await else { panic!("no answer") };
        assert!(matches!(*msg, Msg::Results { results: Err(why), .. } if why == "none"));
    }
}
