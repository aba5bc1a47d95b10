//! Values before their name, in sentences: `use … as the password`, `type … when it asks for the password`. Not here: values
//! after it (`binding`).

use super::binding::value_at;
use super::bound_value::{Bond, BoundValue};
use super::text::{Text, count};

/// Bytes of words between a value and its name.
const WORDS_BYTES_MAX: usize = 64;

/// A value before its name: `use … as the password`, `… is the password`.
pub(super) fn used_as(text: Text<'_>, start: usize) -> Option<BoundValue<'_>> {
    let before = text.slice(start.saturating_sub(WORDS_BYTES_MAX), start);
    count(before.len());
    let verbs: [&[u8]; 4] = [b" as ", b" is the ", b" is my ", b" is our "];
    let (place, verb) = verbs.iter().find_map(|verb| {
        Some((before.windows(verb.len()).rposition(|part| part == *verb)?, verb.len()))
    })?;
    let words = before.get(place + verb..)?;
    let is_near = words.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b' ');
    let to = start - before.len() + place;
    let from = text.run_back_while(to, WORDS_BYTES_MAX, |byte| byte > b' ');
    let mut bound = value_at(text, from, Bond::Sentence, b"").filter(|_| is_near)?;
    bound.is_last = true;
    Some(bound)
}

/// A value before its name that somebody is told to type: `type … when it asks for the password`.
pub(super) fn typed_for(text: Text<'_>, start: usize) -> Option<BoundValue<'_>> {
    const ASKS: [&[u8]; 6] = [b"type ", b"enter ", b"typing ", b"entering ", b"answer ", b"try "];
    let from = start.saturating_sub(WORDS_BYTES_MAX);
    let before = text.slice(from, start);
    count(before.len());
    let place = ASKS.iter().find_map(|verb| {
        let place = before.windows(verb.len()).rposition(|part| part == *verb)?;
        Some(from + place + verb.len())
    })?;
    let mut bound = value_at(text, place, Bond::Sentence, b"")?;
    let rest = text.slice(bound.to + usize::from(bound.is_quoted), start);
    let is_clause = [&b" when "[..], b" if ", b" for ", b" at ", b" as ", b" in "]
        .iter()
        .any(|word| rest.starts_with(word));
    let is_near = rest.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b' ');
    bound.is_last = true;
    (is_clause && is_near).then_some(bound)
}
