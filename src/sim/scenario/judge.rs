//! The judge: keeps what was expected, what was found, and what failed first.

use serde_json::Value;

use super::file::act::Expect;
use super::file::moment::Moment;
use super::file::place::Place;
use super::records::Ended;

/// Values of a failed expectation that are kept.
pub(super) const FOUND_KEPT: usize = 50;

/// What became of one entry of `then` or `never`.
#[derive(Debug, Clone, Default)]
pub(super) struct Case {
    /// How often it was looked at.
    pub(super) looks: u64,
    /// What was found at the last look.
    pub(super) found: Vec<Value>,
    /// The first look at which it failed.
    pub(super) failed: Option<(Moment, Vec<Value>)>,
}

impl Case {
    /// One more look.
    pub(super) fn look(&mut self, at: Moment, mut found: Vec<Value>, ok: bool) {
        found.truncate(FOUND_KEPT);
        self.looks += 1;
        if !ok && self.failed.is_none() {
            self.failed = Some((at, found.clone()));
        }
        self.found = found;
    }
}

/// What became of one `expect`.
#[derive(Debug, Clone)]
pub(super) struct Met {
    pub(super) at: Moment,
    pub(super) place: Place,
    pub(super) verb: String,
    pub(super) wanted: Expect,
    pub(super) ended: Ended,
    pub(super) status: Option<u16>,
    pub(super) why: Option<String>,
}

impl Met {
    /// It ended as it was expected to.
    pub(super) fn is_ok(&self) -> bool {
        matches!((self.wanted, self.ended), (Expect::Ok, Ended::Done) | (Expect::Refused, Ended::Refused))
    }
}

/// Everything that was judged.
#[derive(Debug, Default)]
pub(super) struct Judge {
    pub(super) then: Vec<Case>,
    pub(super) never: Vec<Case>,
    pub(super) met: Vec<Met>,
}
