//! A mapping whose one word picks a variant and whose other pairs are its fields; and the words a type knows.

use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, VariantAccess, Visitor,
};

use super::node::{Key, Node};
use super::place::Fault;
use super::read::Pairs;

/// A word and the pairs beside it.
pub(super) struct Tagged<'p, 'n> {
    pub(super) word: &'n Node,
    pub(super) arguments: &'p [&'n (Key, Node)],
}

impl<'de> Deserializer<'de> for Tagged<'_, 'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'p, 'de> EnumAccess<'de> for Tagged<'p, 'de> {
    type Error = Fault;
    type Variant = Arguments<'p, 'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Arguments<'p, 'de>), Fault> {
        let name: StrDeserializer<'_, Fault> = self.word.as_text().unwrap_or("").into_deserializer();
        let chosen = seed.deserialize(name).map_err(|fault| fault.or_at(self.word.place))?;
        Ok((chosen, Arguments(self.arguments)))
    }
}

/// The pairs beside the word.
pub(super) struct Arguments<'p, 'n>(&'p [&'n (Key, Node)]);

impl<'de> VariantAccess<'de> for Arguments<'_, 'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.0.first() {
            None => Ok(()),
            Some((key, _)) => {
                Err(Fault::at(key.place, format!("unknown field `{}`, this verb has no arguments", key.name)))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(Pairs(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value, Fault> {
        Err(Fault::custom("arguments have names"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value, Fault> {
        Pairs(self.0).deserialize_any(visitor)
    }
}

/// The words that pick the variants of `T`, taken from where serde keeps them.
pub(super) fn words<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut found: &'static [&'static str] = &[];
    // The probe ends with an error in any case; what it saw on the way is what counts.
    let _ = T::deserialize(Probe(&mut found));
    found
}

struct Probe<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Fault> {
        Err(Fault::custom("nothing to read"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Fault> {
        *self.0 = variants;
        Err(Fault::custom("nothing to read"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
