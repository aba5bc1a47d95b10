//! JSON of other tools, read field by field: what has another type than expected is empty, and never costs the record. Not
//! here: which fields a tool writes (its reader).

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text, a number, a flag or a list of them. An object is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum LooseValue {
    #[default]
    Nothing,
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<Self>),
}

impl LooseValue {
    /// The text; empty if it is none.
    pub(crate) fn text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }

    /// The text, unless it is empty.
    pub(crate) fn some(&self) -> Option<&str> {
        Some(self.text()).filter(|text| !text.is_empty())
    }

    /// The same, owned.
    pub(crate) fn owned(&self) -> Option<String> {
        self.some().map(str::to_owned)
    }

    /// Takes the text out; what is left is nothing.
    pub(crate) fn take_text(&mut self) -> String {
        if let Self::Text(text) = std::mem::take(self) { text } else { String::new() }
    }

    /// Tells whether it is `true`.
    pub(crate) fn is_true(&self) -> bool {
        *self == Self::Flag(true)
    }

    /// The number, if it is one.
    pub(crate) fn number(&self) -> Option<i64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }
}

impl<'de> Deserialize<'de> for LooseValue {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct LooseVisitor;
        impl<'de> Visitor<'de> for LooseVisitor {
            type Value = LooseValue;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("any value")
            }
            fn visit_str<E>(self, text: &str) -> Result<LooseValue, E> {
                Ok(LooseValue::Text(text.to_owned()))
            }
            fn visit_string<E>(self, text: String) -> Result<LooseValue, E> {
                Ok(LooseValue::Text(text))
            }
            fn visit_bool<E>(self, flag: bool) -> Result<LooseValue, E> {
                Ok(LooseValue::Flag(flag))
            }
            fn visit_i64<E>(self, number: i64) -> Result<LooseValue, E> {
                Ok(LooseValue::Number(number))
            }
            fn visit_u64<E>(self, number: u64) -> Result<LooseValue, E> {
                Ok(i64::try_from(number).map_or(LooseValue::Nothing, LooseValue::Number))
            }
            fn visit_f64<E>(self, _: f64) -> Result<LooseValue, E> {
                Ok(LooseValue::Nothing)
            }
            fn visit_unit<E>(self) -> Result<LooseValue, E> {
                Ok(LooseValue::Nothing)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LooseValue, A::Error> {
                IgnoredAny.visit_map(map).map(|_| LooseValue::Nothing)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LooseValue, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(LooseValue::List(values))
            }
        }
        json.deserialize_any(LooseVisitor)
    }
}

/// An object, or a list of objects, or a text; the rest is empty. Tools write a message's content in all three ways.
#[derive(Debug, Clone)]
pub(crate) struct LooseItems<T> {
    /// The text, where it is one.
    pub(crate) text: LooseValue,
    /// The object alone, or those of the list.
    pub(crate) items: Vec<T>,
}

impl<T> Default for LooseItems<T> {
    fn default() -> Self {
        Self { text: LooseValue::Nothing, items: Vec::new() }
    }
}

impl<T: Default> LooseItems<T> {
    /// The first object; an empty one if there is none.
    pub(crate) fn into_first(self) -> T {
        self.items.into_iter().next().unwrap_or_default()
    }
}

impl<T> LooseItems<T> {
    /// The first object.
    pub(crate) fn first(&self) -> Option<&T> {
        self.items.first()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LooseItems<T> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct ShapedVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ShapedVisitor<T> {
            type Value = LooseItems<T>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("any value")
            }
            fn visit_str<E>(self, text: &str) -> Result<LooseItems<T>, E> {
                Ok(LooseItems { text: LooseValue::Text(text.to_owned()), items: Vec::new() })
            }
            fn visit_string<E>(self, text: String) -> Result<LooseItems<T>, E> {
                Ok(LooseItems { text: LooseValue::Text(text), items: Vec::new() })
            }
            fn visit_bool<E>(self, _: bool) -> Result<LooseItems<T>, E> {
                Ok(LooseItems::default())
            }
            fn visit_i64<E>(self, _: i64) -> Result<LooseItems<T>, E> {
                Ok(LooseItems::default())
            }
            fn visit_u64<E>(self, _: u64) -> Result<LooseItems<T>, E> {
                Ok(LooseItems::default())
            }
            fn visit_f64<E>(self, _: f64) -> Result<LooseItems<T>, E> {
                Ok(LooseItems::default())
            }
            fn visit_unit<E>(self) -> Result<LooseItems<T>, E> {
                Ok(LooseItems::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LooseItems<T>, A::Error> {
                let item = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(LooseItems { text: LooseValue::Nothing, items: vec![item] })
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LooseItems<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(LooseItems { items: one, .. }) = list.next_element()? {
                    items.extend(one);
                }
                Ok(LooseItems { text: LooseValue::Nothing, items })
            }
        }
        json.deserialize_any(ShapedVisitor(PhantomData))
    }
}

/// Returns a time in RFC 3339 as milliseconds since 1970.
pub(crate) fn millis_of(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// Tells whether bytes occur in others.
pub(crate) fn has_bytes(within: &[u8], wanted: &[u8]) -> bool {
    within.windows(wanted.len()).any(|window| window == wanted)
}

/// The part of a line in which its kind is looked for before it is parsed. A kind in a message is not that of the line, so
/// the part ends there.
pub(crate) fn head_of(line: &[u8]) -> &[u8] {
    const HEAD_BYTES: usize = 400;
    let head = line.get(..HEAD_BYTES).unwrap_or(line);
    let end = head.windows(10).position(|window| window == b"\"message\":").unwrap_or(head.len());
    head.get(..end).unwrap_or(head)
}

/// Tells whether a line may hold two values. Text with these characters makes it true as well, which only costs time.
pub(crate) fn may_be_glued(line: &[u8]) -> bool {
    has_bytes(line, b"}{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, Default, Debug)]
    #[serde(default)]
    struct Odd {
        a: LooseValue,
        b: LooseItems<Odd>,
    }

    #[test]
    fn another_type_than_expected_is_empty() {
        for (json, a, b) in [
            (r#"{"a":"x","b":[{"a":"y"},5,null,[{"a":"z"}]]}"#, LooseValue::Text("x".into()), 2),
            (r#"{"a":{"x":1},"b":{"a":1}}"#, LooseValue::Nothing, 1),
            (r#"{"a":true,"b":1.5}"#, LooseValue::Flag(true), 0),
            (r#"{"a":-3,"b":false}"#, LooseValue::Number(-3), 0),
            (r#"{"a":null,"b":7}"#, LooseValue::Nothing, 0),
            (
                r#"{"a":[1,"b"],"b":null}"#,
                LooseValue::List(vec![LooseValue::Number(1), LooseValue::Text("b".into())]),
                0,
            ),
            (r#"{"a":18446744073709551615,"b":-1}"#, LooseValue::Nothing, 0),
        ] {
            let odd: Odd = serde_json::from_str(json).unwrap();
            assert_eq!((odd.a, odd.b.items.len()), (a, b), "{json}");
        }
    }

    #[test]
    fn the_head_of_a_line_ends_at_its_message() {
        assert_eq!(head_of(br#"{"type":"a","message":{"type":"b"}}"#), br#"{"type":"a","#);
        assert_eq!(head_of(&[b'x'; 1000]).len(), 400);
        assert!(may_be_glued(br#"{"a":1}{"b":2}"#) && !may_be_glued(br#"{"a":{"b":2}}"#));
    }
}
