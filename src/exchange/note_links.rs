//! Links and tags in the text of a note: `[[wikilinks]]`, links to Markdown files, and `#tags`. Nothing in code counts.
//! Not here: which note a link means (`markdown_notes`).

use guard::markdown_marks::{self, MarkdownLine};

/// A link in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoteLink {
    /// What it names: a title or a path, without heading and alias.
    pub(crate) target: String,
    /// The words before it, where the link is a list item of its own: `- requires [[Grinder]]`.
    pub(crate) relation: Option<String>,
}

/// Most links of one note. A longer list is an index.
const LINKS_MAX: usize = 200;

/// Returns the links of a text.
pub(crate) fn links(text: &str) -> Vec<NoteLink> {
    let mut found = Vec::new();
    for line in lines_of_prose(text) {
        let mut rest = &*line;
        // Only the words before the first link of a line say how it is meant.
        let mut relation = line.split_once("[[").and_then(|(before, _)| item_words(before));
        while let Some((_, after)) = rest.split_once("[[") {
            let Some((inner, behind)) = after.split_once("]]") else { break };
            let target = inner.split(['|', '#', '^']).next().unwrap_or_default().trim();
            let relation = relation.take().map(str::to_owned);
            if !target.is_empty() {
                found.push(NoteLink { target: target.to_owned(), relation });
            }
            rest = behind;
        }
        found.extend(file_links(&line));
    }
    found.truncate(LINKS_MAX);
    found
}

/// The words of a list item before its link: few, and nothing but words.
fn item_words(before: &str) -> Option<&str> {
    let words = before.trim_start().strip_prefix(['-', '*', '+'])?.trim();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-');
    (!words.is_empty() && words.len() <= 40 && words.chars().all(is_word)).then_some(words)
}

/// Links such as `[text](folder/note.md)`.
fn file_links(line: &str) -> Vec<NoteLink> {
    let parts = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '#']).next());
    let notes =
        parts.filter_map(|path| path.strip_suffix(".md")).filter(|path| !path.contains(':'));
    let target = |path: &str| path.trim_start_matches("./").replace("%20", " ");
    notes.map(|path| NoteLink { target: target(path), relation: None }).collect()
}

/// Returns the tags of a text, without `#`.
pub(crate) fn inline_tags(text: &str) -> Vec<String> {
    let mut tags = Vec::new();
    for line in lines_of_prose(text) {
        for word in line.split_whitespace() {
            let Some(tag) = word.strip_prefix('#') else { continue };
            let end = tag.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/')));
            let tag = end.and_then(|end| tag.get(..end)).unwrap_or(tag);
            if tag.chars().any(char::is_alphabetic) {
                tags.push(tag.to_owned());
            }
        }
    }
    tags
}

/// Returns the lines outside fenced code, without code in backticks.
fn lines_of_prose(text: &str) -> impl Iterator<Item = String> + '_ {
    markdown_marks::lines(text).filter_map(|line| match line {
        MarkdownLine::Prose(line) => Some(without_spans(line)),
        MarkdownLine::Code(_) => None,
    })
}

/// Every second part between backticks is code.
fn without_spans(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    if parts.len() < 3 {
        return line.to_owned();
    }
    parts.into_iter().step_by(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link_targets(text: &str) -> Vec<(String, Option<String>)> {
        links(text).into_iter().map(|link| (link.target, link.relation)).collect()
    }

    // S-IMPORT-5
    #[test]
    fn links_are_found_outside_code() {
        let text = "See [[Office|the office]] and [[a/Deep note#Head]].\n- requires [[Grinder]]\n\
                    - relates to [[Kitchen]] and [[Sink]]\n[x](sub/My%20note.md) [y](https://a.b/c.md)\n\
                    `[[no]]`\n```\n[[no]]\n```\n~~~\n[[no]]\n```\n[[no]]\n~~~\n[[]] [[open";
        let plain = |name: &str| (name.to_owned(), None);
        assert_eq!(
            link_targets(text),
            [
                plain("Office"),
                plain("a/Deep note"),
                ("Grinder".to_owned(), Some("requires".to_owned())),
                ("Kitchen".to_owned(), Some("relates to".to_owned())),
                plain("Sink"),
                plain("sub/My note"),
            ]
        );
    }

    // S-IMPORT-5
    #[test]
    fn tags_are_found_outside_code() {
        let text = "# Heading\n#one and #two/three, (#no) #4 `#no`\n- [method] brew #clarity.\n";
        assert_eq!(inline_tags(text), ["one", "two/three", "clarity"]);
    }
}
