//! A scenario file as it is written: values, each with its place and, where it is no text, the way it was spelt.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_yaml::{Location, Spanned};

use super::place::{Fault, Place};

/// The largest scenario file, in bytes.
pub const FILE_MAX: usize = 8 * 1024 * 1024;

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub content: Content,
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Null, a boolean or a number, with its spelling: where a text is asked for, `1.30` is `1.30`.
    Plain(Value, String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in file order.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Where it stands.
    pub place: Place,
    /// What it says.
    pub name: String,
}

impl Node {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if text.len() > FILE_MAX {
            return Err(Fault::at(Place::default(), format!("the file is larger than {FILE_MAX} bytes")));
        }
        let raw: Spanned<Raw> = serde_yaml::from_str(text).map_err(|error| of_yaml(&error))?;
        Ok(Self::of(raw, text))
    }

    /// What a person would call it: the kind of value it is.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Plain(Value::Null, _) => "null",
            Content::Plain(Value::Bool(_), _) => "a boolean",
            Content::Plain(..) => "a number",
            Content::Text(_) => "a text",
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }

    /// The same as JSON.
    pub fn to_json(&self) -> Value {
        match &self.content {
            Content::Plain(value, _) => value.clone(),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Content::Map(pairs) => {
                Value::Object(pairs.iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect())
            }
        }
    }

    /// The text it stands for: a text as it is, a number or boolean as it was spelt.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Plain(value, spelt) if !value.is_null() => Some(spelt),
            _ => None,
        }
    }

    fn of(raw: Spanned<Raw>, text: &str) -> Self {
        let place = place(raw.referenced);
        let content = match raw.value {
            Raw::Plain(value) => {
                let spelt = spelling(raw.defined, text).unwrap_or_else(|| value.to_string());
                Content::Plain(value, spelt)
            }
            Raw::Text(text) => Content::Text(text),
            Raw::List(items) => Content::List(items.into_iter().map(|item| Self::of(item, text)).collect()),
            Raw::Map(pairs) => {
                let key = |key: Spanned<String>| Key { place: self::place(key.referenced), name: key.value };
                Content::Map(pairs.into_iter().map(|(name, item)| (key(name), Self::of(item, text))).collect())
            }
        };
        Self { place, content }
    }
}

fn place(location: Location) -> Place {
    Place { line: location.line(), column: location.column() }
}

fn spelling(location: Location, text: &str) -> Option<String> {
    let (start, length) = (location.span().byte_offset()?, location.span().byte_len()?);
    let (start, length) = (usize::try_from(start).ok()?, usize::try_from(length).ok()?);
    let spelt = text.get(start..start.checked_add(length)?)?.trim();
    (!spelt.is_empty()).then(|| spelt.to_owned())
}

fn of_yaml(error: &serde_yaml::Error) -> Fault {
    let place = error.location().map_or_else(Place::default, place);
    let said = error.without_snippet().to_string();
    let first = said.lines().next().unwrap_or("this is no YAML");
    Fault::at(place, first.rsplit_once(" at line ").map_or(first, |(said, _)| said))
}

/// What the parser of YAML hands over.
enum Raw {
    Plain(Value),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Plain(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Plain(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Plain(Value::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Plain(Value::from(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Plain(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(pair) = pairs.next_entry()? {
            map.push(pair);
        }
        Ok(Raw::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u64, column: u64) -> Place {
        Place { line, column }
    }

    #[test]
    fn every_value_has_its_place_and_numbers_keep_their_spelling() {
        let node = Node::parse("a: 1\nlist: [x, {version: 1.30}]\ntag: 0.10.15\nyes: null\n").unwrap();
        let Content::Map(pairs) = &node.content else { panic!("{node:?}") };
        assert_eq!((&pairs[1].0.name, pairs[1].0.place), (&"list".to_owned(), at(2, 1)));
        let Content::List(items) = &pairs[1].1.content else { panic!("{pairs:?}") };
        assert_eq!(items[0], Node { place: at(2, 8), content: Content::Text("x".to_owned()) });
        let Content::Map(inner) = &items[1].content else { panic!("{items:?}") };
        assert_eq!((items[1].place, inner[0].0.place, inner[0].1.place), (at(2, 11), at(2, 12), at(2, 21)));
        assert_eq!(inner[0].1.as_text(), Some("1.30"));
        assert_eq!(pairs[2].1.as_text(), Some("0.10.15"));
        assert_eq!(pairs[3].1.as_text(), None);
        assert_eq!(node.to_json()["list"][1]["version"], 1.3);
    }

    #[test]
    fn what_is_no_yaml_says_where() {
        let fault = Node::parse("a: 1\nb: [1, 2\nc: 3\n").unwrap_err();
        assert!(fault.place.line >= 2, "{fault}");
        let twice = Node::parse("a: 1\na: 2\n").unwrap_err();
        assert_eq!(twice.place.line, 2, "{twice}");
        assert!(Node::parse("").is_ok(), "an empty file is null");
    }
}
