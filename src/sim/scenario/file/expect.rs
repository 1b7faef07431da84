//! `then` and `never`: what must be seen, and what must not.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::moment::Moment;
use super::place::Placed;

/// When something must be seen: at the end of an instant, or after every commit in a span.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThenTiming {
    /// At the end of this instant.
    #[serde(default)]
    pub at: Option<Moment>,
    /// Or after every commit from here ...
    #[serde(default)]
    pub from: Option<Moment>,
    /// ... until here.
    #[serde(default)]
    pub until: Option<Moment>,
}

/// What is looked at, and what must be true of it. All matchers must hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookGiven {
    /// What is looked at.
    pub view: Placed<String>,
    /// Which part of it, as a JSONPath of RFC 9535; left out = all of it.
    #[serde(default)]
    pub path: Option<Placed<String>>,
    /// The found values, in order.
    #[serde(default)]
    pub equals: Option<Vec<Value>>,
    /// Texts, each a part of at least one found value.
    #[serde(default)]
    pub contains: Option<Vec<String>>,
    /// Texts that are part of none.
    #[serde(default)]
    pub omits: Option<Vec<String>>,
    /// How many values are found.
    #[serde(default)]
    pub count: Option<usize>,
    /// More than this are found.
    #[serde(default)]
    pub count_above: Option<usize>,
    /// Fewer than this are found.
    #[serde(default)]
    pub count_below: Option<usize>,
    /// All found values are numbers, at least one, none lower.
    #[serde(default)]
    pub min: Option<f64>,
    /// All found values are numbers, at least one, none higher.
    #[serde(default)]
    pub max: Option<f64>,
    /// Nothing is found.
    #[serde(default)]
    pub absent: Option<bool>,
}
