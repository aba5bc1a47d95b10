//! From Markdown to items: a bullet with everything below it, or a paragraph, each with the headings above it. Fenced
//! code belongs to the item before it. Comments, front matter and our own block are left out. Pure; every text gives
//! items, and none is refused. Not here: what an item becomes (`import_plan`).

use super::block;
use guard::markdown_marks::{CodeFence, heading};

/// One statement of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkdownItem {
    /// Its first line, from 1.
    pub(super) line: usize,
    /// The headings above it, and the sentence that introduces its list.
    pub(super) headings: Vec<String>,
    /// Its text.
    pub(super) text: String,
}

/// An item needs this many letters and digits.
const SAYING_CHARS_MIN: usize = 3;

/// Cuts a text into items. `file` is the name of the file; a heading that repeats it is left out.
pub(super) fn items(text: &str, file: &str) -> Vec<MarkdownItem> {
    let mut cutter = ItemParser::default();
    for (number, line) in VisibleLines::parse(text).lines {
        cutter.read_line(number, &line);
    }
    cutter.flush();
    let is_name = |heading: &str| heading.trim().eq_ignore_ascii_case(file);
    let mut items = cutter.done;
    for item in &mut items {
        item.headings.retain(|heading| !is_name(heading));
        item.text = item.text.trim().to_owned();
    }
    let says = |item: &MarkdownItem| {
        item.text.chars().filter(|c| c.is_alphanumeric()).count() >= SAYING_CHARS_MIN
    };
    items.retain(says);
    items
}

/// Returns the line on which a block of ours begins that has no end. Then it is unknown what is ours.
pub(super) fn unclosed_block_line(text: &str) -> Option<usize> {
    VisibleLines::parse(text).ours
}

/// The lines that readers see, with their numbers: without front matter, comments and our own block.
struct VisibleLines {
    lines: Vec<(usize, String)>,
    /// The first line of a block of ours that is still open at the end.
    ours: Option<usize>,
}

impl VisibleLines {
    fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let lines: Vec<&str> = text.lines().collect();
        let closes_below = closes_below(&lines);
        let matter = front_matter(&lines);
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

/// Returns the number of lines of the front matter.
fn front_matter(lines: &[&str]) -> usize {
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

/// The state while reading.
#[derive(Default)]
struct ItemParser {
    done: Vec<MarkdownItem>,
    /// Headings with their levels.
    headings: Vec<(usize, String)>,
    /// The paragraph that introduces the next list.
    intro: Option<String>,
    open: Option<OpenItem>,
    fence: Option<CodeFence>,
    /// Whether the previous line was blank.
    is_apart: bool,
}

/// The item to which lines are added.
struct OpenItem {
    item: MarkdownItem,
    /// For a bullet, the indentation of its text.
    bullet: Option<usize>,
}

impl ItemParser {
    fn read_line(&mut self, number: usize, line: &str) {
        if self.fence.is_some() {
            self.fence = CodeFence::after(line, self.fence);
            self.add("\n", line);
            return;
        }
        let (depth, said) = (set_in(line), line.trim());
        if said.is_empty() {
            self.is_apart = true;
            return;
        }
        let is_apart = std::mem::take(&mut self.is_apart);
        self.fence = CodeFence::after(line, None);
        if self.fence.is_some() {
            self.take_code(number, line);
        } else if let Some((level, heading)) = heading(line) {
            self.flush();
            self.head(level, heading);
        } else if let Some(level) = self.underline(said, is_apart) {
            if let Some(open) = self.open.take() {
                self.head(level, &open.item.text);
            }
        } else if is_rule(said) {
            self.flush();
            self.intro = None;
        } else if let Some(width) = bullet(line).filter(|_| !self.is_below(depth)) {
            self.begin_bullet(number, depth + width, line);
        } else if self.goes_on(depth, is_apart) {
            let is_own_line = bullet(line).is_some() || said.starts_with('|') || is_apart;
            let text = if is_own_line { self.outdented(line) } else { said };
            self.add(if is_own_line { "\n" } else { " " }, text);
        } else {
            self.flush();
            self.intro = None;
            self.begin(number, said.to_owned(), None);
        }
    }

    /// Code belongs to the item before it under the same heading.
    fn take_code(&mut self, number: usize, line: &str) {
        if self.open.is_none() {
            let under = self.under();
            let above = self.done.pop_if(|item| item.headings == under);
            self.open = above.map(|item| OpenItem { item, bullet: None });
        }
        match self.open {
            Some(_) => self.add("\n", line),
            None => self.begin(number, line.to_owned(), None),
        }
    }

    fn begin_bullet(&mut self, number: usize, width: usize, line: &str) {
        let follows_paragraph = self.open.as_ref().is_some_and(|open| open.bullet.is_none());
        self.flush();
        if follows_paragraph {
            let introduces =
                |item: &mut MarkdownItem| item.text.ends_with(':') && !item.text.contains('\n');
            self.intro = self.done.pop_if(introduces).map(|item| item.text);
        }
        let said = line.get(width..).unwrap_or_default().trim().to_owned();
        self.begin(number, said, Some(width));
    }

    fn begin(&mut self, line: usize, text: String, bullet: Option<usize>) {
        let mut under = self.under();
        under.extend(self.intro.clone().filter(|_| bullet.is_some()));
        self.open = Some(OpenItem { item: MarkdownItem { line, headings: under, text }, bullet });
    }

    fn head(&mut self, level: usize, heading: &str) {
        self.intro = None;
        self.headings.retain(|(other, _)| *other < level);
        self.headings.push((level, heading.to_owned()));
    }

    fn under(&self) -> Vec<String> {
        self.headings.iter().map(|(_, heading)| heading.clone()).collect()
    }

    /// Whether a line with this indentation is part of the open bullet.
    fn is_below(&self, depth: usize) -> bool {
        let width = self.open.as_ref().and_then(|open| open.bullet);
        width.is_some_and(|width| depth >= width.min(2))
    }

    /// Whether a line continues the open item.
    fn goes_on(&self, depth: usize, is_apart: bool) -> bool {
        self.is_below(depth) || (self.open.is_some() && !is_apart)
    }

    /// The level of a heading that is underlined by this line.
    fn underline(&self, said: &str, is_apart: bool) -> Option<usize> {
        let open = self.open.as_ref().filter(|open| open.bullet.is_none() && !is_apart)?;
        let is_one_line = !open.item.text.contains('\n');
        let is_all = |mark: char| said.chars().all(|c| c == mark);
        match () {
            () if !is_one_line => None,
            () if is_all('=') => Some(1),
            () if is_all('-') => Some(2),
            () => None,
        }
    }

    /// Returns a line without the indentation of its bullet.
    fn outdented<'a>(&self, line: &'a str) -> &'a str {
        let width = self.open.as_ref().and_then(|open| open.bullet).unwrap_or(0);
        let white = line.len() - line.trim_start().len();
        line.get(width.min(white)..).unwrap_or(line)
    }

    fn add(&mut self, joint: &str, text: &str) {
        if let Some(open) = &mut self.open {
            open.item.text.push_str(joint);
            open.item.text.push_str(text.trim_end());
        }
    }

    fn flush(&mut self) {
        self.done.extend(self.open.take().map(|open| open.item));
    }
}

/// Returns the width of the white space at the start of a line.
fn set_in(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_rule(said: &str) -> bool {
    let marks = said.chars().filter(|c| !c.is_whitespace());
    let first = said.chars().next().filter(|c| matches!(c, '-' | '*' | '_'));
    marks.clone().count() >= 3 && first.is_some_and(|first| marks.clone().all(|c| c == first))
}

/// Returns the width of a bullet's mark and the white space after it.
fn bullet(line: &str) -> Option<usize> {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match line.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let rest = line.get(mark..)?;
    let white = rest.len() - rest.trim_start().len();
    (white > 0 && !rest.trim().is_empty()).then_some(mark + white)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The headings and the text of each item.
    fn cut(text: &str) -> Vec<String> {
        let told = |item: MarkdownItem| format!("{}| {}", item.headings.join(" > "), item.text);
        items(text, "CLAUDE.md").into_iter().map(told).collect()
    }

    // S-FILE-2
    #[test]
    fn bullets_and_paragraphs_keep_their_headings() {
        let text = "# CLAUDE.md\n\nWork in small steps,\nand test each.\n\n## Build\n\n- use pnpm,\n  never npm\n* node 22\n\
                    \n### Release\n1. tag first\n2) then push\n\n## Style\nTabs, please.\n";
        let expected = [
            "| Work in small steps, and test each.",
            "Build| use pnpm, never npm",
            "Build| node 22",
            "Build > Release| tag first",
            "Build > Release| then push",
            "Style| Tabs, please.",
        ];
        assert_eq!(cut(text), expected);
        assert_eq!(cut(&text.replace('\n', "\r\n")), expected);
        assert_eq!(
            cut("Build\n=====\nfast\n\nStyle\n---\n\n---\ntabs\n"),
            ["Build| fast", "Build > Style| tabs"]
        );
    }

    // S-FILE-2
    #[test]
    fn lines_below_a_bullet_belong_to_it() {
        let text = "## Tests\nBefore a commit:\n- run the tests\n  - the slow ones too\n    deeper\n\n  and wait\n- format\n\nThen push.\n";
        let expected = [
            "Tests > Before a commit:| run the tests\n- the slow ones too deeper\nand wait",
            "Tests > Before a commit:| format",
            "Tests| Then push.",
        ];
        assert_eq!(cut(text), expected);
    }

    // S-FILE-2
    #[test]
    fn code_stays_with_its_item() {
        let text = "## Run\nStart the server:\n\n```sh\n# no heading\n- no bullet\n\n<!-- shown -->\n```\n- then wait\n  ```\n  sleep\n  ```\n\n## Alone\n~~~\nvalue = 1\n~~~\n";
        let expected = [
            "Run| Start the server:\n```sh\n# no heading\n- no bullet\n\n<!-- shown -->\n```",
            "Run| then wait\n  ```\n  sleep\n  ```",
            "Alone| ~~~\nvalue = 1\n~~~",
        ];
        assert_eq!(cut(text), expected);
    }

    // S-FILE-2, S-FILE-6
    #[test]
    fn comments_front_matter_and_our_block_are_left_out() {
        let text = "---\nglobs: \"*.rs\"\n---\n- one <!-- not --> two\n<!-- many\n- lines\n-->\n- three\n\
            <!-- agent-knowledge: begin -->\n## Ours\n- not imported\n<!-- agent-knowledge: end -->\n\
            <!-- agent-knowledge: export begin min=proven max_tokens=800 -->\n- nor this\n\
            <!-- agent-knowledge: export end -->\n- four\n- !\n";
        assert_eq!(cut(text), ["| one  two", "| three", "| four"]);
    }

    // S-FILE-2
    #[test]
    fn false_comment_marks_hide_nothing() {
        for said in [
            "Never write `<!--` in templates",
            "never ``a ` <!--`` here",
            "one <!-- two",
            "`<!-- one `two` <!-- three",
        ] {
            assert_eq!(
                cut(&format!("- {said}\n- use pnpm\n")),
                [format!("| {said}"), "| use pnpm".to_owned()]
            );
        }
        assert_eq!(
            cut("- one `<!--` <!-- x\n-->\n- two ` <!-- y --> three\n"),
            ["| one `<!--`", "| two `  three"]
        );
        // The end mark of our block does not close the comment.
        let text = "- one <!-- two\n<!-- agent-knowledge: begin -->\n- ours\n<!-- agent-knowledge: end -->\n- three\n";
        assert_eq!(cut(text), ["| one <!-- two", "| three"]);
    }

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

    #[test]
    fn an_item_knows_its_line() {
        let lines: Vec<usize> =
            items("# A\n\none one\n\n- two\n- three\n", "x").iter().map(|item| item.line).collect();
        assert_eq!(lines, [3, 5, 6]);
    }

    proptest! {
        // S-FILE-2
        #[test]
        fn every_word_of_plain_lines_is_kept_once(
            lines in prop::collection::vec("(#{1,3} |- |  - |[0-9]\\. |)[a-z]{3,9}( [a-z]{3,9}){0,3}|", 0..20),
            noise in "\\PC{0,200}"
        ) {
            let _ = items(&noise, "x");
            let text = lines.join("\n");
            let items = items(&text, "x");
            let said: usize = items.iter().map(|item| item.text.split_whitespace().filter(|w| *w != "-").count()).sum();
            let plain = |line: &&String| !line.starts_with('#');
            let marks = ["-", "0.", "1.", "2.", "3.", "4.", "5.", "6.", "7.", "8.", "9."];
            let words: usize = lines.iter().filter(plain)
                .map(|line| line.split_whitespace().filter(|word| !marks.contains(word)).count()).sum();
            prop_assert_eq!(said, words, "{:?} of {}", items, text);
        }
    }
}
