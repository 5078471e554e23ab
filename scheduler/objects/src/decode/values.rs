//! What the fields of the wire hold: texts, lists and maps that may be `null`.
//!
//! Takes JSON values, gives values that borrow from the text where it has no escapes.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::quantity::QuantityText;

/// A string; empty where it is `null`.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

/// A list; empty where it is `null`.
#[derive(Debug)]
pub(super) struct Items<T>(pub(super) Vec<T>);

/// A map from names to texts, in wire order.
#[derive(Debug, Default)]
pub(super) struct Texts<'a>(pub(super) Vec<(Text<'a>, Text<'a>)>);

/// A `ResourceList`: names and the texts of quantities, in wire order.
#[derive(Debug, Default)]
pub(super) struct Quantities<'a>(pub(super) Vec<(Text<'a>, QuantityValue<'a>)>);

/// The text of a quantity, which the wire may have as a number.
#[derive(Debug)]
pub(super) struct QuantityValue<'a>(pub(super) Cow<'a, str>);

// === impl Text ===

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for QuantityValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityText).map(Self)
    }
}

// === impl Items ===

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct ItemsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ItemsVisitor<T> {
    type Value = Items<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Option<T>>()? {
            items.push(item.unwrap_or_default());
        }
        Ok(Items(items))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Items::default())
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemsVisitor(PhantomData))
    }
}

// === impl Texts, Quantities ===

struct PairsVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for PairsVisitor<V> {
    type Value = Vec<(Text<'de>, V)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(0));
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Texts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_map(PairsVisitor::<Text<'de>>(PhantomData))
            .map(Self)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Quantities<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_map(PairsVisitor::<QuantityValue<'de>>(PhantomData))
            .map(Self)
    }
}
