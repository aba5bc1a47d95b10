//! Tells whether a text gives orders to the agent that reads it instead of telling a lesson: the mark of a
//! poisoned memory. A pure function of the texts, computed whenever a line is read, so that better rules apply
//! to old lines too.
//!
//! Lessons are imperative as well ("run this first", "never use that"), so the mood of a verb tells nothing. The
//! rules look at who is addressed and what about: the reader's rules, role, replies, secrets and silence.
//!
//! 1. A text is read as words, with disguises undone (`words`), and searched for phrases (`phrase_table`,
//!    `phrases`).
//! 2. The prefilter finds signs of marks, commands and other languages (`signs`); only a text with a sign gets
//!    a closer look (`marker`, `download`, `carrier`, `foreign`). What one speaker of a recorded dialogue asks the other is
//!    no order (`dialogue`).
//!
//! Not here: what happens to such a memory (`search`, `reply`), and secrets (`secrets`).

mod carrier;
mod dialogue;
mod download;
mod foreign_order;
mod lexicon;
mod marker;
mod phrase_table;
mod phrases;
mod program_parts;
mod reason;
mod signs;
mod task;
#[cfg(test)]
mod tests;
mod words;

pub use self::download::fetches_and_runs;
use self::phrase_table::TextScope;
use self::phrases::FoundPhrases;
pub use self::reason::Suspicion;
pub use self::task::suspicion_of_task;
use self::words::{ParsedText, parse_text};

/// Words and sentences of a short lesson. A longer one says more than one request could.
const SHORT_WORDS_MAX: usize = 90;
const SHORT_SENTENCES_MAX: usize = 4;

/// Words of a text that is too short to teach anything: "pay the invoice 4711".
const BARE_WORDS_MAX: usize = 4;

/// Words of a text in which one technical word shows the subject. In a longer text it may be there by chance.
const WORK_WORDS_MAX: usize = 30;

/// Tells why the texts of one note give orders to their reader, if they do. `others` are the note's remaining
/// texts. Takes time linear in the length of the texts.
#[must_use]
pub fn suspicion<'a>(
    lesson: &str,
    context: &str,
    others: impl Iterator<Item = &'a str>,
) -> Option<Suspicion> {
    // A lesson of one or two words says nothing: the context is judged as the lesson then.
    let says_something = lesson.split_whitespace().nth(2).is_some();
    let (lesson, other) = if says_something { (lesson, context) } else { (context, lesson) };
    let mut others = others.filter(|text| may_order(text));
    of_lesson(lesson)
        .or_else(|| of_text(other))
        .or_else(|| suspicion_across_fields([context, lesson].into_iter()))
        .or_else(|| others.find_map(of_text))
}

/// Bytes on either side of the place where two texts meet in a reply, and fields that are read together.
const SEAM_BYTES: usize = 96;
const FIELDS_MAX: usize = 64;

/// Tells whether the fields of a note give an order together that none gives alone: it begins in one and ends in another,
/// in the order in which they are shown. Of a long field only its ends are read.
pub fn suspicion_across_fields<'a>(fields: impl Iterator<Item = &'a str>) -> Option<Suspicion> {
    let mut joined = String::new();
    let mut count = 0;
    for field in fields.map(str::trim).filter(|field| !field.is_empty()).take(FIELDS_MAX) {
        // What ends a sentence between two fields parts nothing.
        joined.truncate(joined.trim_end_matches(['.', ':', ',', ';', ' ', '\n']).len());
        if !joined.is_empty() {
            joined.push(' ');
        }
        count += 1;
        if field.len() <= 2 * SEAM_BYTES {
            joined.push_str(field);
            continue;
        }
        let (first, last) = (
            field.floor_char_boundary(SEAM_BYTES),
            field.ceil_char_boundary(field.len() - SEAM_BYTES),
        );
        joined.push_str(field.get(..first)?);
        joined.push_str(".\n");
        joined.push_str(field.get(last..)?);
    }
    if count < 2 {
        return None;
    }
    let judged = AnalysedText::from_text(&joined);
    judged.found.first(TextScope::Any, |reason| {
        matches!(reason, Suspicion::Override) && judged.is_meant(reason)
    })
}

/// Words that an order has at least, and letters that a word has.
const ORDER_WORDS_MIN: usize = 3;
const WORD_LETTERS_MIN: usize = 2;

/// Tells whether a short text could be an order at all: ids, paths and names have fewer words. Markup needs none.
fn may_order(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphabetic());
    let is_word = |word: &&str| word.chars().nth(WORD_LETTERS_MIN - 1).is_some();
    text.contains('<')
        || !text.is_ascii()
        || words.filter(is_word).nth(ORDER_WORDS_MIN - 1).is_some()
}

/// Tells why a lesson gives orders to its reader, if it does.
fn of_lesson(lesson: &str) -> Option<Suspicion> {
    let judged = AnalysedText::from_text(lesson);
    judged.suspicion().or_else(|| judged.errand())
}

fn of_text(text: &str) -> Option<Suspicion> {
    AnalysedText::from_text(text).suspicion()
}

/// A text with everything that the rules ask about it.
struct AnalysedText<'a> {
    text: &'a str,
    reading: ParsedText,
    found: FoundPhrases,
}

impl<'a> AnalysedText<'a> {
    fn from_text(text: &'a str) -> Self {
        let reading = parse_text(text);
        let found = FoundPhrases::within(&reading);
        Self { text, reading, found }
    }

    /// Returns the reason that a text gives wherever it stands, the plainest first.
    fn suspicion(&self) -> Option<Suspicion> {
        let lower = self.text.to_lowercase();
        let signs = signs::find_signs(&lower);
        let has = |look: &str| signs.iter().any(|sign| sign.row.name == look);
        let tags = || marker::has_tags(self.text).then_some(Suspicion::Frame);
        marker::found(&lower, &signs)
            .or_else(tags)
            .or_else(|| has("download").then(|| download::found(self.text))?)
            .or_else(|| has("leak").then(|| carrier::found(&lower))?)
            .or_else(|| self.found.first(TextScope::Any, |reason| self.is_meant(reason)))
            .or_else(|| self.secrecy_order())
            .or_else(|| foreign_order::found(&lower, &signs))
            .or_else(|| has("comment").then(|| self.commented())?)
            .or_else(|| self.encoded(has("turned").then_some(lower.as_str())))
            .or_else(|| self.found.faked_check().filter(|reason| self.is_meant(*reason)))
    }

    /// Returns the reason of an order to keep something from somebody.
    fn secrecy_order(&self) -> Option<Suspicion> {
        let found = || self.found.first(TextScope::AllButNotices, |reason| self.is_meant(reason));
        found().filter(|_| !self.is_of_notices())
    }

    /// Returns the reason of an order to send something to an address.
    fn sending_order(&self, counts: impl Fn(Suspicion) -> bool) -> Option<Suspicion> {
        self.found.first(TextScope::ShortButMail, counts).filter(|_| !self.is_of_mail())
    }

    /// Returns the reason of an order in an HTML comment. A comment is judged by itself: it is short, and whoever hides an
    /// order speaks to nobody else.
    fn commented(&self) -> Option<Suspicion> {
        marker::comments(self.text).find_map(|comment| {
            let judged = AnalysedText::from_text(comment);
            let speaks = judged.reading.has(&["READER"]) && judged.reading.statements > 0;
            speaks.then_some(Suspicion::Frame).or_else(|| {
                let orders = judged.found.first(TextScope::Any, |_| true);
                orders.or_else(|| judged.secrecy_order()).or_else(|| judged.errand())
            })
        })
    }

    /// Returns the reason of an order that is encoded in the text, or that stands backwards or in rot13 in
    /// `turned`.
    fn encoded(&self, turned: Option<&str>) -> Option<Suspicion> {
        let turned = turned.map(carrier::turned_texts).into_iter().flatten();
        carrier::decoded_texts(self.text).into_iter().chain(turned).find_map(|text| {
            let found = FoundPhrases::within(&parse_text(&text));
            let of = |scope| found.first(scope, |_| true);
            of(TextScope::Any)
                .or_else(|| of(TextScope::AllButNotices))
                .or_else(|| download::found(&text))
        })
    }

    /// Tells whether a phrase speaks to the reader. In a short technical text it may speak of the work.
    fn is_meant(&self, reason: Suspicion) -> bool {
        if self.reading.words.len() > WORK_WORDS_MAX {
            // In a recorded session a user tells an assistant how to act and what to answer.
            let is_asked = matches!(reason, Suspicion::Role | Suspicion::Steer | Suspicion::Check);
            return !(is_asked && dialogue::is_transcript(self.text));
        }
        match reason {
            // "Your response must include the CORS header", "you are now in a detached HEAD state"
            Suspicion::Steer | Suspicion::Role => !self.is_technical(),
            // "Ignore all previous rules in .eslintrc"
            Suspicion::Override => {
                !self.reading.has(&["RULEFILE"])
                    || self.reading.has(&["FIRM", "YOUR", "READER"])
                    || self.reading.has_word("you")
            }
            _ => true,
        }
    }

    fn is_technical(&self) -> bool {
        self.reading.has(&["TECH", "BECAUSE"])
    }

    /// Tells whether a short lesson only asks, or sends its reader on an errand, and teaches nothing.
    fn errand(&self) -> Option<Suspicion> {
        let reading = &self.reading;
        let sentences = reading.questions + reading.statements;
        if reading.words.len() > SHORT_WORDS_MAX || sentences > SHORT_SENTENCES_MAX {
            return None;
        }
        let is_plain = !self.text.contains('`') && !self.is_technical();
        // Lessons of all trades calculate, list and explain.
        let may_be_topic = is_plain && !reading.has(&["TRADE"]);
        let is_bare = is_plain && reading.words.len() <= BARE_WORDS_MAX;
        let only_asks = reading.questions > 0 && reading.statements == 0;
        let asks = only_asks || (reading.begins_with_question && is_plain);
        let asks = asks && !dialogue::is_turn(self.text);
        let is_topic = may_be_topic
            && sentences == 1
            && reading.begins_with("TEACH")
            && !has_clauses(self.text);
        (asks || is_topic)
            .then_some(Suspicion::Errand)
            .or_else(|| self.found.first(TextScope::Short, |_| true))
            .or_else(|| self.sending_order(|_| true))
            .or_else(|| is_plain.then(|| self.found.first(TextScope::Plain, |_| true))?)
            .or_else(|| may_be_topic.then(|| self.found.first(TextScope::Topic, |_| true))?)
            .or_else(|| is_bare.then(|| self.found.first(TextScope::Bare, |_| true))?)
    }
}

/// Tells whether a text has a second clause: what asks for a topic has none, and what tells a lesson often gives the reason there.
fn has_clauses(text: &str) -> bool {
    text.contains([',', ';', ':', '('])
}
