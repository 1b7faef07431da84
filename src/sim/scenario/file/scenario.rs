//! A whole scenario file.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::act::Act;
use super::expectation::{Never, Then};
use super::given::Given;
use super::node::Node;
use super::place::{Fault, Placed};
use super::read::{read, read_pairs};

/// What a scenario is called and how its time runs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Heading {
    /// Its name.
    pub scenario: String,
    /// Rules it proves.
    #[serde(default)]
    pub basis: Vec<String>,
    /// Its virtual start; 2026-01-01T00:00:00Z where it is left out.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub start: Option<Placed<Timestamp>>,
    /// Picks every choice.
    #[serde(default = "one")]
    pub seed: u64,
    /// Automatic ticks at N, 2N, ... seconds; 0 = none.
    #[serde(default = "sixty")]
    pub tick_seconds: u64,
}

fn one() -> u64 {
    1
}

fn sixty() -> u64 {
    60
}

/// Where time begins unless a file says otherwise.
const START: &str = "2026-01-01T00:00:00Z";

/// A scenario.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Name, basis, time.
    pub heading: Heading,
    /// The world at the start.
    pub given: Given,
    /// What happens, in file order.
    pub when: Vec<Act>,
    /// What must be seen.
    pub then: Vec<Then>,
    /// What must not.
    pub never: Vec<Never>,
}

/// Keys whose values have readers of their own.
const PARTS: [&str; 4] = ["given", "when", "then", "never"];

impl Scenario {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let root = Node::parse(text)?;
        let pairs = root.pairs()?;
        let (parts, heading): (Vec<_>, Vec<_>) = pairs.iter().partition(|(key, _)| PARTS.contains(&key.name.as_str()));
        let heading = read_pairs(root.place, &heading)?;
        let part = |name: &str| parts.iter().find(|(key, _)| key.name == name).map(|(_, node)| node);
        Ok(Self {
            heading,
            given: part("given").filter(|given| !given.is_null()).map(read).transpose()?.unwrap_or_default(),
            when: each(part("when"), Act::read)?,
            then: each(part("then"), Then::read)?,
            never: each(part("never"), Never::read)?,
        })
    }

    /// The instant its time begins at.
    pub fn start(&self) -> Timestamp {
        let usual = || START.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        self.heading.start.as_ref().map_or_else(usual, |start| start.value)
    }
}

fn each<T>(list: Option<&Node>, read: impl Fn(&Node) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    let list = list.filter(|list| !list.is_null());
    list.map_or(Ok(Vec::new()), |list| list.items()?.iter().map(read).collect())
}
