//! The front matter of a note: names and values between two lines of `---`. Read by a parser of YAML, and line by line
//! where people or tools wrote what is no YAML. Not here: the text below it (`markdown_notes`).

use std::collections::BTreeMap;

use yaml_rust2::Event;
use yaml_rust2::parser::Parser;
use yaml_rust2::scanner::TScalarStyle;

/// Longest front matter that is read, in bytes.
const BLOCK_BYTES_MAX: usize = 256 << 10;
/// How deep values are nested, at most. Deeper ones are no properties of a note.
const DEPTH_MAX: usize = 16;

/// The values of a note, by name; names in names are joined by a dot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    values: BTreeMap<String, Vec<String>>,
}

impl FrontMatter {
    /// Splits a text with `\n` as its line break into its front matter and the rest.
    pub(crate) fn split(text: &str) -> (Self, &str) {
        let text = text.trim_start_matches('\u{FEFF}');
        let Some(rest) = text.strip_prefix("---\n") else { return (Self::default(), text) };
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            if matches!(line.trim_end(), "---" | "...") {
                let (block, below) = rest.split_at_checked(at).unwrap_or_default();
                let below = below.get(line.len()..).unwrap_or_default();
                return (Self::parse(block), below);
            }
            at += line.len();
            if at > BLOCK_BYTES_MAX {
                break;
            }
        }
        (Self::default(), text)
    }

    fn parse(block: &str) -> Self {
        Self { values: parsed(block).unwrap_or_else(|| by_line(block)) }
    }

    /// Returns the first value of a name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.first().map(String::as_str).filter(|text| !text.trim().is_empty())
    }

    /// Returns all values of a name.
    pub(crate) fn list(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// Tells whether a name has a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }
}

/// An open collection.
enum Frame {
    Names(Option<String>),
    List,
}

/// Reads YAML token by token: neither depth nor references of a foreign text may cost more than its length. Returns
/// `None` for anything but names and values.
fn parsed(block: &str) -> Option<BTreeMap<String, Vec<String>>> {
    let mut parser = Parser::new_from_str(block);
    let (mut values, mut frames) = (BTreeMap::<String, Vec<String>>::new(), Vec::new());
    loop {
        match parser.next_token().ok()?.0 {
            Event::StreamEnd => return Some(values),
            Event::MappingStart(..) => frames.push(Frame::Names(None)),
            Event::SequenceStart(..) if frames.is_empty() => return None,
            Event::SequenceStart(..) => frames.push(Frame::List),
            Event::MappingEnd | Event::SequenceEnd => {
                frames.pop();
                close_name(&mut frames);
            }
            Event::Scalar(text, style, ..) => match frames.last_mut() {
                Some(Frame::Names(name @ None)) => *name = Some(text),
                Some(_) => {
                    let is_null =
                        style == TScalarStyle::Plain && matches!(&*text, "" | "~" | "null");
                    let kept = values.entry(path_of(&frames)).or_default();
                    if !is_null {
                        kept.push(text);
                    }
                    close_name(&mut frames);
                }
                None => return None,
            },
            Event::Alias(_) => return None,
            _ => {}
        }
        if frames.len() > DEPTH_MAX {
            return None;
        }
    }
}

/// The value of the innermost name was read.
fn close_name(frames: &mut [Frame]) {
    if let Some(Frame::Names(name)) = frames.last_mut() {
        *name = None;
    }
}

fn path_of(frames: &[Frame]) -> String {
    let names = frames.iter().filter_map(|frame| match frame {
        Frame::Names(name) => name.as_deref(),
        Frame::List => None,
    });
    names.collect::<Vec<_>>().join(".")
}

/// Reads `name: value` and `name: [one, two]` line by line, and `- value` below a name.
fn by_line(block: &str) -> BTreeMap<String, Vec<String>> {
    let mut values = BTreeMap::<String, Vec<String>>::new();
    let mut last = String::new();
    for line in block.lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            if let Some(list) = values.get_mut(&last) {
                list.push(unquoted(item));
            }
            continue;
        }
        let Some((name, value)) = line.split_once(':').filter(|(name, _)| is_name(name)) else {
            continue;
        };
        name.clone_into(&mut last);
        let value = value.trim();
        let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let list = match inner {
            Some(inner) => inner.split(',').map(unquoted).filter(|item| !item.is_empty()).collect(),
            None if value.is_empty() => Vec::new(),
            None => vec![unquoted(value)],
        };
        values.insert(last.clone(), list);
    }
    values
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inner =
        ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.unwrap_or(text).to_owned()
}

/// Writes a text as one value: a line in quotes that every parser of YAML reads back.
pub(crate) fn quoted_value(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // Line breaks to YAML 1.1, and what is no printable character of it.
            '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(block: &str) -> Vec<(String, Vec<String>)> {
        let text = format!("---\n{block}\n---\nbody\n");
        let (front, body) = FrontMatter::split(&text);
        assert_eq!(body, "body\n");
        front.values.into_iter().collect()
    }

    fn pair(name: &str, values: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
    }

    // S-IMPORT-5
    #[test]
    fn front_matter_of_tools_is_read() {
        let yaml = "title: A note\ntags:\n- one\n- two words\naliases: [a, 'b: c']\nmetadata:\n  type: user\nempty:\nlong: >\n  a\n  b";
        assert_eq!(
            values(yaml),
            [
                pair("aliases", &["a", "b: c"]),
                pair("empty", &[]),
                pair("long", &["a b\n"]),
                pair("metadata.type", &["user"]),
                pair("tags", &["one", "two words"]),
                pair("title", &["A note"]),
            ]
        );
        // No YAML, and written all the same.
        let loose = "title: Build: how it works\ntags: [a, \"b\"]\nlist:\n- x";
        assert_eq!(
            values(loose),
            [
                pair("list", &["x"]),
                pair("tags", &["a", "b"]),
                pair("title", &["Build: how it works"])
            ]
        );
    }

    // S-IMPORT-5
    #[test]
    fn no_front_matter_is_dear_or_fatal() {
        let deep = "a: ".to_owned() + &"[".repeat(100_000);
        let deeper: String =
            (0..5_000).map(|depth| format!("{}a:\n", " ".repeat(depth % 200))).collect();
        let bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]".to_owned();
        for block in [deep, deeper, bomb, "- a\n- b".to_owned(), "just text".to_owned()] {
            let text = format!("---\n{block}\n---\nbody");
            let (front, _) = FrontMatter::split(&text);
            assert!(front.values.len() < 5_001);
        }
        for text in ["", "---", "---\n", "---\na: b", "text\n---\na: b\n---\n"] {
            assert_eq!(FrontMatter::split(text).0, FrontMatter::default(), "{text}");
        }
    }

    /// Texts with much of what YAML takes for something else.
    const ODD: &str = "(\\PC|[\n\t \"'#:&*!|>%@`\\[\\]{},\\\\\u{1}\u{85}\u{2028}-]){0,24}";

    proptest! {
        // S-EXPORT-2
        #[test]
        fn quoted_values_are_read_back(text in ODD) {
            let block = format!("a: {0}\nlist: [{0}, {0}]", quoted_value(&text));
            let read = parsed(&block).unwrap();
            prop_assert_eq!(&read["a"], &vec![text.clone()]);
            prop_assert_eq!(&read["list"], &vec![text.clone(), text]);
        }
    }
}
