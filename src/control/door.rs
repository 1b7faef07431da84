//! The one door into a world: whoever wants something decided asks here, whoever reads subscribes here.

use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};

use super::draft::compare;
use super::publish::Published;
use super::repeat::{Repetition, repetition};
use crate::domain::ids::{Epoch, Revision};
use crate::domain::input::{Input, Order};
use crate::domain::observed::Observed;
use crate::domain::plan::Moved;
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// Requests that may wait for the loop; one more is told to come again.
pub const REQUESTS_WAITING: usize = 16_384;

/// Why a request got no reply of the core.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DoorError {
    /// Too much waits, or other processes kept appending first. Nothing was done.
    #[error("the control plane is busy, nothing was done")]
    Busy,
    /// The journal could not be read or written. Nothing was done.
    #[error("nothing was done: {0}")]
    Journal(String),
    /// The journal failed during an append and could not be asked since: it may have been done.
    #[error("it may have been done: {0}")]
    Unknown(String),
    /// The seat is not held in the epoch this was asked under. Nothing was done.
    #[error("the reconciler's seat changed hands, nothing was done")]
    Deposed,
    /// The idempotency key was used for something else in the last 24 h. Nothing was done.
    #[error("this idempotency key was used for something else, nothing was done")]
    KeyReused,
    /// What the plan of this order names has changed since the person looked at it. Nothing was done.
    #[error("{}, nothing was done", .0.sentence())]
    Moved(Stale),
    /// The clock of this process is so far ahead of whoever ticks that it would take the whole account ahead (R168).
    /// Nothing was done.
    #[error("the clock here is {0} ahead of the last tick, nothing was done")]
    Ahead(Seconds),
    /// The loop has come to its end. Nothing was done.
    #[error("the control plane is stopping, nothing was done")]
    Stopped,
}

/// What to do about a clock that is ahead (R168).
pub const AHEAD_HINTS: [&str; 2] = [
    "set the clock of this host, then restart the process",
    "if this clock is right and the others are not, accept it",
];

/// A plan of yesterday.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// The revision it was made from.
    pub planned_at: Revision,
    /// The revision it was compared with.
    pub revision: Revision,
    /// What it names and what changed since; empty where that cannot be told any more, or not yet.
    pub moved: Vec<Moved>,
}

impl Stale {
    /// What is to be said about it, without a full stop.
    pub fn sentence(&self) -> String {
        let (planned_at, revision) = (self.planned_at, self.revision);
        match self.moved.as_slice() {
            [] if planned_at > revision => format!("the journal is at revision {revision}, not yet at {planned_at}"),
            [] => format!("too much has changed since revision {planned_at} to be compared"),
            [only] => only.sentence(),
            [first, rest @ ..] => format!("{}, and {} more changed", first.sentence(), rest.len()),
        }
    }
}

/// A reply, and whether it was given before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// What the core says, or said then.
    pub reply: Reply,
    /// It was done under its idempotency key before, and not again.
    pub again: bool,
}

/// What waits for the loop.
#[derive(Debug)]
pub(super) struct Request {
    /// What is to be decided.
    pub(super) input: Input,
    /// The epoch the seat must be in for it to be decided at all.
    pub(super) under: Option<Epoch>,
    /// The revision the person saw who gave it; what its plan names must not have changed since.
    pub(super) planned_at: Option<Revision>,
    /// Where the reply goes.
    pub(super) reply: oneshot::Sender<Result<Answered, DoorError>>,
}

impl Request {
    /// Answers it; whoever asked may be gone by now.
    pub(super) fn answer(self, reply: Result<Answered, DoorError>) {
        let _ = self.reply.send(reply);
    }
}

/// The door. Cheap to clone; one per account and process.
#[derive(Debug, Clone)]
pub struct Door {
    requests: mpsc::Sender<Request>,
    published: watch::Receiver<Published>,
}

impl Door {
    /// A door, and the end the loop takes requests from.
    pub(super) fn new(published: watch::Receiver<Published>) -> (Self, mpsc::Receiver<Request>) {
        let (requests, waiting) = mpsc::channel(REQUESTS_WAITING);
        (Self { requests, published }, waiting)
    }

    /// Has `input` decided; the reply comes after its changes are durable and published.
    pub async fn ask(&self, input: Input) -> Result<Reply, DoorError> {
        self.send(input, None, None).await.map(|answered| answered.reply)
    }

    /// Has an order decided, and tells whether it was done before under its key. With `planned_at`, only if nothing
    /// that its plan names has changed after that revision.
    pub async fn give(&self, order: Order, planned_at: Option<Revision>) -> Result<Answered, DoorError> {
        self.send(Input::Verb(order), None, planned_at).await
    }

    /// The answer to an order that was done before under its key, as far as this process knows by now; none = it has to
    /// be decided.
    pub fn repeated(&self, order: &Order, now: Timestamp) -> Option<Result<Answered, DoorError>> {
        match repetition(order, &self.world(), now) {
            Repetition::New => None,
            Repetition::Done(reply) => Some(Ok(Answered { reply, again: true })),
            Repetition::Reused => Some(Err(DoorError::KeyReused)),
        }
    }

    /// Has `input` decided only while the seat is in `epoch`; a tick is decided in no other way.
    pub async fn ask_under(&self, epoch: Epoch, input: Input) -> Result<Reply, DoorError> {
        self.send(input, Some(epoch), None).await.map(|answered| answered.reply)
    }

    /// Compares the plan of an order with what changed after `planned_at`, as a turn would, and decides nothing.
    pub fn compare(
        &self,
        order: &Order,
        planned_at: Revision,
        observed: &Observed,
        now: Timestamp,
    ) -> Result<(), DoorError> {
        let published = self.published.borrow().clone();
        let since = published.entries_after(planned_at);
        compare(&published.world, observed, order, planned_at, since.as_ref().map(|since| since.iter()), now)
    }

    /// The newest published world, again and again.
    pub fn published(&self) -> watch::Receiver<Published> {
        self.published.clone()
    }

    /// The world as it was published last; empty until the journal was loaded.
    pub fn world(&self) -> Arc<World> {
        Arc::clone(&self.published.borrow().world)
    }

    /// Returns once the journal was loaded.
    pub async fn ready(&self) -> Result<(), DoorError> {
        let mut published = self.published.clone();
        published.wait_for(Published::is_loaded).await.map(drop).map_err(|_| DoorError::Stopped)
    }

    async fn send(
        &self,
        input: Input,
        under: Option<Epoch>,
        planned_at: Option<Revision>,
    ) -> Result<Answered, DoorError> {
        let (reply, answer) = oneshot::channel();
        self.requests.try_send(Request { input, under, planned_at, reply }).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => DoorError::Busy,
            mpsc::error::TrySendError::Closed(_) => DoorError::Stopped,
        })?;
        answer.await.unwrap_or(Err(DoorError::Stopped))
    }
}
