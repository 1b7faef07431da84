//! Where in a scenario file something stands, and what is wrong there.

use std::fmt;

use super::hint::meant;
use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

/// Line and column, both from 1; 0 = the file as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// From 1.
    pub line: u64,
    /// From 1.
    pub column: u64,
}

/// A fault of a scenario file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Fault {
    /// A fault at a place.
    pub fn at(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into() }
    }

    /// The same, at `place` if it has none yet.
    #[must_use]
    pub(super) fn or_at(self, place: Place) -> Self {
        if self.place == Place::default() { Self { place, ..self } } else { self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.line {
            0 => f.write_str(&self.message),
            line => write!(f, "{line}:{}: {}", self.place.column, self.message),
        }
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { place: Place::default(), message: message.to_string() }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format!("unknown field `{field}`, {}{}", listed(expected), meant(field, expected)))
    }

    fn unknown_variant(word: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format!("unknown variant `{word}`, {}{}", listed(expected), meant(word, expected)))
    }
}

/// What would be right.
fn listed(expected: &[&str]) -> String {
    let words: Vec<String> = expected.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => "nothing is known here".to_owned(),
        Some((only, [])) => format!("expected {only}"),
        Some((last, others)) => format!("expected {} or {last}", others.join(", ")),
    }
}

/// Name by which a `Placed` makes itself known to the reader of nodes.
pub(super) const PLACED: &str = "$kura::Placed";

/// A value with the place it was written at. Only the reader of scenario files can fill one.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed<T> {
    /// Where.
    pub place: Place,
    /// What.
    pub value: T,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(PLACED, PlacedVisitor(std::marker::PhantomData))
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Placed<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }
}

struct PlacedVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PlacedVisitor<T> {
    type Value = Placed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a scenario file")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Placed<T>, A::Error> {
        let missing = || A::Error::custom("a value has no place");
        let line = parts.next_element()?.ok_or_else(missing)?;
        let column = parts.next_element()?.ok_or_else(missing)?;
        let value = parts.next_element()?.ok_or_else(missing)?;
        Ok(Placed { place: Place { line, column }, value })
    }
}
