//! Secrets that say by their first characters what they are. Not here: which beginnings there are
//! (`prefixes`), and secrets that are known only by the name before them (`provider`).

use super::alphabet::Alphabet;
use super::hit::{Hit, Rank};
use super::judge::{JUDGED_BYTES_MAX, Make, is_stand_in, says_stand_in};
use super::text::Text;

/// A kind of secret with a beginning of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefixed {
    pub(super) rule: &'static str,
    /// How it begins; three characters at least.
    pub(super) start: &'static str,
    /// What stands after the beginning, and how many bytes of it at least and at most.
    pub(super) body: Alphabet,
    pub(super) least: usize,
    pub(super) most: usize,
}

/// A body whose length has no bound, or one that providers change.
pub(super) const ANY: usize = usize::MAX;

/// Beginnings this long are no accident, so that even a dull body is believed.
const TELLING_START_BYTES: usize = 15;

/// Breaks inside one secret that are stepped over: a terminal 40 columns wide needs as many for the
/// longest keys of fixed length.
const JOINTS_MAX: usize = 8;

/// Looks for a secret of one kind at its beginning. `place` is where the beginning stands.
pub(super) fn found(text: Text<'_>, place: usize, kind: &Prefixed) -> Option<Hit> {
    let body = place + kind.start.len();
    let before = text.before(place);
    // A short beginning is also found in names of files and in base64.
    let is_short = kind.start.len() < 5;
    // Inside a run of its own characters it would be one of many that walk the same run.
    let is_inside = matches!(before, b'-' | b'_') && kind.body.has(before);
    let continues =
        before.is_ascii_alphanumeric() || is_inside || (is_short && matches!(before, b'.' | b'+'));
    if continues || text.slice(place, body) != kind.start.as_bytes() {
        return None;
    }
    let enough = body_end(text, body, kind)?;
    let value = text.slice(body, text.run(enough, kind.body, JUDGED_BYTES_MAX));
    let is_telling = kind.start.len() >= TELLING_START_BYTES;
    let make = Make::of(value);
    let is_dull = make.distinct < 5 || (make.digits < 2 && !make.is_unlike_words(80));
    if (!is_telling && (is_dull || is_stand_in(value))) || says_stand_in(value) {
        return None;
    }
    // Only a secret is walked to its end, behind which the pass goes on.
    let end = text.run(enough, kind.body, usize::MAX);
    // A point or hyphen at the end belongs to the sentence.
    let body = text.slice(body, end);
    let trailing = body.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-' | b',')).count();
    Some(Hit { rule: kind.rule, from: place, to: end - trailing, rank: Rank::Telling })
}

/// Returns where enough of a body ends, over breaks that a terminal or a program put into it; of a
/// kind whose length is known, where the whole body ends.
fn body_end(text: Text<'_>, body: usize, kind: &Prefixed) -> Option<usize> {
    let (mut end, mut length, mut joints) = (body, 0, 0);
    let is_exact = kind.most != ANY;
    let most = if is_exact { kind.most + 1 } else { kind.least };
    loop {
        let part = text.run(end, kind.body, most - length);
        length += part - end;
        end = part;
        if length >= kind.least {
            let goes_on = is_exact && (length > kind.most || text.at(end).is_ascii_alphanumeric());
            return (!goes_on).then_some(end);
        }
        if length == 0 || joints == JOINTS_MAX {
            return None;
        }
        joints += 1;
        end = joint_end(text, end)?;
    }
}

/// Returns the end of a break inside a string: a line break and what indents the next line, or a
/// closing quote, `+`, and an opening one.
pub(super) fn joint_end(text: Text<'_>, place: usize) -> Option<usize> {
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let quote = text.at(place);
    if matches!(quote, b'"' | b'\'' | b'`') {
        let operator = text.run_while(place + 1, 32, is_blank);
        let next = text.run_while(operator, 2, |byte| matches!(byte, b'+' | b'.' | b'&' | b'\\'));
        let opening = text.run_while(next, 32, is_blank);
        let joined = opening > place + 1 && matches!(text.at(opening), b'"' | b'\'' | b'`');
        return joined.then_some(opening + 1);
    }
    let line = text.run_while(place, 2, |byte| matches!(byte, b'\\' | b'\r'));
    (text.at(line) == b'\n').then(|| text.run_while(line, 32, is_blank))
}
