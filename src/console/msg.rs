//! Everything that can happen to the console. The terminal half sends these, one after the other.

use jiff::Timestamp;

use super::chord::Chord;
use super::keys::Keymap;
use super::snapshot::{RunResult, Snapshot};
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision, RolloutId};

/// One thing that happened.
///
/// The loop sends `Clock` before every batch of others, so that the model always knows the time, and `Drawn` after
/// every frame, so that keys pressed before a dialog was seen are dropped.
#[derive(Debug, Clone)]
pub enum Msg {
    /// What time it is; never goes back.
    Clock(Timestamp),
    /// A key was pressed.
    Key(Chord),
    /// Text was pasted. It goes into a text field or nowhere: a paste never acts.
    Paste(String),
    /// The terminal has this many columns and rows.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// The last frame is on the screen.
    Drawn,
    /// A newer picture, or the same one with another freshness.
    Picture(Box<Snapshot>),
    /// The answer to an order.
    Answer {
        /// The idempotency key of the order.
        key: String,
        /// What the far end said.
        answer: Answer,
    },
    /// The answer to `Effect::LoadResults`.
    Results {
        /// As asked.
        rollout: RolloutId,
        /// As asked.
        machine: MachineId,
        /// Newest first, or why they cannot be read.
        results: Result<Vec<RunResult>, String>,
    },
    /// The answer to `Effect::LoadPast`.
    Past {
        /// As asked.
        before: Revision,
        /// Links of the audit, oldest first, or why they cannot be read.
        links: Result<Vec<Entry>, String>,
    },
    /// A line for the console's own log; warnings and errors are shown in the status line as well.
    Notice(Notice),
    /// The keymap file was read again.
    Keymap(Box<Keymap>),
}

/// The answer to an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Done and recorded.
    Done {
        /// One sentence, such as `pine-workers is paused`.
        sentence: String,
    },
    /// No.
    Refused {
        /// Why, in one sentence.
        sentence: String,
        /// What to do instead.
        hints: Vec<String>,
    },
    /// No: what its plan names has changed since it was planned, so nothing was done.
    Moved {
        /// What moved, in one sentence.
        sentence: String,
    },
    /// It left and no answer came: it may have happened, the journal will tell.
    Unknown {
        /// What went wrong.
        why: String,
    },
    /// It left, no answer came, and there is no journal to ask: what was read afterwards does not show it.
    Unseen {
        /// What went wrong, and what was looked at since.
        why: String,
    },
    /// It never left.
    Unsent {
        /// What went wrong.
        why: String,
    },
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For the log only.
    Note,
    /// Worth a look.
    Warning,
    /// Something of ours does not work.
    Error,
}

/// A line of the console's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// When.
    pub at: Timestamp,
    /// How much it matters.
    pub level: Level,
    /// One sentence.
    pub text: String,
}
