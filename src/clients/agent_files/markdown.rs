//! From Markdown to items: a bullet with everything below it, or a paragraph, each with the headings above it. Fenced
//! code belongs to the item before it. Pure; every text gives items, and none is refused. Not here: which lines readers
//! see (`visible_lines`), what is layout (`layout`), and what an item becomes (`import_plan`).

use super::at_imports::{AtImport, at_words, without_at};
use super::layout::{
    self, TagLine, is_done_task, is_only_links, is_template, says_nothing, tag_line,
    without_outer_tags, without_self_description, without_trees,
};
use super::visible_lines::VisibleLines;
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

/// Cuts a text into items. `file` is the name of the file; a heading that repeats it is left out. What it imports is read from
/// there, and is no text of its own.
pub(super) fn items(text: &str, file: &str, imports: &[AtImport]) -> Vec<MarkdownItem> {
    let mut cutter = ItemParser { imports, ..ItemParser::default() };
    for (number, line) in VisibleLines::parse(text).lines {
        cutter.read_line(number, &line);
    }
    cutter.flush();
    let is_name = |heading: &str| heading.trim().eq_ignore_ascii_case(file);
    let ItemParser { mut done, all_headings, .. } = cutter;
    for item in &mut done {
        item.headings.retain(|heading| !is_name(heading));
        let text = without_trees(without_outer_tags(&item.text));
        item.text = without_at(without_self_description(text.trim(), file), imports);
    }
    let says = |item: &MarkdownItem| {
        let letters = item.text.chars().filter(|c| c.is_alphanumeric()).count();
        letters >= SAYING_CHARS_MIN && !says_nothing(&item.text, &all_headings)
    };
    done.retain(says);
    done
}

/// The state while reading.
#[derive(Default)]
struct ItemParser<'a> {
    imports: &'a [AtImport],
    done: Vec<MarkdownItem>,
    /// Headings with their levels.
    headings: Vec<(usize, String)>,
    /// All headings up to here: a table of contents repeats them.
    all_headings: Vec<String>,
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

impl ItemParser<'_> {
    fn read_line(&mut self, number: usize, line: &str) {
        if self.fence.is_some() {
            self.fence = CodeFence::after(line, self.fence);
            self.add("\n", line);
            return;
        }
        let line = unquoted(line);
        let (depth, trimmed) = (indentation(line), line.trim());
        if let Some(word) = alert(trimmed) {
            self.begin_alert(number, word);
            return;
        }
        if trimmed.is_empty() || self.is_layout(line) {
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
        } else if let Some(level) = self.underline(trimmed, is_apart) {
            if let Some(open) = self.open.take() {
                self.head(level, &open.item.text);
            }
        } else if is_rule(trimmed) {
            self.flush();
            self.intro = None;
        } else if let Some(width) = bullet(line).filter(|_| !self.is_below(depth)) {
            self.begin_bullet(number, depth + width, line);
        } else if self.is_own_statement(trimmed, depth) {
            self.flush();
            self.intro = None;
            self.begin(number, trimmed.to_owned(), None);
        } else if self.continues_item(depth, is_apart) {
            let is_own_line = bullet(line).is_some() || trimmed.starts_with('|') || is_apart;
            let text = if is_own_line { self.outdented(line) } else { trimmed };
            self.add(if is_own_line { "\n" } else { " " }, text);
        } else {
            self.flush();
            self.intro = None;
            self.begin(number, trimmed.to_owned(), None);
        }
    }

    /// Tells whether a line only lays out, or stands for another file. A done task is layout below a bullet.
    fn is_layout(&mut self, line: &str) -> bool {
        let trimmed = line.trim();
        if let Some(tags) = tag_line(trimmed) {
            self.read_tags(&tags);
            return true;
        }
        let text = bullet(line).and_then(|width| trimmed.get(width..)).unwrap_or(trimmed).trim();
        let is_below_bullet = self.is_below(indentation(line)) && bullet(line).is_some();
        is_only_links(text)
            || (bullet(line).is_none() && is_template(text))
            || self.is_only_imports(text)
            || (is_below_bullet && is_done_task(text))
    }

    /// What stands below the mark of a warning is one.
    fn begin_alert(&mut self, number: usize, word: &str) {
        self.flush();
        self.is_apart = false;
        if matches!(word, "WARNING" | "CAUTION") {
            self.begin(number, "Warning:".to_owned(), None);
        }
    }

    /// A line that names files which are read, with no more than a label, says no more than they.
    fn is_only_imports(&self, text: &str) -> bool {
        let named: Vec<&str> = at_words(text);
        let known = |path: &&str| self.imports.iter().find(|import| import.path == *path);
        let known: Vec<&AtImport> = named.iter().filter_map(known).collect();
        if known.is_empty() {
            return false;
        }
        let all_read = known.iter().all(|import| import.target.is_ok());
        let others = text.split_whitespace().count().saturating_sub(known.len());
        others == 0 || (all_read && others <= layout::LABEL_WORDS_MAX)
    }

    /// A block in tags with a condition is one under a heading.
    fn read_tags(&mut self, tags: &TagLine<'_>) {
        match tags {
            TagLine::Opens(condition) => {
                self.flush();
                self.head(CONDITION_LEVEL, condition);
            }
            TagLine::Closes if self.headings.iter().any(|(level, _)| *level == CONDITION_LEVEL) => {
                self.flush();
                self.headings.retain(|(level, _)| *level != CONDITION_LEVEL);
            }
            TagLine::Title(level, title) => {
                self.flush();
                self.head(*level, title);
            }
            TagLine::Closes | TagLine::Layout => {}
        }
    }

    /// Code belongs to the item before it under the same heading.
    fn take_code(&mut self, number: usize, line: &str) {
        if self.open.is_none() {
            let under = self.headings_above();
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
            let introduces = |item: &mut MarkdownItem| introduction(&item.text).is_some();
            let item = self.done.pop_if(introduces);
            self.intro = item.and_then(|item| introduction(&item.text).map(str::to_owned));
        }
        let trimmed = line.get(width..).unwrap_or_default().trim().to_owned();
        self.begin(number, trimmed, Some(width));
    }

    fn begin(&mut self, line: usize, text: String, bullet: Option<usize>) {
        let mut under = self.headings_above();
        under.extend(self.intro.clone().filter(|_| bullet.is_some()));
        self.open = Some(OpenItem { item: MarkdownItem { line, headings: under, text }, bullet });
    }

    fn head(&mut self, level: usize, heading: &str) {
        self.intro = None;
        self.headings.retain(|(other, _)| *other < level);
        self.headings.push((level, heading.to_owned()));
        self.all_headings.push(heading.to_owned());
    }

    fn headings_above(&self) -> Vec<String> {
        self.headings.iter().map(|(_, heading)| heading.clone()).collect()
    }

    /// Whether a line with this indentation is part of the open bullet.
    fn is_below(&self, depth: usize) -> bool {
        let width = self.open.as_ref().and_then(|open| open.bullet);
        width.is_some_and(|width| depth >= width.min(2))
    }

    /// Whether a line continues the open item.
    fn continues_item(&self, depth: usize, is_apart: bool) -> bool {
        self.is_below(depth) || (self.open.is_some() && !is_apart)
    }

    /// Tells whether a line of a paragraph is a statement of its own: the one before it is a short sentence, as nobody wraps it.
    fn is_own_statement(&self, line: &str, depth: usize) -> bool {
        let open = self.open.as_ref().filter(|open| open.bullet.is_none() && depth == 0);
        let begins = line.starts_with(|c: char| c.is_uppercase());
        open.is_some_and(|open| {
            let is_short = open.item.text.chars().count() <= SENTENCE_CHARS_MAX;
            begins && is_short && open.item.text.ends_with(['.', '!', '。'])
        })
    }

    /// The level of a heading that is underlined by this line.
    fn underline(&self, text: &str, is_apart: bool) -> Option<usize> {
        let open = self.open.as_ref().filter(|open| open.bullet.is_none() && !is_apart)?;
        let is_one_line = !open.item.text.contains('\n');
        let is_all = |mark: char| text.chars().all(|c| c == mark);
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

/// Longest sentence that stands alone on its line. Wrapped text is longer.
const SENTENCE_CHARS_MAX: usize = 56;
/// The level of the condition of a block in tags: below every heading.
const CONDITION_LEVEL: usize = 7;
/// Longest title in bold that introduces a list, in words.
const TITLE_WORDS_MAX: usize = 8;

/// Returns the sentence or the title that a paragraph gives to the list below it.
fn introduction(text: &str) -> Option<&str> {
    if text.contains('\n') {
        return None;
    }
    let bold =
        text.strip_prefix("**").and_then(|rest| rest.trim_end_matches(':').strip_suffix("**"));
    // A few words right above a list are its title, unless they ask for something.
    let ends = ['.', '!', '?', ';', ',', '`'];
    let is_short = text.starts_with(char::is_uppercase)
        && text.split_whitespace().count() <= layout::LABEL_WORDS_MAX;
    let bare = Some(text).filter(|text| is_short && !text.ends_with(ends) && !layout::asks(text));
    let title = bold.filter(|title| {
        let is_title = !title.contains("**") && !title.ends_with(['.', '!']);
        is_title && title.split_whitespace().count() <= TITLE_WORDS_MAX
    });
    title.or_else(|| text.ends_with(':').then_some(text)).or(bare)
}

/// Returns the line behind the mark of a quotation.
fn unquoted(line: &str) -> &str {
    let Some(rest) = line.trim_start().strip_prefix('>') else { return line };
    if rest.is_empty() { rest } else { rest.strip_prefix(' ').unwrap_or(line) }
}

/// Returns the word of an alert, such as `[!WARNING]`.
fn alert(text: &str) -> Option<&str> {
    let word = text.strip_prefix("[!")?.strip_suffix(']')?;
    (!word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase())).then_some(word)
}

/// Returns the width of the white space at the start of a line.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_rule(text: &str) -> bool {
    let marks = text.chars().filter(|c| !c.is_whitespace());
    let first = text.chars().next().filter(|c| matches!(c, '-' | '*' | '_'));
    marks.clone().count() >= 3 && first.is_some_and(|first| marks.clone().all(|c| c == first))
}

/// Returns the width of a bullet's mark and the white space after it.
fn bullet(line: &str) -> Option<usize> {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match line.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        Some(_) if line.starts_with(['•', '◦', '▪', '‣']) => '•'.len_utf8(),
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
    fn item_texts(text: &str) -> Vec<String> {
        let item_text =
            |item: MarkdownItem| format!("{}| {}", item.headings.join(" > "), item.text);
        items(text, "CLAUDE.md", &[]).into_iter().map(item_text).collect()
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
        assert_eq!(item_texts(text), expected);
        assert_eq!(item_texts(&text.replace('\n', "\r\n")), expected);
        assert_eq!(
            item_texts("Build\n=====\nfast\n\nStyle\n---\n\n---\ntabs\n"),
            ["Build| fast", "Build > Style| tabs"]
        );
    }

    // S-FILE-2
    #[test]
    fn titles_and_sentences_without_marks_are_told_apart() {
        let text = "Key Principles\n- Write short code\n\n**Testing**\n• Mock the clock\n\nAlways run clippy.\nDo not use unsafe.\n\
            \n> [!WARNING]\n> Never reset staging.\n\nUse pnpm\n- never npm\n";
        let expected = [
            "Key Principles| Write short code",
            "Testing| Mock the clock",
            "| Always run clippy.",
            "| Do not use unsafe.",
            "| Warning: Never reset staging.",
            "| Use pnpm",
            "| never npm",
        ];
        assert_eq!(item_texts(text), expected);
        let wrapped =
            "We keep money as integer cents in all of the services.\nThe reason is\nrounding.\n";
        assert_eq!(item_texts(wrapped).len(), 2);
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
        assert_eq!(item_texts(text), expected);
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
        assert_eq!(item_texts(text), expected);
    }

    // S-FILE-2, S-FILE-6
    #[test]
    fn comments_front_matter_and_our_block_are_left_out() {
        let text = "---\nglobs: \"*.rs\"\n---\n- one <!-- not --> two\n<!-- many\n- lines\n-->\n- three\n\
            <!-- agent-knowledge: begin -->\n## Ours\n- not imported\n<!-- agent-knowledge: end -->\n\
            <!-- agent-knowledge: export begin min=proven max_tokens=800 -->\n- nor this\n\
            <!-- agent-knowledge: export end -->\n- four\n- !\n";
        assert_eq!(item_texts(text), ["| one  two", "| three", "| four"]);
    }

    // S-FILE-2
    #[test]
    fn false_comment_marks_hide_nothing() {
        for text in [
            "Never write `<!--` in templates",
            "never ``a ` <!--`` here",
            "one <!-- two",
            "`<!-- one `two` <!-- three",
        ] {
            assert_eq!(
                item_texts(&format!("- {text}\n- use pnpm\n")),
                [format!("| {text}"), "| use pnpm".to_owned()]
            );
        }
        assert_eq!(
            item_texts("- one `<!--` <!-- x\n-->\n- two ` <!-- y --> three\n"),
            ["| one `<!--`", "| two `  three"]
        );
        // The end mark of our block does not close the comment.
        let text = "- one <!-- two\n<!-- agent-knowledge: begin -->\n- ours\n<!-- agent-knowledge: end -->\n- three\n";
        assert_eq!(item_texts(text), ["| one <!-- two", "| three"]);
    }

    #[test]
    fn an_item_knows_its_line() {
        let lines: Vec<usize> = items("# A\n\none one\n\n- two\n- three\n", "x", &[])
            .iter()
            .map(|item| item.line)
            .collect();
        assert_eq!(lines, [3, 5, 6]);
    }

    proptest! {
        // S-FILE-2
        #[test]
        fn every_word_of_plain_lines_is_kept_once(
            lines in prop::collection::vec("(#{1,3} |- |  - |[0-9]\\. |)[a-z]{3,9}( [a-z]{3,9}){0,3}|", 0..20),
            noise in "\\PC{0,200}"
        ) {
            let _ = items(&noise, "x", &[]);
            let text = lines.join("\n");
            let items = items(&text, "x", &[]);
            let kept_words: usize = items.iter().map(|item| item.text.split_whitespace().filter(|w| *w != "-").count()).sum();
            let plain = |line: &&String| !line.starts_with('#');
            let marks = ["-", "0.", "1.", "2.", "3.", "4.", "5.", "6.", "7.", "8.", "9."];
            let words: usize = lines.iter().filter(plain)
                .map(|line| line.split_whitespace().filter(|word| !marks.contains(word)).count()).sum();
            prop_assert_eq!(kept_words, words, "{:?} of {}", items, text);
        }
    }
}
