//! Marks of conversations and of our own replies, with which a text pretends to be one (`tables/signs.txt`).
//! Not here: words (`phrases`).

use super::Suspicion;
use super::signs::Sign;

/// Words of a text that is about such marks.
const ABOUT_MARKS: [&str; 14] = [
    "token",
    "tag",
    "parse",
    "xml",
    "html",
    "jsx",
    "unexpected",
    "template",
    "escape",
    "element",
    "syntax",
    "render",
    "markup",
    "regex",
];

/// Tag characters that spell a word unseen.
const TAGS_MIN: usize = 8;

/// Finds a mark in a text in lower case. One mark of a conversation may be quoted in an error; two, or one at
/// the beginning of a line, pretend.
pub(super) fn found(lower: &str, signs: &[Sign]) -> Option<Suspicion> {
    let (mut weight, mut calls, mut is_turn, mut has_human) = (0, 0, false, false);
    for sign in signs {
        let (before, rest) = lower.split_at_checked(sign.start).unwrap_or_default();
        let leads =
            before.trim_end_matches([' ', '\t']).ends_with('\n') || before.trim().is_empty();
        match sign.row.name {
            "ours" => return Some(Suspicion::Frame),
            "call" => calls += 1,
            "mark" => weight += if leads && !rest.trim_end().ends_with('>') { 2 } else { 1 },
            "turn" => is_turn |= leads && !is_heading(lower, sign),
            "human" => has_human |= before.is_empty() || before.ends_with('\n'),
            _ => {}
        }
    }
    let is_about_marks = || ABOUT_MARKS.iter().any(|word| lower.contains(word));
    let is_talk = has_human && lower.lines().any(|line| line.starts_with("assistant:"));
    // A call has at least two marks, and an error about one may quote a single mark.
    let is_called = calls >= 2 || (calls == 1 && !is_about_marks());
    let is_marked = is_called || weight >= 2 || (weight == 1 && !is_about_marks());
    (is_marked || is_turn || is_talk).then_some(Suspicion::Frame)
}

/// Returns the texts of the HTML comments of a text, which a reader of the rendered page does not see.
pub(super) fn comments(text: &str) -> impl Iterator<Item = &str> {
    let opened = text.split("<!--").skip(1);
    opened.map(|rest| rest.split_once("-->").map_or(rest, |(comment, _)| comment).trim())
}

/// A heading with more words, such as "### System requirements", is no turn of a conversation.
fn is_heading(lower: &str, sign: &Sign) -> bool {
    let is_open = !lower.get(..sign.end).is_some_and(|text| text.ends_with(':'));
    let line = lower.get(sign.end..).unwrap_or_default().lines().next().unwrap_or_default();
    is_open && line.contains(|c: char| c.is_alphanumeric() && c != 's')
}

/// Tells whether a text has a word in tag characters.
pub(super) fn has_tags(text: &str) -> bool {
    let is_tag = |c: &char| matches!(c, '\u{E0020}'..='\u{E007E}');
    !text.is_ascii() && text.chars().filter(is_tag).count() >= TAGS_MIN
}
