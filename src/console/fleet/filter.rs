//! The filter of rolls and of nodes: `state=blocked broken !registry text`, all of which must hold.

use super::super::terms::{Terms, contains};
use super::roll_row::RollRow;
use crate::domain::roll::host::{Cordoned, Host};

/// What there is to filter by.
const KEYS: &str = "state= node= and words such as broken proven ours registry vip";

/// A filter as typed, and what it means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FleetFilter {
    /// As typed.
    pub text: String,
    terms: Terms<Test>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    State(String),
    Node(String),
    Text(String),
}

impl FleetFilter {
    /// Reads a filter; the error is one sentence for the person who types.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(Self { text: text.trim().to_owned(), terms: Terms::read(text, test)? })
    }

    /// True where everything passes.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Does a roll pass?
    pub fn passes_roll(&self, row: &RollRow) -> bool {
        self.terms.all(|test| match test {
            Test::State(state) => row.state.word().starts_with(state.as_str()),
            Test::Node(node) => row.order.iter().any(|name| contains(name, node)),
            Test::Text(text) => contains(&row.name, text) || contains(&row.revision, text) || row.state.word() == text,
        })
    }

    /// Does a node pass?
    pub fn passes_host(&self, host: &Host) -> bool {
        let ready = match host.ready {
            Some(true) => "ready",
            Some(false) => "not-ready",
            None => "unseen",
        };
        let is = |text: &str| {
            let cordoned = host.cordoned() != Cordoned::No && text == "cordoned";
            cordoned || text == ready || host.cordoned().word() == text || host.marks().contains(&text)
        };
        let runtime = host.runtime().word().replace(' ', "-");
        self.terms.all(|test| match test {
            Test::State(state) => runtime.starts_with(state.as_str()) || ready.starts_with(state.as_str()),
            Test::Node(text) => contains(&host.name, text),
            Test::Text(text) => contains(&host.name, text) || runtime == *text || is(text),
        })
    }
}

fn test(word: &str) -> Result<Test, String> {
    match word.split_once('=') {
        Some((_, "")) => Err(format!("what comes after {word}?")),
        Some(("state", value)) => Ok(Test::State(value.to_owned())),
        Some(("node", value)) => Ok(Test::Node(value.to_owned())),
        Some((key, _)) => Err(format!("{key}= is not known: {KEYS}")),
        None => Ok(Test::Text(word.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_makes_no_sense_says_why() {
        let why = |text: &str| FleetFilter::parse(text).unwrap_err();
        assert_eq!(why("state="), "what comes after state=?");
        assert!(why("cpu=9").starts_with("cpu= is not known: state= node="));
        assert!(FleetFilter::parse(" ").unwrap().is_empty());
    }
}
