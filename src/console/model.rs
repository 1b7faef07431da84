//! The model: everything the console knows between two messages.

use jiff::Timestamp;

use super::arming::Arming;
use super::keys::Keymap;
use super::snapshot::Snapshot;

/// What the console is started with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Which keys mean what.
    pub keymap: Keymap,
    /// Glyphs of ASCII only.
    pub ascii: bool,
    /// Verbs cannot be armed (`--read-only`).
    pub read_only: bool,
    /// The person, as orders will name them.
    pub by: String,
    /// Unique to this process; idempotency keys are made of it and a count.
    pub session: String,
    /// Whom it will talk to, before the first picture says so.
    pub endpoint: String,
    /// What time it is.
    pub now: Timestamp,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
}

/// Everything the console knows.
#[derive(Debug, Clone)]
pub struct Model {
    pub(super) setup: Setup,
    pub(super) now: Timestamp,
    pub(super) picture: Option<Box<Snapshot>>,
    pub(super) arming: Arming,
}

impl Model {
    /// A console that knows nothing yet.
    pub fn new(setup: Setup) -> Self {
        let now = setup.now;
        Self { setup, now, picture: None, arming: Arming::default() }
    }

    /// The time of the last `Msg::Clock`.
    pub fn now(&self) -> Timestamp {
        self.now
    }
}
