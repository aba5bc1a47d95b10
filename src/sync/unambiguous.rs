//! Whether every reader understands a line of JSON in the same way: strict JSON in which no name occurs twice. Of a name that
//! occurs twice, readers keep the last value, so the first one would leave the machine unseen. Not here: what a line means (`event`).

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Tells whether a text is JSON in which no object has a name twice.
pub(crate) fn is_unambiguous(text: &str) -> bool {
    serde_json::from_str::<UniqueNames>(text).is_ok()
}

struct UniqueNames;

impl<'de> Deserialize<'de> for UniqueNames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for UniqueNames {
    type Value = Self;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON in which no name occurs twice")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            if !names.insert(name) {
                return Err(A::Error::custom("a name occurs twice"));
            }
            fields.next_value::<Self>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-2
    #[test]
    fn a_name_that_occurs_twice_is_noticed_at_any_depth() {
        for (text, expected) in [
            (r#"{"a":1,"b":[1.5,null,true,"x",-1,{"a":2}]}"#, true),
            (r#"{"a":1,"a":2}"#, false),
            (r#"{"a":1,"\u0061":2}"#, false),
            (r#"{"b":[{"c":{"d":1,"d":1}}]}"#, false),
            (r#"{"a":"\ud83d"}"#, false),
            ("\u{FEFF}{}", false),
            ("{", false),
        ] {
            assert_eq!(is_unambiguous(text), expected, "{text}");
        }
    }
}
