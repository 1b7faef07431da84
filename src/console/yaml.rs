//! A mapping as it is written: keys with their places, in file order, so that a linter can point at them.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_yaml::Spanned;

/// Keys and values of a mapping, in file order. A key that is written twice is a fault the parser reports.
#[derive(Debug, Clone)]
pub(super) struct Pairs<V>(pub(super) Vec<(Spanned<String>, V)>);

impl<V> Default for Pairs<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Collector(PhantomData))
    }
}

struct Collector<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Collector<V> {
    type Value = Pairs<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
