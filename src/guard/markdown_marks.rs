//! The marks of Markdown that decide what a line is: fences of code, and headings. Notes of other tools and files for
//! agents are cut by the same rules. Not here: lists, comments and links, which only one reader has.

/// Fewest characters of a fence.
const FENCE_CHARS_MIN: usize = 3;
/// The level of the deepest heading.
const LEVEL_MAX: usize = 6;

/// A fence of code that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeFence {
    mark: char,
    count: usize,
}

impl CodeFence {
    /// Returns the fence that is open after a line, given the one that was open before it. A fence is closed by a line
    /// with nothing but its own character, at least as often.
    #[must_use]
    pub fn after(line: &str, open: Option<Self>) -> Option<Self> {
        let line = line.trim_start();
        let Some(mark) = line.chars().next().filter(|c| matches!(c, '`' | '~')) else {
            return open;
        };
        let count = line.chars().take_while(|c| *c == mark).count();
        let rest = line.get(count..).unwrap_or_default();
        match open {
            Some(fence) => {
                let closes = mark == fence.mark && count >= fence.count && rest.trim().is_empty();
                open.filter(|_| !closes)
            }
            None => {
                // Backticks further on make it code within a line.
                let begins = count >= FENCE_CHARS_MIN && (mark == '~' || !rest.contains('`'));
                begins.then_some(Self { mark, count })
            }
        }
    }
}

/// A line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkdownLine<'a> {
    /// A line outside fenced code.
    Prose(&'a str),
    /// A line of fenced code, or one of its fences.
    Code(&'a str),
}

/// Returns the lines of a text. A fence that is never closed reaches to the end.
pub fn lines(text: &str) -> impl Iterator<Item = MarkdownLine<'_>> {
    let mut open = None;
    text.lines().map(move |line| {
        let before = open;
        open = CodeFence::after(line, before);
        match before.or(open) {
            Some(_) => MarkdownLine::Code(line),
            None => MarkdownLine::Prose(line),
        }
    })
}

/// Returns the level and the text of a heading that begins with `#`; `None` for any other line.
#[must_use]
pub fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let is_heading = (1..=LEVEL_MAX).contains(&level) && text.starts_with([' ', '\t']);
    is_heading.then(|| (level, text.trim().trim_end_matches('#').trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines outside code.
    fn prose(text: &str) -> Vec<&str> {
        let prose = |line| match line {
            MarkdownLine::Prose(line) => Some(line),
            MarkdownLine::Code(_) => None,
        };
        lines(text).filter_map(prose).collect()
    }

    // S-IMPORT-5, S-FILE-2
    #[test]
    fn code_is_between_fences_of_one_kind() {
        assert_eq!(prose("a\n```sh\nx\n```\nb"), ["a", "b"]);
        assert_eq!(prose("a\n~~~ `sh`\nx\n```\nx\n~~~\nb"), ["a", "b"]);
        assert_eq!(prose("a\n````\n```\n~~~~\n```` x\n`````\nb"), ["a", "b"]);
        assert_eq!(prose("- a\n  ~~~\n  x\n  ~~~\nb"), ["- a", "b"]);
        assert_eq!(prose("```a``` b\n~~a~~\nc"), ["```a``` b", "~~a~~", "c"]);
        assert_eq!(prose("a\n~~~\nnever closed"), ["a"]);
    }

    // S-IMPORT-5, S-FILE-2
    #[test]
    fn headings_have_a_level_and_a_text() {
        assert_eq!(heading("## One two ##"), Some((2, "One two")));
        for line in ["#tag", "####### seven", "text", "#", " # set in"] {
            assert_eq!(heading(line), None, "{line}");
        }
    }
}
