//! Spans of time in whole seconds: the only unit the rules speak in, and the one way to write them for people.

use std::fmt::{self, Display};

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A non-negative span in whole seconds. Settings that are zero switch their clock off (R1-R4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Seconds(pub u64);

impl Seconds {
    /// From `earlier` to `later`; zero when the clock went backwards, so that no age is ever negative.
    pub fn between(earlier: Timestamp, later: Timestamp) -> Self {
        Self(u64::try_from(later.duration_since(earlier).as_secs()).unwrap_or(0))
    }

    /// True where the setting is switched off.
    pub fn is_off(self) -> bool {
        self.0 == 0
    }

    /// The same span as a duration of the time library.
    pub fn duration(self) -> SignedDuration {
        SignedDuration::from_secs(i64::try_from(self.0).unwrap_or(i64::MAX))
    }

    /// The instant this long after `start`, or the end of time.
    pub fn after(self, start: Timestamp) -> Timestamp {
        start.checked_add(self.duration()).unwrap_or(Timestamp::MAX)
    }

    /// The instant this long before `end`, or the beginning of time.
    pub fn before(self, end: Timestamp) -> Timestamp {
        end.checked_sub(self.duration()).unwrap_or(Timestamp::MIN)
    }
}

impl Display for Seconds {
    /// The two largest units that are not zero: `48s`, `4m 10s`, `1h 30m`, `2d 2h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("d", self.0 / 86_400), ("h", self.0 / 3_600 % 24), ("m", self.0 / 60 % 60), ("s", self.0 % 60)];
        let Some(first) = units.iter().position(|(_, n)| *n > 0) else { return f.pad("0s") };
        let (unit, count) = units[first];
        let text = match units.get(first + 1) {
            Some((small, rest)) if *rest > 0 => format!("{count}{unit} {rest}{small}"),
            _ => format!("{count}{unit}"),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_people_say_them() {
        let written: Vec<String> =
            [0, 48, 60, 250, 5400, 86_399, 180_000].iter().map(|s| Seconds(*s).to_string()).collect();
        assert_eq!(written, ["0s", "48s", "1m", "4m 10s", "1h 30m", "23h 59m", "2d 2h"]);
    }

    #[test]
    fn a_clock_that_went_back_gives_age_zero() {
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(Seconds::between(Seconds(10).after(now), now), Seconds(0));
        assert_eq!(Seconds::between(Seconds(10).before(now), now), Seconds(10));
    }
}
