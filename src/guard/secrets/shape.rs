//! Secrets known by a form or a mark: the rows of `tables/shapes.txt`, each a regex and a judge. Not here:
//! forms that need code (`login`, `cookie`, `manifest`).

use std::sync::OnceLock;

use super::charset::Charset;
use super::hit::{Hit, Rank};
use super::judge::{Hint, is_random};
use super::placeholder::is_placeholder;
use super::text::{Text, count};
use super::typed_word::is_typed;
use super::value_statistics::{JUDGED_BYTES_MAX, ValueStatistics};
use crate::prefilter::TableRow;
use crate::rule_regex::RuleRegex;

/// Rows of the table, rounded up.
const SHAPES_MAX: usize = 64;

static REGEXES: [OnceLock<RuleRegex>; SHAPES_MAX] = [const { OnceLock::new() }; SHAPES_MAX];

/// Bytes that a regex reads at first. Nearly all secrets are shorter.
const WINDOW_BYTES: usize = 512;

/// Bytes that it reads of a match that goes on: the longest private keys.
const LONG_WINDOW_BYTES: usize = 16 * 1024;

/// Matches a row, whose mark stands at `mark`.
pub(super) fn found(text: Text<'_>, mark: usize, number: u16, row: &TableRow) -> Option<Hit> {
    let [back, judge, pattern] = row.fields;
    let from = begin(text, mark, back)?;
    let regex = REGEXES.get(usize::from(number))?.get_or_init(|| RuleRegex::new(pattern));
    let end = text.0.len();
    let to = end.min(from + WINDOW_BYTES);
    count(to - from);
    let matched = regex.matched(text.0, from, to)?;
    let secret = matched.group.unwrap_or(matched.whole);
    if !accepts(judge, text.slice(secret.0, secret.1)) {
        return None;
    }
    // Only a secret is read to its end; the pass goes on behind it.
    let is_cut = matched.whole.1 == to && to < end;
    let whole =
        if is_cut { regex.matched(text.0, from, from + LONG_WINDOW_BYTES)? } else { matched };
    let (from, to) = whole.group.unwrap_or(whole.whole);
    Some(Hit { rule: row.name, from, to, rank: Rank::Form })
}

/// Returns where the form begins whose mark stands at `mark`: `word:16!alnum` reads back up to 16 characters
/// of `word`, before which none of `alnum` may stand.
fn begin(text: Text<'_>, mark: usize, back: &str) -> Option<usize> {
    let (back, barred) = back.split_once('!').unwrap_or((back, "none"));
    let from = match back.rsplit_once(':') {
        Some((set, most)) => text.run_back(mark, Charset::named(set), most.parse().ok()?),
        None => mark,
    };
    (!Charset::named(barred).has(text.before(from))).then_some(from)
}

/// Asks the judge of a row.
fn accepts(judge: &str, value: &[u8]) -> bool {
    let make = ValueStatistics::count(value);
    let last = || value.rsplit(|byte| b"._|".contains(byte)).next().unwrap_or_default();
    match judge {
        "clear" => !is_placeholder(value),
        "varied" => make.distinct > 6,
        "digit" => make.digits > 0,
        "drawn" => is_random(last(), Hint::Strong),
        "typed" => is_typed(value, true),
        "vendor" => is_vendor_key(value, last()),
        "hook" => has_code(value) && !is_placeholder(value),
        _ => true,
    }
}

/// Tells whether a key such as `acme_live_…` is random and not the key of a record.
fn is_vendor_key(value: &[u8], body: &[u8]) -> bool {
    let tag = value.get(..value.len() - body.len()).unwrap_or_default();
    let is_of_data = Text(tag).slice(0, tag.len()).ends_with(b"_key_")
        && super::context::is_data_key(Text(tag), tag.len() - "key_".len());
    let is_drawn = is_random(body, Hint::Strong) && ValueStatistics::count(body).digits >= 2;
    is_drawn && !is_of_data && !is_placeholder(body)
}

/// Tells whether one part of an address is a code.
fn has_code(address: &[u8]) -> bool {
    let address = address.get(..2 * JUDGED_BYTES_MAX).unwrap_or(address);
    address.split(|byte| !super::charset::URL.has(*byte)).any(|part| {
        let make = ValueStatistics::count(part);
        part.len() >= 8 && make.digits >= 2 && make.letters() >= 2
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::{TableKind, rows};
    use super::*;

    #[test]
    fn every_shape_has_a_regex_that_compiles_and_a_known_judge() {
        let judges = ["-", "clear", "varied", "digit", "drawn", "typed", "vendor", "hook"];
        for row in rows(TableKind::Shape) {
            assert!(RuleRegex::new(row.fields[2]).is_valid(), "{row:?}");
            assert!(judges.contains(&row.fields[1]), "{row:?}");
        }
        assert!(rows(TableKind::Shape).count() <= SHAPES_MAX);
    }
}
