//! The link: what a console needs from a control plane, be it in this process or at the end of a wire.

use std::future::Future;

use tokio::sync::watch;

use super::picture::Picture;
use super::ports::ApplyResult;
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision, RolloutId};
use crate::domain::input::Order;

/// Links of the audit that are read at a time.
pub const PAST_READ: usize = 200;

/// The answer to an order, as the far end gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Done, and recorded at this revision.
    Done {
        /// One sentence for people, such as `pine-workers is paused`.
        sentence: String,
    },
    /// No.
    Refused {
        /// Why, in one sentence.
        sentence: String,
        /// What to do instead.
        hints: Vec<String>,
    },
    /// No: what its plan names has changed since it was planned.
    Moved {
        /// What moved, in one sentence.
        sentence: String,
    },
    /// The order left, no answer came: it may have happened. The journal will tell.
    Unknown {
        /// What went wrong.
        why: String,
    },
    /// The order left, no answer came, and there is no journal to ask: what was read afterwards does not show it.
    Unseen {
        /// What went wrong, and what was looked at since.
        why: String,
    },
    /// The order never left.
    Unsent {
        /// What went wrong.
        why: String,
    },
}

/// What a person wants of the seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatWish {
    /// That this console takes it.
    Take,
    /// That this console leaves it.
    Leave,
}

/// A wish about the seat, by whom and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatOrder {
    /// What.
    pub wish: SeatWish,
    /// The person.
    pub by: String,
    /// In that person's words.
    pub reason: Option<String>,
    /// One per confirmation.
    pub key: String,
}

/// The newest picture, again and again, as whoever looks has it.
pub type Pictures = watch::Receiver<Picture>;

/// A console's end of a control plane.
pub trait Link: Clone + Send + Sync + 'static {
    /// The newest picture, again and again; the last one stays when the far end is lost.
    fn pictures(&self) -> Pictures;

    /// Gives an order. Never sent twice: the key in it tells the far end's journal from a repetition.
    /// With `planned_at`, the revision of its plan, only if nothing that the plan names has changed since.
    fn order(&self, order: Order, planned_at: Option<Revision>) -> impl Future<Output = Answer> + Send;

    /// Takes or leaves the reconciler's seat for this console. A link without a fallback has none to take.
    fn seat(&self, _order: SeatOrder) -> impl Future<Output = Answer> + Send {
        async { Answer::Refused { sentence: "this console has no fallback".to_owned(), hints: Vec::new() } }
    }

    /// The last results of a machine in a rollout, newest first, or why they cannot be read.
    fn results(
        &self,
        rollout: RolloutId,
        machine: MachineId,
    ) -> impl Future<Output = Result<Vec<ApplyResult>, String>> + Send;

    /// The last links of the audit in front of a revision, oldest first, at most `PAST_READ`, or why they cannot be read.
    /// None = there are none. A far end without an audit has none.
    fn past(&self, _before: Revision) -> impl Future<Output = Result<Vec<Entry>, String>> + Send {
        async { Ok(Vec::new()) }
    }
}
