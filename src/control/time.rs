//! Steps on the line of time that never fall off its ends.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The moment `span` after `at`, or the end of time.
pub(super) fn later(at: Timestamp, span: Duration) -> Timestamp {
    SignedDuration::try_from(span).ok().and_then(|span| at.checked_add(span).ok()).unwrap_or(Timestamp::MAX)
}

/// From `now` to `end`; zero where that has passed.
pub(super) fn until(end: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(end.duration_since(now)).unwrap_or_default()
}
