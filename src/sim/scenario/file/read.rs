//! Reads nodes into types. Whatever does not fit is reported at the place of the value, or of the key, to blame.

use serde::de::value::{StrDeserializer, U64Deserializer};
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde_json::Value;

use super::name::NAMED;
use super::node::{Content, Key, Node};
use super::place::{Fault, PLACED, Place};

/// Reads a node as a `T`.
pub fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Fault> {
    T::deserialize(node).map_err(|fault| fault.or_at(node.place))
}

/// Reads some pairs of a mapping that stands at `place` as a `T`.
pub fn read_pairs<'n, T: Deserialize<'n>>(place: Place, pairs: &[&'n (Key, Node)]) -> Result<T, Fault> {
    T::deserialize(Pairs(pairs)).map_err(|fault| fault.or_at(place))
}

impl Node {
    /// Its pairs, if it is a mapping.
    pub fn pairs(&self) -> Result<&[(Key, Node)], Fault> {
        match &self.content {
            Content::Map(pairs) => Ok(pairs),
            _ => Err(Fault::at(self.place, format!("expected a mapping, found {}", self.kind()))),
        }
    }

    /// Its items, if it is a list.
    pub fn items(&self) -> Result<&[Node], Fault> {
        match &self.content {
            Content::List(items) => Ok(items),
            _ => Err(Fault::at(self.place, format!("expected a list, found {}", self.kind()))),
        }
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match &self.content {
            Content::Plain(Value::Null, _) => Unexpected::Unit,
            Content::Plain(Value::Bool(value), _) => Unexpected::Bool(*value),
            Content::Plain(_, spelt) => Unexpected::Other(spelt),
            Content::Text(text) => Unexpected::Str(text),
            Content::List(_) => Unexpected::Seq,
            Content::Map(_) => Unexpected::Map,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Plain(Value::Null, _))
    }

    fn visit<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, Fault> {
        match &self.content {
            Content::Plain(Value::Bool(value), _) => visitor.visit_bool(*value),
            Content::Plain(Value::Number(number), _) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => visitor.visit_u64(value),
                (None, Some(value)) => visitor.visit_i64(value),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Content::Plain(..) => visitor.visit_unit(),
            Content::Text(text) => visitor.visit_str(text),
            Content::List(items) => visitor.visit_seq(Items(items.iter())),
            Content::Map(pairs) => visitor.visit_map(Entries { rest: pairs.iter(), value: None }),
        }
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(visitor).map_err(|fault| fault.or_at(self.place))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.as_text() {
            Some(text) => visitor.visit_str(text),
            None => Err(Fault::invalid_type(self.unexpected(), &visitor)),
        }
        .map_err(|fault| fault.or_at(self.place))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.as_text() {
            Some(_) => visitor.visit_enum(Word(self)),
            None => Err(Fault::invalid_type(self.unexpected(), &visitor)),
        }
        .map_err(|fault| fault.or_at(self.place))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Fault> {
        match name {
            PLACED => visitor.visit_seq(WithPlace { node: self, part: 0 }),
            NAMED => match self.as_text() {
                Some(text) => visitor.visit_str(text),
                None => visitor.visit_newtype_struct(self),
            },
            _ => visitor.visit_newtype_struct(self),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct ignored_any
    }
}

/// A list.
struct Items<'n>(std::slice::Iter<'n, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(node) = self.0.next() else { return Ok(None) };
        seed.deserialize(node).map(Some).map_err(|fault| fault.or_at(node.place))
    }
}

/// A mapping whose pairs were picked.
pub(super) struct Pairs<'p, 'n>(pub(super) &'p [&'n (Key, Node)]);

impl<'de> Deserializer<'de> for Pairs<'_, 'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_map(Entries { rest: self.0.iter().copied(), value: None })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The pairs of a mapping, one after the other.
struct Entries<'n, I> {
    rest: I,
    value: Option<&'n Node>,
}

impl<'de, I: Iterator<Item = &'de (Key, Node)>> MapAccess<'de> for Entries<'de, I> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, node)) = self.rest.next() else { return Ok(None) };
        self.value = Some(node);
        let name: StrDeserializer<'_, Fault> = key.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|fault| fault.or_at(key.place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let node = self.value.take().ok_or_else(|| Fault::custom("a value was read before its key"))?;
        seed.deserialize(node).map_err(|fault| fault.or_at(node.place))
    }
}

/// A word that picks a variant without content.
struct Word<'n>(&'n Node);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let name: StrDeserializer<'_, Fault> = self.0.as_text().unwrap_or("").into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value, Fault> {
        Err(Fault::custom("this word stands alone"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value, Fault> {
        Err(Fault::custom("this word stands alone"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], _visitor: V) -> Result<V::Value, Fault> {
        Err(Fault::custom("this word stands alone"))
    }
}

/// Line, column and value of a `Placed`.
struct WithPlace<'n> {
    node: &'n Node,
    part: u8,
}

impl<'de> SeqAccess<'de> for WithPlace<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        self.part += 1;
        let number = |n: u64| -> U64Deserializer<Fault> { n.into_deserializer() };
        match self.part {
            1 => seed.deserialize(number(self.node.place.line)).map(Some),
            2 => seed.deserialize(number(self.node.place.column)).map(Some),
            3 => seed.deserialize(self.node).map(Some),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Placed;
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        name: Option<String>,
        #[serde(default)]
        inner: Vec<Placed<Inner>>,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        count: u8,
        #[serde(default)]
        kind: Kind,
    }

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        #[default]
        Small,
        Large,
    }

    fn of(text: &str) -> Result<Outer, String> {
        read(&Node::parse(text).unwrap()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn types_are_filled_and_texts_may_look_like_numbers() {
        let outer = of("name: 1.30\ninner:\n  - {count: 2, kind: large}\n").unwrap();
        let inner = Placed { place: Place { line: 3, column: 5 }, value: Inner { count: 2, kind: Kind::Large } };
        assert_eq!(outer, Outer { name: Some("1.30".to_owned()), inner: vec![inner] });
        assert_eq!(of("{name: null}").unwrap().name, None);
    }

    #[test]
    fn the_key_or_the_value_to_blame_is_pointed_at() {
        let unknown = of("inner:\n  - count: 2\n    cuont: 3\n").unwrap_err();
        assert!(unknown.starts_with("3:5: unknown field `cuont`, expected"), "{unknown}");
        let range = of("inner: [{count: 300}]").unwrap_err();
        assert!(range.starts_with("1:17: ") && range.contains("300"), "{range}");
        let word = of("inner: [{count: 1, kind: huge}]").unwrap_err();
        assert!(word.starts_with("1:26: unknown variant `huge`"), "{word}");
        let missing = of("inner:\n  - {kind: large}\n").unwrap_err();
        assert_eq!(missing, "2:5: missing field `count`");
        let kind = of("name: [1]").unwrap_err();
        assert!(kind.starts_with("1:7: invalid type: sequence"), "{kind}");
    }
}
