//! Arming: the console starts read-only; a person arms it for a time and with a reason, and it disarms by itself.

use jiff::Timestamp;

use crate::domain::span::Seconds;

/// How long verbs stay armed.
pub const ARMED_FOR: Seconds = Seconds(600);

/// Proof that the console was armed when an order was made. Only `Arming::proof` makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Armed(());

/// Whether verbs are armed, until when and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arming(Option<Window>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Window {
    until: Timestamp,
    reason: String,
}

impl Arming {
    /// Armed from `now` for `ARMED_FOR`.
    pub fn from(now: Timestamp, reason: &str) -> Self {
        Self(Some(Window { until: ARMED_FOR.after(now), reason: reason.to_owned() }))
    }

    /// Until when, if it is armed at `now`.
    pub fn until(&self, now: Timestamp) -> Option<Timestamp> {
        self.0.as_ref().map(|w| w.until).filter(|until| now < *until)
    }

    /// Why, if it is armed at `now`.
    pub fn reason(&self, now: Timestamp) -> Option<&str> {
        self.0.as_ref().filter(|w| now < w.until).map(|w| w.reason.as_str())
    }

    /// The proof an order needs; none once the time is over.
    pub fn proof(&self, now: Timestamp) -> Option<Armed> {
        self.until(now).map(|_| Armed(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_disarms_by_itself() {
        let start = Timestamp::UNIX_EPOCH;
        let arming = Arming::from(start, "drain test");
        let last = Seconds(599).after(start);
        assert!(arming.proof(last).is_some());
        assert_eq!(arming.reason(last), Some("drain test"));
        let end = ARMED_FOR.after(start);
        assert!(arming.proof(end).is_none());
        assert_eq!(arming.reason(end), None);
        assert!(Arming::default().proof(start).is_none());
    }
}
