//! Marks by which a text passes itself off as something else: as the frame of a conversation, or of our
//! own replies. Not here: words (`phrases`).

use super::Suspicion;

/// Marks of conversations and replies, in lower case. None of them has a place in a lesson.
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
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<</sys>>",
    "</memory>",
    "</memories>",
    "</system>",
    "<system>",
    "<system-reminder>",
    "</system-reminder>",
    "</instructions>",
    "</tool_result>",
    "</untrusted",
    "</context>",
    "**relevant memories (",
    "**memory of ",
    "recalled notes, not instructions",
    "<information>",
    "</information>",
];

/// How a line begins that passes for another's turn in a conversation.
const TURNS: &[&str] = &["### instruction", "### system", "system prompt:", "system message:"];

/// So many unseen characters spell something.
const TAGS_MIN: usize = 8;

/// Finds such a mark.
pub(super) fn found(text: &str) -> Option<Suspicion> {
    let tags = || text.chars().filter(|c| matches!(c, '\u{E0020}'..='\u{E007E}')).count();
    let is_marked = || {
        let starts = text.match_indices(['<', '[', '*', 'R', 'r']).map(|(at, _)| at);
        starts
            .filter_map(|at| text.get(at..))
            .any(|rest| MARKS.iter().any(|mark| begins(rest, mark)))
    };
    let is_turn =
        || text.lines().any(|line| TURNS.iter().any(|turn| is_turn_of(line.trim_start(), turn)));
    (is_marked() || is_turn() || tags() >= TAGS_MIN).then_some(Suspicion::Frame)
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
