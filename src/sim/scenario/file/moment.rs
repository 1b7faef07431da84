//! Times as a scenario writes them: `90s`, `15m`, `2h`, `1d`, joined as in `1h30m`, or whole seconds; `-600s` lies before the start.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// The largest distance from the start in either direction, in seconds: a thousand years.
pub const SECONDS_MAX: i64 = 1_000 * 366 * 86_400;

/// Seconds from the start; a span of time where a verb asks for one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub i64);

impl Moment {
    /// The instant it stands for where the scenario starts at `start`.
    pub fn after(self, start: Timestamp) -> Timestamp {
        start.saturating_add(self.span()).unwrap_or(start)
    }

    /// The same as a span.
    pub fn span(self) -> SignedDuration {
        SignedDuration::from_secs(self.0)
    }

    /// The moment of an instant, in whole seconds.
    pub fn of(instant: Timestamp, start: Timestamp) -> Self {
        Self(instant.duration_since(start).as_secs())
    }

    /// Reads one; none where it is written in any other way.
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let seconds =
            if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { joined(digits) };
        seconds.filter(|seconds| *seconds <= SECONDS_MAX).map(|seconds: i64| Self(sign * seconds))
    }
}

/// `1h30m`: numbers with units, at least one.
fn joined(text: &str) -> Option<i64> {
    let (mut sum, mut rest) = (0_i64, text);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let count: i64 = rest.get(..end)?.parse().ok()?;
        let unit = match rest.as_bytes().get(end)? {
            b's' => 1,
            b'm' => 60,
            b'h' => 3_600,
            b'd' => 86_400,
            _ => return None,
        };
        sum = sum.checked_add(count.checked_mul(unit)?)?;
        rest = rest.get(end + 1..)?;
    }
    (!text.is_empty()).then_some(sum)
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.0)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MomentVisitor)
    }
}

struct MomentVisitor;

impl Visitor<'_> for MomentVisitor {
    type Value = Moment;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as 90s, 15m, 1h30m or whole seconds")
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Moment, E> {
        self.visit_str(&seconds.to_string())
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Moment, E> {
        self.visit_str(&seconds.to_string())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Moment, E> {
        Moment::parse(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time after the start (before it where negative), or a span of time.",
            "anyOf": [{ "type": "integer" }, { "type": "string", "pattern": "^-?([0-9]+|([0-9]+[smhd])+)$" }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let seconds = |text: &str| Moment::parse(text).map(|moment| moment.0);
        assert_eq!(
            ["90s", "15m", "2h", "1d", "1h30m", "75", "-600s", "0s"].map(seconds),
            [Some(90), Some(900), Some(7_200), Some(86_400), Some(5_400), Some(75), Some(-600), Some(0)]
        );
        assert!(
            ["", "-", "s", "1", "1x", "1h30", "1.5h", "1 h", "--1s", "99999999999999999999"]
                .iter()
                .all(|text| seconds(text).is_none() || *text == "1")
        );
    }

    #[test]
    fn a_moment_is_an_instant_after_or_before_the_start() {
        let start = Timestamp::from_second(1_000).unwrap();
        assert_eq!(Moment(-600).after(start).as_second(), 400);
        assert_eq!(Moment::of(Moment(61).after(start), start), Moment(61));
    }
}
