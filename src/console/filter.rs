//! The filter of a list: `state=failed held>30m !paused text`, all of which must hold.

use jiff::Timestamp;

use super::facts::{LaneFacts, Row, Tier};
use super::spare::Loose;
use super::terms::{Terms, contains};
use crate::domain::rows::RowState;
use crate::domain::span::Seconds;

/// A filter as typed, and what it means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// As typed.
    pub text: String,
    terms: Terms<Test>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    State(RowState),
    Holding,
    Settling,
    Offline,
    Held { longer: bool, than: Seconds },
    Failures { more: bool, than: u32 },
    Environment(String),
    Ring(String),
    Text(String),
}

const STATES: [RowState; 7] = [
    RowState::Paused,
    RowState::Applied,
    RowState::Failed,
    RowState::Errored,
    RowState::Pending,
    RowState::Queued,
    RowState::Waiting,
];

impl Filter {
    /// Reads a filter; the error is one sentence for the person who types.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(Self { text: text.trim().to_owned(), terms: Terms::read(text, test)? })
    }

    /// True where everything passes.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// True where what passes changes by time alone.
    pub fn is_timed(&self) -> bool {
        self.terms.any(|test| matches!(test, Test::Held { .. }))
    }

    /// Does the machine pass?
    pub fn passes(&self, tier: &Tier, lane: &LaneFacts, row: &Row, now: Timestamp) -> bool {
        self.terms.all(|test| test.holds(tier, lane, row, now))
    }

    /// Does a machine that is out of scope pass?
    pub fn passes_loose(&self, machine: &Loose) -> bool {
        self.terms.all(|test| test.holds_loose(machine))
    }
}

fn test(word: &str) -> Result<Test, String> {
    let Some(at) = word.find(['=', '>', '<']) else { return Ok(bare(word)) };
    let (key, sign, value) = (&word[..at], &word[at..=at], &word[at + 1..]);
    match (key, sign) {
        (_, _) if value.is_empty() => Err(format!("what comes after {word}?")),
        ("state", "=") => state(value).map(Test::State).ok_or_else(|| format!("there is no state {value}")),
        ("env" | "environment", "=") => Ok(Test::Environment(value.to_owned())),
        ("ring", "=") => Ok(Test::Ring(value.to_owned())),
        ("held", ">" | "<") => {
            let than = span(value).ok_or_else(|| format!("{value} is no time like 90s, 30m or 1h30m"))?;
            Ok(Test::Held { longer: sign == ">", than })
        }
        ("failures" | "fails", ">" | "<") => {
            let than = value.parse().map_err(|_| format!("{value} is no number"))?;
            Ok(Test::Failures { more: sign == ">", than })
        }
        _ => Err(format!("{key}{sign} is not known: state= env= ring= held> failures>")),
    }
}

fn bare(word: &str) -> Test {
    match word {
        "holding" => Test::Holding,
        "settling" => Test::Settling,
        "offline" => Test::Offline,
        _ => state(word).map_or_else(|| Test::Text(word.to_owned()), Test::State),
    }
}

fn state(word: &str) -> Option<RowState> {
    STATES.into_iter().find(|state| state.word() == word)
}

/// `90s`, `30m`, `1h30m`, `2d`; a bare number is seconds.
pub(super) fn span(text: &str) -> Option<Seconds> {
    let mut total = 0u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let count: u64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].chars().next();
        let seconds = match unit {
            None | Some('s') => 1,
            Some('m') => 60,
            Some('h') => 3_600,
            Some('d') => 86_400,
            Some(_) => return None,
        };
        total = total.checked_add(count.checked_mul(seconds)?)?;
        rest = &rest[digits + unit.map_or(0, char::len_utf8)..];
    }
    Some(Seconds(total))
}

impl Test {
    /// A machine out of scope holds nothing, waits for nothing and has no state but a pause.
    fn holds_loose(&self, machine: &Loose) -> bool {
        let named = |name: &Option<String>, text: &str| name.as_ref().is_some_and(|name| contains(name, text));
        match self {
            Self::State(state) => *state == RowState::Paused && machine.paused.is_some(),
            Self::Offline => machine.is_online == Some(false),
            Self::Environment(slug) => named(&machine.environment, slug),
            Self::Ring(slug) => named(&machine.ring, slug),
            Self::Text(text) => {
                contains(&machine.hostname, text) || named(&machine.environment, text) || named(&machine.ring, text)
            }
            Self::Holding | Self::Settling | Self::Held { .. } => false,
            Self::Failures { more, than } => !*more && *than > 0,
        }
    }

    fn holds(&self, tier: &Tier, lane: &LaneFacts, row: &Row, now: Timestamp) -> bool {
        match self {
            Self::State(state) => row.row.state == *state,
            Self::Holding => row.row.holds_slot,
            Self::Settling => row.row.settles_at.is_some_and(|end| now < end),
            Self::Offline => row.row.is_online == Some(false),
            Self::Held { longer, than } => {
                let held = row.row.held_since.map(|since| Seconds::between(since, now));
                held.is_some_and(|held| if *longer { held > *than } else { held < *than })
            }
            Self::Failures { more, than } => {
                if *more {
                    row.row.failures > *than
                } else {
                    row.row.failures < *than
                }
            }
            Self::Environment(slug) => contains(&tier.slug, slug),
            Self::Ring(slug) => contains(&lane.slug, slug),
            Self::Text(text) => {
                [&row.row.hostname, &lane.slug, &tier.slug].into_iter().any(|name| contains(name, text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_they_are_written() {
        assert_eq!(span("1h30m"), Some(Seconds(5400)));
        assert_eq!(span("90"), Some(Seconds(90)));
        assert_eq!(span("2d"), Some(Seconds(172_800)));
        for nonsense in ["m", "3w", "h1", "99999999999999999999s"] {
            assert_eq!(span(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_filter_that_makes_no_sense_says_why() {
        let why = |text: &str| Filter::parse(text).unwrap_err();
        assert_eq!(why("state=broken"), "there is no state broken");
        assert_eq!(why("held>soon"), "soon is no time like 90s, 30m or 1h30m");
        assert_eq!(why("held>"), "what comes after held>?");
        assert_eq!(why("cpu=9"), "cpu= is not known: state= env= ring= held> failures>");
        assert!(Filter::parse("  ").unwrap().is_empty());
        assert!(Filter::parse("held>30m").unwrap().is_timed());
    }
}
