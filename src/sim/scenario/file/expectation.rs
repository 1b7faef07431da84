//! Expectations as they are read: a view, a path, matchers, and when they must hold.

use serde_json::{Map, Value, json};
use serde_json_path::JsonPath;

use super::expect::{LookGiven, ThenTiming};
use super::moment::Moment;
use super::node::Node;
use super::place::{Fault, Place};
use super::read::read_pairs;
use super::view::View;

/// When something must be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hour {
    /// At the end of an instant.
    At(Moment),
    /// After every commit in a span.
    Span(Moment, Moment),
}

/// Something that must be seen.
#[derive(Debug, Clone)]
pub struct Then {
    /// When.
    pub hour: Hour,
    /// What.
    pub look: Look,
}

/// Something that must not be seen.
#[derive(Debug, Clone)]
pub struct Never {
    /// What.
    pub look: Look,
}

/// A part of a view, and what is true of it.
#[derive(Debug, Clone)]
pub struct Look {
    /// Where it is written.
    pub place: Place,
    /// The view as it is written.
    pub name: String,
    /// The view.
    pub view: View,
    /// The path as it is written.
    pub written: String,
    /// The path.
    pub path: JsonPath,
    /// All must hold.
    pub matchers: Vec<Matcher>,
}

/// One thing that is true of the found values.
#[derive(Debug, Clone, PartialEq)]
pub enum Matcher {
    /// They are these, in order.
    Equals(Vec<Value>),
    /// Each text is part of at least one.
    Contains(Vec<String>),
    /// No text is part of any.
    Omits(Vec<String>),
    /// There are so many.
    Count(usize),
    /// There are more.
    CountAbove(usize),
    /// There are fewer.
    CountBelow(usize),
    /// All are numbers, at least one, none lower.
    Min(f64),
    /// All are numbers, at least one, none higher.
    Max(f64),
    /// There is none (true), or there is one (false).
    Absent(bool),
}

const TIMING: [&str; 3] = ["at", "from", "until"];

impl Then {
    /// Reads an entry of `then`.
    pub fn read(node: &Node) -> Result<Self, Fault> {
        let is_timing = |key: &str| TIMING.contains(&key);
        let (timing, look): (Vec<_>, Vec<_>) = node.pairs()?.iter().partition(|(key, _)| is_timing(&key.name));
        let hour = hour(read_pairs(node.place, &timing)?, node.place)?;
        Ok(Self { hour, look: Look::of(read_pairs(node.place, &look)?, node.place)? })
    }

    /// The last instant it names.
    pub fn end(&self) -> Moment {
        match self.hour {
            Hour::At(at) | Hour::Span(_, at) => at,
        }
    }
}

impl Never {
    /// Reads an entry of `never`.
    pub fn read(node: &Node) -> Result<Self, Fault> {
        let pairs: Vec<_> = node.pairs()?.iter().collect();
        Ok(Self { look: Look::of(read_pairs(node.place, &pairs)?, node.place)? })
    }
}

fn hour(timing: ThenTiming, place: Place) -> Result<Hour, Fault> {
    let hour = match (timing.at, timing.from, timing.until) {
        (Some(at), None, None) => Hour::At(at),
        (None, Some(from), Some(until)) if from <= until => Hour::Span(from, until),
        (None, Some(_), Some(_)) => return Err(Fault::at(place, "`until` lies before `from`")),
        (None, None, None) => return Err(Fault::at(place, "missing field `at` (or `from` and `until`)")),
        _ => return Err(Fault::at(place, "either `at`, or both `from` and `until`")),
    };
    match hour {
        Hour::At(from) | Hour::Span(from, _) if from < Moment(0) => Err(Fault::at(place, "it lies before the start")),
        hour => Ok(hour),
    }
}

impl Look {
    fn of(given: LookGiven, place: Place) -> Result<Self, Fault> {
        let view = View::read(&given.view)?;
        let (written, at) = given.path.as_ref().map_or(("$", place), |path| (path.value.as_str(), path.place));
        let path = JsonPath::parse(written).map_err(|error| {
            let column = error.position();
            Fault::at(at, format!("this is no JSONPath: {} (after {column} characters)", error.message()))
        })?;
        let matchers = matchers(&given);
        if matchers.is_empty() {
            return Err(Fault::at(
                place,
                "nothing is expected: give equals, contains, omits, count, min, max or absent",
            ));
        }
        Ok(Self { place, name: given.view.value, view, written: written.to_owned(), path, matchers })
    }

    /// What was wanted, as it is written in the file.
    pub fn wanted(&self) -> Value {
        let mut wanted = Map::new();
        for matcher in &self.matchers {
            let (name, value) = match matcher {
                Matcher::Equals(values) => ("equals", json!(values)),
                Matcher::Contains(texts) => ("contains", json!(texts)),
                Matcher::Omits(texts) => ("omits", json!(texts)),
                Matcher::Count(count) => ("count", json!(count)),
                Matcher::CountAbove(count) => ("count_above", json!(count)),
                Matcher::CountBelow(count) => ("count_below", json!(count)),
                Matcher::Min(limit) => ("min", json!(limit)),
                Matcher::Max(limit) => ("max", json!(limit)),
                Matcher::Absent(absent) => ("absent", json!(absent)),
            };
            wanted.insert(name.to_owned(), value);
        }
        Value::Object(wanted)
    }
}

fn matchers(given: &LookGiven) -> Vec<Matcher> {
    let listed = [
        given.equals.clone().map(Matcher::Equals),
        given.contains.clone().map(Matcher::Contains),
        given.omits.clone().map(Matcher::Omits),
        given.count.map(Matcher::Count),
        given.count_above.map(Matcher::CountAbove),
        given.count_below.map(Matcher::CountBelow),
        given.min.map(Matcher::Min),
        given.max.map(Matcher::Max),
        given.absent.map(Matcher::Absent),
    ];
    listed.into_iter().flatten().collect()
}
