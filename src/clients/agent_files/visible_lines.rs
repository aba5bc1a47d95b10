//! The lines of a rule file that readers see: without front matter, comments and our own block. Pure. Not here: what the lines say
//! (`markdown`), and what the front matter says (`rule_scope`).

use super::block;
use guard::markdown_marks::CodeFence;

/// Returns the lines of a text outside code, comments, front matter and our own block.
pub(super) fn prose_lines(text: &str) -> Vec<String> {
    let mut fence = None;
    let mut lines = Vec::new();
    for (_, line) in VisibleLines::parse(text).lines {
        let before = fence;
        fence = CodeFence::after(&line, fence);
        if before.or(fence).is_none() {
            lines.push(line);
        }
    }
    lines
}

/// Returns the line on which a block of ours begins that has no end. Then it is unknown what is ours.
pub(super) fn unclosed_block_line(text: &str) -> Option<usize> {
    VisibleLines::parse(text).ours
}

/// The lines that readers see, with their numbers: without front matter, comments and our own block.
pub(super) struct VisibleLines {
    pub(super) lines: Vec<(usize, String)>,
    /// The first line of a block of ours that is still open at the end.
    ours: Option<usize>,
}

impl VisibleLines {
    pub(super) fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let lines: Vec<&str> = text.lines().collect();
        let closes_below = closes_below(&lines);
        let matter = front_matter_lines(&lines);
        let mut spoken = Self { lines: Vec::new(), ours: None };
        let (mut comment, mut fence) = (false, None);
        for ((number, line), closes_below) in (1..).zip(lines).zip(closes_below).skip(matter) {
            if spoken.ours.is_some() {
                spoken.ours = spoken.ours.filter(|_| !block::is_end(line));
                continue;
            }
            if !comment && fence.is_none() && block::is_begin(line) {
                spoken.ours = Some(number);
                continue;
            }
            if !comment {
                fence = CodeFence::after(line, fence);
            }
            let shown = match fence {
                Some(_) => line.to_owned(),
                None => without_comments(line, &mut comment, closes_below),
            };
            // A line with nothing but a comment does not count as a blank line.
            if shown == line || !shown.trim().is_empty() {
                spoken.lines.push((number, shown));
            }
        }
        spoken
    }
}

/// Returns the number of lines of the front matter, with its two marks.
pub(super) fn front_matter_lines(lines: &[&str]) -> usize {
    if lines.first().is_none_or(|first| first.trim_end() != "---") {
        return 0;
    }
    let end = lines.iter().skip(1).position(|line| line.trim_end() == "---");
    end.map_or(0, |end| end + 2)
}

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// For each line: whether a comment that is open at its end is closed further down, before a block of ours begins.
fn closes_below(lines: &[&str]) -> Vec<bool> {
    let mut closes = false;
    let upwards = lines.iter().rev().map(|line| {
        let below = closes;
        closes = !block::is_begin(line) && (closes || line.contains(CLOSE));
        below
    });
    let mut all: Vec<bool> = upwards.collect();
    all.reverse();
    all
}

/// Removes comments from a line. `inside` says whether a comment is open at the start of the line, and afterwards at
/// its end. An opening mark that is never closed is text.
fn without_comments(line: &str, inside: &mut bool, closes_below: bool) -> String {
    let mut shown = String::new();
    let mut rest = line;
    loop {
        if *inside {
            let Some((_, after)) = rest.split_once(CLOSE) else { return shown };
            (*inside, rest) = (false, after);
        }
        let Some((before, comment)) = cut_at_comment(rest) else { break };
        if !closes_below && !comment.contains(CLOSE) {
            break;
        }
        shown.push_str(before);
        (*inside, rest) = (true, comment);
    }
    shown.push_str(rest);
    shown
}

/// Splits a text at its first comment mark: the text before and after. Code spans contain no comments.
fn cut_at_comment(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let mark = rest.find(OPEN)?;
        match rest.find('`') {
            Some(tick) if tick < mark => at += tick + span_bytes(rest.get(tick..)?),
            _ => return Some((text.get(..at + mark)?, text.get(at + mark + OPEN.len()..)?)),
        }
    }
}

/// Returns the length in bytes of the code span at the start of a text, or of its opening mark if it does not end.
fn span_bytes(text: &str) -> usize {
    let ticks = |text: &str| text.bytes().take_while(|byte| *byte == b'`').count();
    let mark = ticks(text);
    let mut at = mark;
    while let Some(rest) = text.get(at..) {
        let Some(next) = rest.find('`') else { break };
        let other = rest.get(next..).map_or(1, ticks);
        at += next + other;
        if other == mark {
            return at;
        }
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-FILE-6
    #[test]
    fn a_block_without_an_end_is_reported_by_its_line() {
        let begin = "<!-- agent-knowledge: begin -->";
        assert_eq!(unclosed_block_line(&format!("- a\n{begin}\n- b\n")), Some(2));
        assert_eq!(
            unclosed_block_line(&format!("- a\n{begin}\n<!-- agent-knowledge: end -->\n- b\n")),
            None
        );
        assert_eq!(unclosed_block_line(&format!("```\n{begin}\n```\n")), None);
    }
}
