//! The ladder of a console: it looks at a control plane through one link; when that one is silent it reads the journal by
//! itself, stands by, takes the seat where a person says so, and hands it back when the control plane returns.
//!
//! Nothing here reconciles: on the upper rungs an embedded service does, the same one that a control plane is made of.

use std::future::Future;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use super::climber::Climber;
use super::embedded::Standby;
use super::link::{Answer, Link, SeatOrder};
use super::picture::Picture;
use super::ports::{ApplyResult, Clock};
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision, RolloutId};
use crate::domain::input::Order;

/// How long a control plane is silent before the journal is read from here.
pub const STAND_BY_AFTER: Duration = Duration::from_secs(5);

/// How long it answers again before the seat is handed back: one that comes and goes gets none.
pub const HAND_BACK_AFTER: Duration = Duration::from_secs(5);

/// How long the journal stays open behind that, for whoever takes the seat.
pub const HAND_OVER_LIMIT: Duration = Duration::from_secs(30);

/// How often it is looked whether the journal could be read from here, while that is not needed.
pub const LOOK_EVERY: Duration = Duration::from_secs(60);

/// How long after a failure to open the journal it is tried again.
pub const OPEN_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// How long whoever asks for a free seat waits for the answer that it is taken.
pub const TAKE_LIMIT: Duration = Duration::from_secs(10);

/// Wishes of people that wait.
const WISHES_MAX: usize = 16;

/// Who decides that the seat is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolve {
    /// Nobody: the journal is not read.
    Off,
    /// A person.
    Manual,
    /// This console, once the control plane was silent for so long.
    Auto(Duration),
}

/// A link with a ladder behind it. Cheap to clone.
pub struct Ladder<F, N> {
    far: F,
    near: watch::Receiver<Option<Near<N>>>,
    pictures: watch::Receiver<Picture>,
    wishes: mpsc::Sender<Wished>,
}

impl<F: Clone, N> Clone for Ladder<F, N> {
    fn clone(&self) -> Self {
        let (far, near) = (self.far.clone(), self.near.clone());
        Self { far, near, pictures: self.pictures.clone(), wishes: self.wishes.clone() }
    }
}

/// The embedded end, while it is what is looked at.
#[derive(Clone)]
pub(super) struct Near<N> {
    pub(super) link: N,
    /// Who orders through it, where that is not for the console to say.
    pub(super) by: Option<String>,
}

/// A wish, and whoever waits for what came of it.
#[derive(Debug)]
pub(super) struct Wished {
    pub(super) order: SeatOrder,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// A link on a ladder, and the loop that climbs it; the loop ends once nobody holds the link any more, and gives back
/// what it has.
pub fn ladder<F: Link, S: Standby, C: Clock>(
    far: F,
    standby: S,
    clock: C,
    resolve: Resolve,
) -> (Ladder<F, S::Link>, impl Future<Output = ()> + Send) {
    let (wishes, wished) = mpsc::channel(WISHES_MAX);
    let (pictures, shown) = watch::channel(far.pictures().borrow().clone());
    let (near, nearest) = watch::channel(None);
    let link = Ladder { far: far.clone(), near: nearest, pictures: shown, wishes };
    let climber = Climber::of((far, standby, clock, resolve), pictures, near, wished);
    (link, climber.climb())
}

impl<F: Link, N: Link> Link for Ladder<F, N> {
    fn pictures(&self) -> watch::Receiver<Picture> {
        self.pictures.clone()
    }

    async fn order(&self, order: Order, planned_at: Option<Revision>) -> Answer {
        let near = self.near.borrow().clone();
        match near {
            Some(Near { link, by }) => {
                let by = by.unwrap_or_else(|| order.by.clone());
                link.order(Order { by, ..order }, planned_at).await
            }
            None => self.far.order(order, planned_at).await,
        }
    }

    async fn results(&self, rollout: RolloutId, machine: MachineId) -> Result<Vec<ApplyResult>, String> {
        let near = self.near.borrow().clone();
        match near {
            Some(Near { link, .. }) => link.results(rollout, machine).await,
            None => self.far.results(rollout, machine).await,
        }
    }

    async fn past(&self, before: Revision) -> Result<Vec<Entry>, String> {
        let near = self.near.borrow().clone();
        match near {
            Some(Near { link, .. }) => link.past(before).await,
            None => self.far.past(before).await,
        }
    }

    async fn seat(&self, order: SeatOrder) -> Answer {
        let (answer, answered) = oneshot::channel();
        let gone = || Answer::Unsent { why: "the fallback of this console came to its end".to_owned() };
        if self.wishes.send(Wished { order, answer }).await.is_err() {
            return gone();
        }
        answered.await.unwrap_or_else(|_| gone())
    }
}
