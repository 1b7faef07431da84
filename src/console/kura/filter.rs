//! The filter of servers: `state=active wait=name region=eu drift !held text`, all of which must hold.

use jiff::Timestamp;

use super::super::filter::span;
use super::super::terms::{Terms, contains};
use super::facts::KuraFacts;
use super::part::Part;
use super::row::{Drift, ServerRow};
use super::words::short;
use crate::domain::span::Seconds;

/// What there is to filter by.
const KEYS: &str = "state= wait= tag= tenant= region= waits> open> superseded> drift edited old held pinned behind";

/// A filter as typed, and what it means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KuraFilter {
    /// As typed.
    pub text: String,
    terms: Terms<Test>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    State(String),
    Wait(String),
    Tag(String),
    Tenant(String),
    Region(String),
    Waits { longer: bool, than: Seconds },
    Open { longer: bool, than: Seconds },
    Superseded { more: bool, than: usize },
    Drift,
    Edited,
    Old,
    Held,
    Pinned,
    Behind,
    Text(String),
}

impl KuraFilter {
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
        self.terms.any(|test| matches!(test, Test::Waits { .. } | Test::Open { .. }))
    }

    /// Does a row pass? What is no server has only its name.
    pub fn passes(&self, facts: &KuraFacts, part: Part, now: Timestamp) -> bool {
        match part {
            Part::Server(id) => facts.servers.get(&id).is_some_and(|row| self.terms.all(|test| test.holds(row, now))),
            other => {
                let name = facts.name(other).unwrap_or_default();
                self.terms.all(|test| matches!(test, Test::Text(text) if contains(name, text)))
            }
        }
    }
}

fn test(word: &str) -> Result<Test, String> {
    let Some(at) = word.find(['=', '>', '<']) else { return Ok(bare(word)) };
    let (key, sign, value) = (&word[..at], &word[at..=at], word[at + 1..].to_owned());
    let time = || span(&value).ok_or_else(|| format!("{value} is no time like 90s, 30m or 1h30m"));
    match (key, sign) {
        (_, _) if value.is_empty() => Err(format!("what comes after {word}?")),
        ("state" | "status", "=") => Ok(Test::State(value)),
        ("wait", "=") => Ok(Test::Wait(value)),
        ("tag", "=") => Ok(Test::Tag(value)),
        ("tenant", "=") => Ok(Test::Tenant(value)),
        ("region", "=") => Ok(Test::Region(value)),
        ("waits", ">" | "<") => Ok(Test::Waits { longer: sign == ">", than: time()? }),
        ("open", ">" | "<") => Ok(Test::Open { longer: sign == ">", than: time()? }),
        ("superseded", ">" | "<") => {
            let than = value.parse().map_err(|_| format!("{value} is no number"))?;
            Ok(Test::Superseded { more: sign == ">", than })
        }
        _ => Err(format!("{key}{sign} is not known: {KEYS}")),
    }
}

fn bare(word: &str) -> Test {
    match word {
        "drift" => Test::Drift,
        "edited" => Test::Edited,
        "old" => Test::Old,
        "held" => Test::Held,
        "pinned" => Test::Pinned,
        "behind" => Test::Behind,
        text => Test::Text(text.to_owned()),
    }
}

impl Test {
    fn holds(&self, row: &ServerRow, now: Timestamp) -> bool {
        let lasts = |since: Option<Timestamp>, longer: bool, than: Seconds| {
            let age = since.map(|since| Seconds::between(since, now));
            age.is_some_and(|age| if longer { age > than } else { age < than })
        };
        let tag = |tag: &Option<String>, text: &str| tag.as_ref().is_some_and(|tag| tag == text);
        match self {
            Self::State(state) => row.status.word().starts_with(state.as_str()),
            Self::Wait(wait) => row.wait.as_ref().is_some_and(|known| {
                short(known.kind).starts_with(wait.as_str()) || known.kind.word().contains(wait.as_str())
            }),
            Self::Tag(text) => {
                tag(&row.current, text) || row.attempt.as_ref().is_some_and(|attempt| attempt.tag == *text)
            }
            Self::Tenant(text) => contains(&row.tenant, text),
            Self::Region(text) => contains(&row.region, text),
            Self::Waits { longer, than } => lasts(row.wait.as_ref().map(|wait| wait.since), *longer, *than),
            Self::Open { longer, than } => lasts(row.open().map(|open| open.at), *longer, *than),
            Self::Superseded { more, than } => {
                if *more {
                    row.superseded > *than
                } else {
                    row.superseded < *than
                }
            }
            Self::Drift => matches!(row.drift, Some(Drift::Drifted | Drift::Missing | Drift::Edited)),
            Self::Edited => row.drift == Some(Drift::Edited),
            Self::Old => row.on_old_image() > 0,
            Self::Held => row.held().is_some(),
            Self::Pinned => !row.pinned().is_empty(),
            Self::Behind => row.left_behind,
            Self::Text(text) => contains(&row.name, text) || row.status.word() == text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_makes_no_sense_says_why() {
        let why = |text: &str| KuraFilter::parse(text).unwrap_err();
        assert_eq!(why("waits>soon"), "soon is no time like 90s, 30m or 1h30m");
        assert_eq!(why("superseded>many"), "many is no number");
        assert_eq!(why("wait="), "what comes after wait=?");
        assert!(why("cpu=9").starts_with("cpu= is not known: state= wait="));
        assert!(KuraFilter::parse(" ").unwrap().is_empty());
        assert!(KuraFilter::parse("open>1h").unwrap().is_timed() && !KuraFilter::parse("drift").unwrap().is_timed());
    }
}
