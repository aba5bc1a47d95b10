//! Our block in an agent file: everything between two marks. All other bytes stay. Pure. Not here: the lines of the
//! block, and reading or writing the file.

use std::fmt;

/// The beginning of every mark of ours, also of the block in `packages/`.
const OURS: &str = "<!-- agent-knowledge:";
/// The beginning of the mark above the block.
const BEGIN: &str = "<!-- agent-knowledge: export begin";
/// The mark below the block.
const END: &str = "<!-- agent-knowledge: export end -->";

/// The settings a block was written with. They are in its first mark, so that a renewal uses the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSettings {
    /// The maturity that a memory needs, by its name in replies.
    pub min: String,
    /// Most tokens of all lines.
    pub max_tokens: usize,
}

/// A block in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentsBlock {
    /// The settings it was written with.
    pub settings: BlockSettings,
    begin: usize,
    /// The end of the block, including the line break after its last mark if there is one.
    end: usize,
}

/// Tells whether a line begins a block of ours.
pub(super) fn is_begin(line: &str) -> bool {
    is_mark(line, "begin")
}

/// Tells whether a line ends a block of ours.
pub(super) fn is_end(line: &str) -> bool {
    is_mark(line, "end")
}

fn is_mark(line: &str, word: &str) -> bool {
    let inner = line.trim().strip_prefix(OURS).and_then(|rest| rest.strip_suffix("-->"));
    inner.is_some_and(|inner| inner.split_whitespace().any(|other| other == word))
}

impl fmt::Display for BlockSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "min={} max_tokens={}", self.min, self.max_tokens)
    }
}

impl BlockSettings {
    fn of_mark(line: &str) -> Option<Self> {
        let inner = line.trim().strip_prefix(BEGIN)?.strip_suffix("-->")?;
        let value = |name: &str| {
            let words = inner.split_whitespace();
            words.filter_map(|word| word.split_once('=')).find(|(key, _)| *key == name)
        };
        let min = value("min")?.1.to_owned();
        Some(Self { min, max_tokens: value("max_tokens")?.1.parse().ok()? })
    }
}

impl AgentsBlock {
    /// Finds our block; `None` if there is none.
    ///
    /// # Errors
    /// A sentence with the line number, if the marks are not as we write them. Then nothing may be changed.
    pub fn find(text: &str) -> Result<Option<Self>, String> {
        let (mut found, mut open): (Option<Self>, Option<(usize, BlockSettings)>) = (None, None);
        let mut at = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let (begin, end) = (at, at + line.len());
            at = end;
            let bare = line.trim();
            if bare.starts_with(BEGIN) {
                let Some(settings) = BlockSettings::of_mark(bare) else {
                    return Err(format!(
                        "line {number}: a mark of agent-knowledge that it does not write in this form"
                    ));
                };
                if open.is_some() || found.is_some() {
                    return Err(format!("line {number}: a second block of agent-knowledge begins"));
                }
                open = Some((begin, settings));
            } else if bare == END {
                let Some((begin, settings)) = open.take() else {
                    return Err(format!(
                        "line {number}: a block of agent-knowledge ends that did not begin"
                    ));
                };
                found = Some(Self { settings, begin, end });
            }
        }
        match open {
            Some(_) => Err("a block of agent-knowledge begins and does not end".to_owned()),
            None => Ok(found),
        }
    }

    /// Returns the text with a block of these lines, in place of the present block or at the end.
    ///
    /// # Errors
    /// Those of [`AgentsBlock::find`].
    pub fn with_block(
        text: &str,
        settings: &BlockSettings,
        lines: &[String],
    ) -> Result<String, String> {
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut block = format!("{BEGIN} {settings} -->{ending}");
        for line in HEAD.into_iter().chain(lines.iter().map(String::as_str)) {
            block.push_str(&harmless(line));
            block.push_str(ending);
        }
        block.push_str(END);
        if let Some(there) = Self::find(text)? {
            let has_ending = text.get(..there.end).is_some_and(|upto| upto.ends_with('\n'));
            let last = if has_ending { ending } else { "" };
            let (before, after) = there.around(text);
            return Ok(format!("{before}{block}{last}{after}"));
        }
        Ok(match text {
            "" => format!("{block}{ending}"),
            // A file without a last line break gets none, so that removing the block restores it.
            _ if !text.ends_with('\n') => format!("{text}{ending}{block}"),
            _ => format!("{text}{ending}{block}{ending}"),
        })
    }

    /// Returns the text without our block. It equals the original if nobody wrote below the block.
    ///
    /// # Errors
    /// Those of [`AgentsBlock::find`].
    pub fn without_block(text: &str) -> Result<String, String> {
        let Some(there) = Self::find(text)? else { return Ok(text.to_owned()) };
        let (before, after) = there.around(text);
        if !after.is_empty() {
            return Ok(format!("{before}{after}"));
        }
        // The line break that `put` added in front of the block.
        let before = before.strip_suffix('\n').unwrap_or(before);
        Ok(before.strip_suffix('\r').unwrap_or(before).to_owned())
    }

    fn around<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        (text.get(..self.begin).unwrap_or_default(), text.get(self.end..).unwrap_or_default())
    }
}

/// The heading above the lines, for people who find the block.
const HEAD: [&str; 4] = [
    "## Proven lessons for this repository",
    "",
    "Lessons from earlier sessions, written by `agent-knowledge export`. Changes between these marks are overwritten.",
    "",
];

/// Returns a line that cannot be one of our marks, and cannot open or close a comment.
fn harmless(line: &str) -> String {
    line.replace("<!--", "<! --").replace("-->", "-- >").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn settings() -> BlockSettings {
        BlockSettings { min: "proven".to_owned(), max_tokens: 800 }
    }

    fn with_block(text: &str, lines: &[&str]) -> String {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        AgentsBlock::with_block(text, &settings(), &lines).unwrap()
    }

    // S-FILE-5
    #[test]
    fn a_block_is_added_renewed_in_place_and_removed() {
        let once = with_block("# Mine\n", &["- one"]);
        assert!(once.starts_with(
            "# Mine\n\n<!-- agent-knowledge: export begin min=proven max_tokens=800 -->\n"
        ));
        assert!(once.ends_with("\n\n- one\n<!-- agent-knowledge: export end -->\n"), "{once}");
        assert_eq!(AgentsBlock::find(&once).unwrap().unwrap().settings, settings());
        let more = format!("{once}\nmore of mine");
        let twice = with_block(&more, &["- one", "- two --> <!-- agent-knowledge: export end -->"]);
        assert!(
            twice.contains("- one\n- two -- > <! -- agent-knowledge: export end -- >\n"),
            "{twice}"
        );
        assert!(twice.ends_with("-->\n\nmore of mine"), "{twice}");
        assert_eq!(AgentsBlock::without_block(&twice).unwrap(), "# Mine\n\n\nmore of mine");
        assert_eq!(AgentsBlock::without_block(&once).unwrap(), "# Mine\n");
    }

    // S-FILE-5
    #[test]
    fn damaged_marks_are_refused() {
        let good = with_block("", &["- one"]);
        for (text, why) in [
            (format!("{good}{good}"), "line 8: a second block"),
            (format!("{END}\n"), "line 1: a block of agent-knowledge ends"),
            (format!("x\n{BEGIN} min=proven max_tokens=9 -->\n"), "begins and does not end"),
            (format!("x\n{BEGIN} of mine -->\n{END}\n"), "line 2: a mark of agent-knowledge that"),
        ] {
            assert!(AgentsBlock::find(&text).unwrap_err().contains(why), "{text}");
            assert!(
                AgentsBlock::without_block(&text).is_err()
                    && AgentsBlock::with_block(&text, &settings(), &[]).is_err()
            );
        }
    }

    proptest! {
        // S-FILE-5
        #[test]
        fn every_other_byte_stays_and_the_same_block_changes_nothing(
            text in "([ -~é]{0,12}(\r?\n)?){0,6}", after in "[a-z\n]{0,12}",
            lines in prop::collection::vec("- \\PC{0,40}", 0..4), other in prop::collection::vec("- [a-z]{0,9}", 0..4)
        ) {
            let with = AgentsBlock::with_block(&text, &settings(), &lines).unwrap();
            prop_assert_eq!(&AgentsBlock::with_block(&with, &settings(), &lines).unwrap(), &with);
            prop_assert_eq!(AgentsBlock::without_block(&with).unwrap(), text.clone());
            let renewed = AgentsBlock::with_block(&with, &settings(), &other).unwrap();
            prop_assert_eq!(AgentsBlock::without_block(&renewed).unwrap(), text.clone());
            prop_assert!(renewed.starts_with(&text));
            if with.ends_with('\n') && !after.is_empty() {
                let written = AgentsBlock::with_block(&format!("{with}{after}"), &settings(), &other).unwrap();
                prop_assert!(written.starts_with(&text) && written.ends_with(&after));
            }
        }
    }
}
