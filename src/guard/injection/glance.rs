//! One pass over a text that tells which closer looks may find anything. Nearly all texts need none of them, and
//! hundreds of marks, words and commands need not be looked for one by one. Not here: what any of them means.

use std::sync::LazyLock;

use super::foreign;
use super::{carrier, download, marker};

/// A closer look that is worth taking only where one of its signs stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// `marker::found`
    Mark,
    /// `download::found`
    Download,
    /// `carrier::found`
    Leak,
    /// `foreign::found`
    Order,
    /// `carrier::carried`, for words that are turned or stand backwards.
    Turned,
}

/// What the pass saw.
pub(super) struct Glance {
    /// The text in lower case, for whoever looks closer.
    pub lower: String,
    seen: u8,
}

impl Glance {
    pub(super) fn at(text: &str) -> Self {
        let lower = text.to_lowercase();
        let mut seen = 0;
        let bytes = lower.as_bytes();
        for (at, first) in bytes.windows(KEY_BYTES).enumerate() {
            let signs = SIGNS.beginning_with(first);
            if !signs.is_empty() {
                let rest = bytes.get(at..).unwrap_or_default();
                let there = signs.iter().filter(|(sign, _)| rest.starts_with(sign));
                seen |= there.fold(0, |seen, (_, look)| seen | bit(*look));
            }
        }
        Self { lower, seen }
    }

    /// Tells whether a closer look may find anything.
    pub(super) fn saw(&self, look: Look) -> bool {
        self.seen & bit(look) != 0
    }
}

fn bit(look: Look) -> u8 {
    1 << look as u8
}

/// So many first bytes of a sign are its key; none is shorter.
const KEY_BYTES: usize = 3;

/// As many lists as keeps nearly all of them empty: there are some three hundred signs.
const LISTS_BITS: u32 = 12;

/// The signs of all looks, by a hash of their first bytes: list `n` is what stands from `starts[n]` to
/// `starts[n + 1]`.
struct Signs {
    starts: Vec<u16>,
    signs: Vec<(&'static [u8], Look)>,
}

static SIGNS: LazyLock<Signs> = LazyLock::new(|| {
    let mut signs: Vec<(&'static [u8], Look)> = all().collect();
    signs.sort_by_key(|(sign, _)| list_of(sign));
    let lists = 0..=1_usize << LISTS_BITS;
    let start = |list| signs.partition_point(|(sign, _)| list_of(sign) < list);
    let starts = lists.map(|list| u16::try_from(start(list)).unwrap_or(u16::MAX)).collect();
    Signs { starts, signs }
});

impl Signs {
    fn beginning_with(&self, first: &[u8]) -> &[(&'static [u8], Look)] {
        let list = list_of(first);
        match self.starts.get(list..list + 2) {
            Some([start, end]) if start < end => {
                self.signs.get(usize::from(*start)..usize::from(*end)).unwrap_or_default()
            }
            _ => &[],
        }
    }
}

/// A multiplicative hash (Knuth) of the first bytes.
fn list_of(text: &[u8]) -> usize {
    let [a, b, c] = text.first_chunk::<KEY_BYTES>().copied().unwrap_or_default();
    let hash = u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9E37_79B1);
    usize::try_from(hash >> (u32::BITS - LISTS_BITS)).unwrap_or_default()
}

/// Every sign: without one of a look's, that look finds nothing.
fn all() -> impl Iterator<Item = (&'static [u8], Look)> {
    let of = |look: Look| move |sign: &'static str| (sign.as_bytes(), look);
    let beginnings = foreign::orders().filter_map(|(_, parts)| parts.first());
    let beginnings = beginnings.flat_map(|part| part.split('|'));
    let marks = marker::signs().map(|sign| (sign, Look::Mark));
    marks
        .chain(download::SIGNS.iter().copied().flatten().copied().map(of(Look::Download)))
        .chain(carrier::SIGNS.iter().copied().flatten().copied().map(of(Look::Leak)))
        .chain(carrier::TURNED.iter().copied().flatten().copied().map(of(Look::Turned)))
        .chain(beginnings.map(of(Look::Order)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::carrier;
    use super::*;

    #[test]
    fn every_sign_has_a_key_and_is_seen_wherever_it_stands() {
        for (sign, look) in all() {
            assert!(sign.len() >= KEY_BYTES, "{sign:?}");
            // The tags are characters cut short.
            let Ok(sign) = std::str::from_utf8(sign) else { continue };
            // Other letters may come back as another: a Turkish ı as i.
            let loud = sign.to_ascii_uppercase();
            for text in [sign.to_owned(), format!("xä{sign}"), format!("{loud} .")] {
                assert!(Glance::at(&text).saw(look), "{text:?}");
            }
        }
        assert_eq!(Glance::at("Run cargo fmt before the commit; `npm ci` first.").seen, 0);
    }

    /// Texts made of what all looks look for, so that they find something often.
    fn suspicious() -> impl Strategy<Value = String> {
        let mut pieces: Vec<String> = all()
            .filter_map(|(sign, _)| std::str::from_utf8(sign).ok().map(str::to_owned))
            .collect();
        let later =
            foreign::orders().flat_map(|(_, parts)| parts.iter()).flat_map(|part| part.split('|'));
        pieces.extend(later.map(str::to_owned));
        pieces.extend(carrier::AT_HOME.map(str::to_owned));
        let more = [
            " ",
            "\n",
            "://x.y/",
            "| sh",
            "$(",
            "`",
            "assistant:",
            "?d={",
            ")",
            "token",
            "K",
            "İ",
            "ß",
            "\\\n",
            "\u{E0041}\u{E0042}\u{E0043}\u{E0044}\u{E0045}\u{E0046}\u{E0047}\u{E0048}",
            "exec(",
            "bash ",
            "iex",
            "]",
            "is",
            "not",
            "x",
        ];
        pieces.extend(more.map(str::to_owned));
        let piece = prop_oneof![4 => prop::sample::select(pieces), 1 => "\\PC{0,6}"];
        let shout = prop::bool::weighted(0.2);
        prop::collection::vec((piece, shout), 0..12).prop_map(|pieces| {
            let written = |(piece, is_loud): (String, bool)| {
                if is_loud { piece.to_uppercase() } else { piece }
            };
            pieces.into_iter().map(written).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// What is not looked for would not have been found.
        #[test]
        fn without_a_sign_a_closer_look_finds_nothing(text in suspicious()) {
            let glance = Glance::at(&text);
            let lower = &glance.lower;
            for (look, found) in [
                (Look::Mark, marker::found(&text).is_some()),
                (Look::Download, download::found(&text).is_some()),
                (Look::Leak, carrier::found(lower).is_some()),
                (Look::Order, foreign::found(lower).is_some()),
                (Look::Turned, !carrier::turned_texts(lower).is_empty()),
            ] {
                prop_assert!(glance.saw(look) || !found, "{look:?}: {text:?}");
            }
        }
    }
}
