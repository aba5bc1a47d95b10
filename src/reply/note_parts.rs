//! Splits a note into sentences, each with the part of the note that it belongs to: what helps, what failed, the rest.
//! Headings and labels such as `## Solution` or `Tried:` tell. Not here: which sentences are shown (`excerpt`).

use super::inert;

/// What a part of a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotePart {
    /// What helped, or what is to be done.
    Help,
    /// How the same is avoided next time: what helps, where nothing else does.
    Prevention,
    /// What was tried and did not help, or what was wrong.
    Failed,
    /// Anything else, such as the problem and its cause.
    Other,
}

/// A piece of a note, neutralised and on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotePiece {
    /// Its text, which is never empty.
    pub(super) text: String,
    /// The part of the note that it belongs to.
    pub(super) part: NotePart,
    /// What it is in the text.
    pub(super) form: PieceForm,
}

/// What a piece is in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceForm {
    /// A heading that only names the part of the note that follows.
    Label,
    /// Any other heading.
    Heading,
    /// A sentence.
    Sentence,
    /// A line of code.
    Code,
}

/// Longest label, in words: a longer heading is a statement, in which any word may stand.
const LABEL_WORDS_MAX: usize = 4;
/// The shortest line that is taken for one that an editor wrapped, in bytes: the next line goes on with its sentence.
const WRAPPED_BYTES_MIN: usize = 50;
/// Most lines of a block of code of which each is marked as code; a longer block would only get marks.
const CODE_LINES_MAX: usize = 3;
/// The depth of a label that stands alone on a line, below all headings.
const LABEL_DEPTH: usize = 7;

const FAILED: &[&str] = &[
    "anti-pattern",
    "attempt",
    "attempted",
    "attempts",
    "bad",
    "broken",
    "didn't",
    "doesn't",
    "failed",
    "incorrect",
    "problematic",
    "tried",
    "wrong",
    "❌",
];
/// Words of a label that ask why, whatever else it names.
const WHY: &[&str] = &["because", "pourquoi", "reason", "warum", "why"];
/// Words that name a remedy, also beside a cause.
const REMEDY: &[&str] = &[
    "abhilfe",
    "fix",
    "fixed",
    "fixes",
    "lösung",
    "lösungsweg",
    "oplossing",
    "remedy",
    "resolution",
    "resolved",
    "rozwiązanie",
    "solución",
    "solution",
    "solutions",
    "soluzione",
    "solução",
    "workaround",
    "çözüm",
    "решение",
];
/// The same in languages that do not divide words: what a label contains.
const REMEDY_SIGNS: &[&str] = &["解決", "解决", "対処", "対策", "해결"];
const REST: &[&str] = &[
    "background",
    "cause",
    "causes",
    "context",
    "environment",
    "evidence",
    "impact",
    "investigation",
    "issue",
    "problem",
    "references",
    "related",
    "symptom",
    "symptoms",
    "test",
    "tests",
    "timeline",
    "verification",
    "verify",
];
const HELP: &[&str] = &[
    "answer",
    "conclusion",
    "correct",
    "decision",
    "do",
    "ergebnis",
    "good",
    "helped",
    "instead",
    "learned",
    "lesson",
    "lessons",
    "outcome",
    "recipe",
    "recommendation",
    "right",
    "rule",
    "rules",
    "takeaway",
    "taken",
    "worked",
    "working",
    "works",
    "✅",
];
const PREVENTION: &[&str] = &["avoid", "prevent", "prevention"];

impl NotePart {
    /// Returns the part that a label names; `None` where it names none.
    fn of_label(label: &str) -> Option<Self> {
        let label = label.to_lowercase().replace('’', "'");
        let words: Vec<&str> = label
            .split(|c: char| c.is_whitespace() || c == '/')
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '❌' && c != '✅'))
            .filter(|word| !word.is_empty() && word.parse::<u32>().is_err())
            .collect();
        if words.is_empty() || words.len() > LABEL_WORDS_MAX {
            return None;
        }
        // Of code before and after a change; elsewhere both words stand for times.
        match words.as_slice() {
            ["before"] => return Some(Self::Failed),
            ["after"] => return Some(Self::Help),
            _ => {}
        }
        let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
        if !has(FAILED) && !has(WHY) && REMEDY_SIGNS.iter().any(|sign| label.contains(sign)) {
            return Some(Self::Help);
        }
        let parts = [
            (FAILED, Self::Failed),
            (WHY, Self::Other),
            (REMEDY, Self::Help),
            (REST, Self::Other),
            (HELP, Self::Help),
            (PREVENTION, Self::Prevention),
        ];
        parts.into_iter().find(|(list, _)| has(list)).map(|(_, part)| part)
    }
}

impl NotePart {
    /// Returns whether a comment in code begins by calling what follows right or wrong; `None` where it says neither.
    fn of_comment(comment: &str) -> Option<Self> {
        let first = label_of(comment).split_whitespace().next()?;
        Self::of_label(first).filter(|part| matches!(part, Self::Help | Self::Failed))
    }
}

/// Splits a note into its pieces, in the order of the text.
pub(super) fn note_pieces(text: &str) -> Vec<NotePiece> {
    let mut splitter = NoteSplitter::default();
    for line in text.lines() {
        splitter.read_line(line);
    }
    splitter.end_code();
    splitter.end_paragraph();
    splitter.pieces
}

/// Returns a text without the headings that only name a part, such as `## Problem`, on one line.
pub(super) fn title_text(text: &str) -> String {
    let pieces = note_pieces(text).into_iter();
    let told: Vec<String> =
        pieces.filter(|piece| piece.form != PieceForm::Label).map(|piece| piece.text).collect();
    told.join(" ")
}

#[derive(Default)]
struct NoteSplitter {
    pieces: Vec<NotePiece>,
    /// The headings that hold where the text is read, each with its depth and its part.
    headings: Vec<(usize, Option<NotePart>)>,
    /// The part that a label within the paragraph names.
    label: Option<NotePart>,
    /// The lines of the paragraph so far.
    paragraph: String,
    /// Whether the last line of it was so long that an editor may have wrapped it.
    is_wrapped: bool,
    /// The lines of the block of code that is read.
    code: Option<Vec<String>>,
}

impl NoteSplitter {
    fn part(&self) -> NotePart {
        let heading = self.headings.iter().rev().find_map(|(_, part)| *part);
        self.label.or(heading).unwrap_or(NotePart::Other)
    }

    fn read_line(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            self.end_paragraph();
            if self.code.is_some() { self.end_code() } else { self.code = Some(Vec::new()) }
        } else if let Some(code) = &mut self.code {
            code.push(trimmed.to_owned());
        } else if trimmed.is_empty() {
            self.end_paragraph();
            self.label = None;
        } else if let Some((depth, heading)) = heading(trimmed) {
            self.end_paragraph();
            self.begin_heading(depth, heading);
        } else {
            self.read_prose(trimmed);
        }
    }

    fn begin_heading(&mut self, depth: usize, heading: &str) {
        self.label = None;
        self.headings.retain(|(other, _)| *other < depth);
        let part = NotePart::of_label(label_of(heading.trim_matches('*')));
        self.headings.push((depth, part));
        let text = inert::text(heading.trim_matches(['#', '*', ' ', '\t']));
        let colon = if text.ends_with(|c: char| c.is_alphanumeric() || ")`'\"".contains(c)) {
            ":"
        } else {
            ""
        };
        let is_label = part.is_some() && label_of(&text).len() == text.trim_end_matches(':').len();
        let form = if is_label { PieceForm::Label } else { PieceForm::Heading };
        self.push(&format!("{text}{colon}"), form);
    }

    fn read_prose(&mut self, line: &str) {
        let continues = self.is_wrapped && !begins_item(line);
        if !continues {
            self.end_paragraph();
        } else {
            self.paragraph.push(' ');
        }
        self.paragraph.push_str(line);
        self.is_wrapped = line.len() >= WRAPPED_BYTES_MIN;
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        self.is_wrapped = false;
        for sentence in sentences(&paragraph) {
            if let Some(part) = inline_label(sentence).and_then(NotePart::of_label) {
                self.label = Some(part);
            }
            let text = inert::text(sentence.trim_start_matches(['#', ' ', '\t', '>']));
            self.push(&text, PieceForm::Sentence);
        }
    }

    fn end_code(&mut self) {
        let Some(lines) = self.code.take() else { return };
        let before = self.label;
        let is_short = lines.len() <= CODE_LINES_MAX;
        for line in lines {
            let comment = line.trim_start_matches(['#', '/', '-', '*', '<', '!', ' ']);
            if comment.len() < line.len()
                && let Some(part) = NotePart::of_comment(comment)
            {
                self.label = Some(part);
            }
            let text = inert::text(&line);
            let is_marked = is_short && !text.is_empty() && !text.contains('`');
            let shown = if is_marked { format!("`{text}`") } else { text };
            self.push(&shown, PieceForm::Code);
        }
        self.label = before;
    }

    fn push(&mut self, text: &str, form: PieceForm) {
        if !text.is_empty() {
            self.pieces.push(NotePiece { text: text.to_owned(), part: self.part(), form });
        }
    }
}

/// Returns the depth and the text of a heading: one of Markdown, or a label that stands alone on its line.
fn heading(line: &str) -> Option<(usize, &str)> {
    let depth = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..LABEL_DEPTH).contains(&depth) && line.as_bytes().get(depth) == Some(&b' ') {
        return line.get(depth..).map(|text| (depth, text.trim()));
    }
    let plain = line.trim_matches('*').trim_end_matches([':', '：']).trim_matches('*');
    let is_label = plain.len() < line.len()
        && plain.split_whitespace().count() <= LABEL_WORDS_MAX
        && (line.ends_with([':', '：']) || (line.starts_with("**") && line.ends_with("**")));
    (is_label && NotePart::of_label(label_of(plain)).is_some()).then_some((LABEL_DEPTH, line))
}

/// Returns the part of a heading that names what follows: `Fix 2: wrong form (hooks)` -> `Fix 2`.
fn label_of(heading: &str) -> &str {
    let end = heading.find([':', '：', '(', '（', '—', '–']).filter(|end| *end > 0);
    heading.get(..end.unwrap_or(heading.len())).unwrap_or(heading)
}

/// Returns the label that a sentence begins with: `Root cause: the cache` -> `Root cause`.
fn inline_label(sentence: &str) -> Option<&str> {
    let plain = sentence.trim_start_matches(['-', '*', '>', ' ']);
    let (label, rest) = plain.split_once([':', '：'])?;
    let is_wide = plain.get(label.len()..).is_some_and(|mark| mark.starts_with('：'));
    let is_label = label.len() <= 40 && (is_wide || rest.starts_with([' ', '*', '\t']));
    is_label.then(|| label.trim_matches('*'))
}

/// Tells whether a line begins something of its own, such as an item of a list or a row of a table.
pub(super) fn begins_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = line.get(digits..).unwrap_or_default();
    let is_numbered = digits > 0 && (after.starts_with(". ") || after.starts_with(") "));
    is_numbered
        || ["- ", "* ", "+ ", "| ", "> ", "|", "**"].iter().any(|mark| line.starts_with(mark))
        || inline_label(line).and_then(NotePart::of_label).is_some()
}

/// Splits a paragraph after `. `, `! ` and `? `, but not after a number or an abbreviation of one letter.
fn sentences(paragraph: &str) -> Vec<&str> {
    let mut cuts = vec![0];
    for (at, _) in paragraph
        .match_indices(". ")
        .chain(paragraph.match_indices("! "))
        .chain(paragraph.match_indices("? "))
    {
        let before = paragraph.get(..at).unwrap_or_default();
        let word = before
            .rsplit(|c: char| c.is_whitespace() || "(.".contains(c))
            .next()
            .unwrap_or_default();
        let is_short = word.chars().count() <= 1 || word.bytes().all(|byte| byte.is_ascii_digit());
        let is_mark = paragraph.get(at..).is_some_and(|rest| rest.starts_with('.'));
        if !(is_mark && is_short) {
            cuts.push(at + 2);
        }
    }
    cuts.sort_unstable();
    cuts.push(paragraph.len());
    cuts.iter()
        .zip(cuts.iter().skip(1))
        .filter_map(|(from, to)| paragraph.get(*from..*to))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(String, NotePart)> {
        note_pieces(text).into_iter().map(|piece| (piece.text, piece.part)).collect()
    }

    fn part_of(text: &str, words: &str) -> NotePart {
        let found = parts(text).into_iter().find(|(piece, _)| piece.contains(words));
        found.unwrap_or_else(|| panic!("{words}: {:?}", parts(text))).1
    }

    #[test]
    fn headings_and_labels_name_the_parts() {
        let text = "## Problem\nIt hangs.\n\n## What Didn't Work\n**Attempted Solution 1:** restart.\n\n## Solution\n\
                    Raise the limit.\n### server.rs\nEdit this file.\n### Before (broken)\nold()\n### After\nnew()\n\
                    ## Why This Works\nIt has room.";
        let expected = [
            ("hangs", NotePart::Other),
            ("restart", NotePart::Failed),
            ("Raise", NotePart::Help),
            ("Edit", NotePart::Help),
            ("old()", NotePart::Failed),
            ("new()", NotePart::Help),
            ("room", NotePart::Other),
        ];
        for (words, part) in expected {
            assert_eq!(part_of(text, words), part, "{words}");
        }
    }

    #[test]
    fn a_remedy_is_known_in_other_words_and_languages() {
        for label in [
            "Lösung",
            "Abhilfe",
            "解決策",
            "解决方案",
            "対処",
            "Решение",
            "Solución",
            "Soluzione",
            "Oplossing",
            "Outcome",
            "Conclusion",
            "Action taken",
            "What finally helped",
            "Root cause and fix",
            "Lessons learned",
            "Takeaway",
        ] {
            assert_eq!(
                part_of(&format!("## {label}\nRun this.\n## Notes\nx"), "Run"),
                NotePart::Help,
                "{label}"
            );
            let colon = if label.is_ascii() { ": " } else { "：" };
            assert_eq!(
                part_of(&format!("It froze. {label}{colon}run this."), "run this"),
                NotePart::Help,
                "{label}"
            );
        }
        for label in ["Why this fix works", "Ursache", "Root cause", "Why"] {
            assert_ne!(
                part_of(&format!("## {label}\nRun this."), "Run"),
                NotePart::Help,
                "{label}"
            );
        }
    }

    #[test]
    fn labels_within_a_paragraph_hold_to_its_end() {
        let text = "Tried: a longer timeout. It hung again. Fix: close the pool first.\n\nSeen in CI only.";
        assert_eq!(part_of(text, "longer"), NotePart::Failed);
        assert_eq!(part_of(text, "again"), NotePart::Failed);
        assert_eq!(part_of(text, "pool"), NotePart::Help);
        assert_eq!(part_of(text, "CI"), NotePart::Other);
        assert_eq!(
            part_of("Run the fix before the wrong deploy goes out: now", "fix"),
            NotePart::Other
        );
    }

    #[test]
    fn comments_in_code_tell_wrong_from_right() {
        let text = "## Fix\n```js\n// Wrong\na();\n// Correct\nb();\n// Each test command\nc();\n```\nThen build.";
        assert_eq!(part_of(text, "a();"), NotePart::Failed);
        assert_eq!(part_of(text, "b();"), NotePart::Help);
        assert_eq!(part_of(text, "c();"), NotePart::Help);
        assert_eq!(part_of(text, "Then"), NotePart::Help);
    }

    #[test]
    fn a_wrapped_sentence_is_one_piece_and_an_item_another() {
        let text = "The socket was closed by the proxy after sixty seconds of\nsilence, e.g. at night.\n- Set keepalive to 30.\n\
                    2. Then 1.5 s. Done.";
        let pieces: Vec<String> = note_pieces(text).into_iter().map(|piece| piece.text).collect();
        assert_eq!(
            pieces,
            [
                "The socket was closed by the proxy after sixty seconds of silence, e.g. at night.",
                "- Set keepalive to 30.",
                "2. Then 1.5 s. Done.",
            ]
        );
    }

    #[test]
    fn a_short_block_of_code_is_marked_as_code() {
        assert_eq!(
            parts("## Fix\n\n```sh\nnpm ci\n```\nDone."),
            [
                ("Fix:".to_owned(), NotePart::Help),
                ("`npm ci`".to_owned(), NotePart::Help),
                ("Done.".to_owned(), NotePart::Help),
            ]
        );
    }
}
