//! The tables of phrases: orders to a reader (`tables/phrases.txt`) and signs of faked checks
//! (`tables/signals.txt`). Not here: how phrases are found in a text (`phrases`).

use super::reason::Suspicion;

const PHRASES: &str = include_str!("tables/phrases.txt");
const SIGNALS: &str = include_str!("tables/signals.txt");

/// Which texts a phrase is looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextScope {
    /// Every text of an event.
    Any,
    /// Every text of an event but a short one about what a program tells its users.
    AllButNotices,
    /// A lesson so short that the phrase is all there is to it.
    Short,
    /// A short lesson, but one about the mail that a program sends.
    ShortButMail,
    /// A short lesson without technical words and without a reason.
    Plain,
    /// A plain lesson without the words of a trade that software is made for: what remains is a topic.
    Topic,
    /// A plain lesson of so few words that there is no room to teach anything.
    Bare,
}

/// What a phrase means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A reason by itself.
    Reason(Suspicion, TextScope),
    /// A sign of faked checks, with its weight.
    Signal(u32),
}

/// Returns every phrase of the tables with its meaning.
pub(super) fn all() -> impl Iterator<Item = (&'static str, Meaning)> {
    let mut heading = None;
    let reasons = rows(PHRASES).filter_map(move |row| match row.strip_prefix('[') {
        Some(words) => {
            heading = reason(words.trim_end_matches(']'));
            None
        }
        None => Some((row, heading?)),
    });
    let signals = rows(SIGNALS).filter_map(|row| row.split_once(' '));
    reasons
        .chain(signals.map(|(weight, text)| (text, Meaning::Signal(weight.parse().unwrap_or(0)))))
}

fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|row| !row.is_empty() && !row.starts_with('#'))
}

/// Reads a heading such as `override any`.
fn reason(heading: &str) -> Option<Meaning> {
    let (reason, place) = heading.split_once(' ')?;
    let place = match place {
        "any" => TextScope::Any,
        "told" => TextScope::AllButNotices,
        "short" => TextScope::Short,
        "sent" => TextScope::ShortButMail,
        "topic" => TextScope::Topic,
        "bare" => TextScope::Bare,
        _ => TextScope::Plain,
    };
    Some(Meaning::Reason(Suspicion::named(reason)?, place))
}

/// Returns every word and class that a phrase names.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    all().flat_map(|(text, _)| parts(text)).flat_map(|part| part.split('|'))
}

/// Words that may stand between two parts of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhraseGap {
    /// So many of the same sentence.
    Sentence(usize),
    /// So many of the same clause: none follows a colon or a semicolon.
    Clause(usize),
}

impl PhraseGap {
    pub(super) fn words_max(self) -> usize {
        match self {
            Self::Sentence(max) | Self::Clause(max) => max,
        }
    }
}

/// Reads an item of a phrase that is a gap.
pub(super) fn phrase_gap(item: &str) -> Option<PhraseGap> {
    let count = |text: &str| text.parse().unwrap_or(0);
    let clause = || item.strip_prefix('~').map(|text| PhraseGap::Clause(count(text)));
    item.strip_prefix("..").map(|text| PhraseGap::Sentence(count(text))).or_else(clause)
}

/// Returns the parts of a phrase that are words.
pub(super) fn parts(phrase: &str) -> impl Iterator<Item = &str> {
    let is_mark = |item: &&str| phrase_gap(item).is_some() || matches!(*item, "^" | "^^" | "$");
    phrase.split(' ').filter(move |item| !is_mark(item))
}

/// Tells whether an item of a phrase names a class of words.
pub(super) fn is_class(item: &str) -> bool {
    item.starts_with(|c: char| c.is_ascii_uppercase())
}
