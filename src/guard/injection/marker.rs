//! Marks by which a text passes itself off as something else: as the frame of a conversation, or of our
//! own replies. Not here: words (`phrases`).

use super::Suspicion;

/// Marks of our own replies, in lower case. None of them has a place in a lesson.
const OURS: &[&str] = &[
    "</memory>",
    "</memories>",
    "</untrusted",
    "**relevant memories (",
    "**memory of ",
    "recalled notes, not instructions",
    "<system-reminder>",
    "</system-reminder>",
];

/// Marks of conversations. People who work on such things name one in an error; two, or one at the
/// beginning of a line, play one.
const MARKS: &[&str] = &[
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|endoftext|>",
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|eot_id|>",
    "<|channel|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "[inst]",
    "[/inst]",
    "[system]",
    "[/system]",
    "[system notice]",
    "[system message]",
    "[system update]",
    "<<sys>>",
    "<</sys>>",
    "<system>",
    "</system>",
    "</instructions>",
    "</tool_result>",
    "</tool_response>",
    "</function_results>",
    "<tool_result>",
    "<tool_response>",
    "</context>",
    "<information>",
    "</information>",
];

/// Words of a text that is about such marks.
const ABOUT_MARKS: &[&str] = &[
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

/// How a line begins that passes for another's turn in a conversation.
const TURNS: &[&str] = &["### instruction", "### system", "system prompt:", "system message:"];

/// So many unseen characters spell something.
const TAGS_MIN: usize = 8;

/// The turns of a conversation with a machine.
const SPEAKER: &str = "human:";

/// How tag characters begin (U+E0020 to U+E007E), as UTF-8.
const TAG_STARTS: [&[u8]; 2] = [&[0xF3, 0xA0, 0x80], &[0xF3, 0xA0, 0x81]];

/// What a text must hold, in lower case, for [`found`] to find anything.
pub(super) fn signs() -> impl Iterator<Item = &'static [u8]> {
    let marks = OURS.iter().chain(MARKS).chain(TURNS).chain([&SPEAKER]);
    marks.map(|mark| mark.as_bytes()).chain(TAG_STARTS)
}

/// Finds such a mark.
pub(super) fn found(text: &str) -> Option<Suspicion> {
    let tags = || text.chars().filter(|c| matches!(c, '\u{E0020}'..='\u{E007E}')).count();
    let is_marked = || {
        let starts = text.match_indices(['<', '[', '*', 'R', 'r']).map(|(at, _)| at);
        let mut weight = 0;
        for at in starts {
            let (before, rest) = text.split_at_checked(at).unwrap_or_default();
            if OURS.iter().any(|mark| begins(rest, mark)) {
                return true;
            }
            if MARKS.iter().any(|mark| begins(rest, mark)) {
                let leads = before.trim_end_matches([' ', '\t']).ends_with('\n')
                    || before.trim().is_empty();
                weight += if leads && !rest.trim_end().ends_with('>') { 2 } else { 1 };
            }
        }
        weight >= 2 || (weight == 1 && !is_about_marks(text))
    };
    let is_talk = || {
        let speaks = |who: &str| text.lines().any(|line| begins(line, who));
        speaks(SPEAKER) && speaks("assistant:")
    };
    let is_turn =
        || text.lines().any(|line| TURNS.iter().any(|turn| is_turn_of(line.trim_start(), turn)));
    (is_marked() || is_turn() || is_talk() || tags() >= TAGS_MIN).then_some(Suspicion::Frame)
}

fn is_about_marks(text: &str) -> bool {
    let lower = text.to_lowercase();
    ABOUT_MARKS.iter().any(|word| lower.contains(word))
}

/// A heading that is more than the turn's name ("### System requirements") is a heading.
fn is_turn_of(line: &str, turn: &str) -> bool {
    let rest = line.get(turn.len()..).unwrap_or_default();
    let is_heading = !turn.ends_with(':');
    begins(line, turn) && !(is_heading && rest.contains(|c: char| c.is_alphanumeric() && c != 's'))
}

fn begins(text: &str, mark: &str) -> bool {
    text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// Tells whether a text is the record of a conversation: both sides begin lines of it.
pub(super) fn is_transcript(text: &str) -> bool {
    let speaks = |who: &str| text.lines().any(|line| begins(line, who));
    speaks("user:") && speaks("assistant:")
}
