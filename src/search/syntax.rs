//! Filters in the query: `kind:error tag:npm since:30d the rest`. Anything that is not exactly such a filter stays
//! text, since people paste error messages. Pure. Not here: applying a filter (`filter`), which repository a name
//! means (`api`).

use super::time_point::TimePoint;
use event::{EventType, RepoKey};
use guard::secrets::RedactedText;

/// A query in two: its text, and the filters that stood in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// The rest of the query; empty if it consists of filters only.
    pub text: RedactedText,
    /// Repositories, any of them, as they were written.
    pub repos: Vec<String>,
    /// Kinds, any of them.
    pub kinds: Vec<String>,
    /// Tags, all of them.
    pub tags: Vec<String>,
    /// Files, any of them.
    pub files: Vec<String>,
    /// Agents, any of them.
    pub agents: Vec<String>,
    /// Branches, any of them.
    pub branches: Vec<String>,
    /// From then on; of several the last one written.
    pub since: Option<TimePoint>,
    /// Up to then; of several the last one written.
    pub until: Option<TimePoint>,
    /// The last word that looks like one of these filters and has a value that it does not take: it stays text.
    pub misread: Option<String>,
}

impl ParsedQuery {
    /// Takes the filters out of a query. What stands in double quotes or backticks is text.
    #[must_use]
    pub fn parse(query: &RedactedText) -> Self {
        let query = query.as_str();
        let mut asked = Self::default();
        let mut text = String::with_capacity(query.len());
        let mut rest = query;
        while let Some((outside, quoted, tail)) = next_quoted(rest) {
            asked.take_from(outside, quoted, &mut text);
            text.push_str(quoted);
            rest = tail;
        }
        asked.take_from(rest, "", &mut text);
        // `kind: Secret` is no filter; a name at the end was to be one.
        let last = query.split_whitespace().next_back();
        if let Some(word) = last.filter(|word| matches!(*word, "kind:" | "since:" | "until:")) {
            asked.misread = Some(word.to_owned());
        }
        let is_said = text.chars().any(char::is_alphanumeric);
        asked.text = match is_said || !asked.has_filters() {
            true => RedactedText::redact(text.trim()),
            false => RedactedText::default(),
        };
        asked
    }

    /// Tells whether any filter stood in the query.
    #[must_use]
    pub fn has_filters(&self) -> bool {
        let lists =
            [&self.repos, &self.kinds, &self.tags, &self.files, &self.agents, &self.branches];
        lists.iter().any(|list| !list.is_empty()) || self.since.is_some() || self.until.is_some()
    }

    /// Appends a text without the filters in it; everything else stays as it stood. A word that touches a
    /// quoted text, before it or in `after`, is no filter.
    fn take_from(&mut self, outside: &str, after: &str, text: &mut String) {
        for piece in outside.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end();
            let is_before_quote = word.len() == piece.len() && !after.is_empty();
            let is_touching = is_before_quote || text.ends_with(['"', '`']);
            if is_touching {
                text.push_str(piece);
            } else if self.parse_filter(word).is_none() {
                text.push_str(piece);
                if is_misread(word) {
                    self.misread = Some(word.to_owned());
                }
            }
        }
    }

    /// Takes one word if it is a filter.
    fn parse_filter(&mut self, word: &str) -> Option<()> {
        let (name, value) = word.split_once(':')?;
        match name {
            "repo" => self.repos.push(repo(value)?),
            "kind" => self.kinds.push(EventType::for_writing(value).ok()?.as_str().to_owned()),
            "tag" => self.tags.push(name_of(value)?),
            "file" => self.files.push(file(value)?),
            "agent" => self.agents.push(name_of(value)?),
            "branch" => self.branches.push(name_of(value)?),
            "since" => self.since = Some(TimePoint::parse(value)?),
            "until" => self.until = Some(TimePoint::parse(value)?),
            _ => return None,
        }
        Some(())
    }
}

/// Tells whether a word is a filter by kind or time whose value is none.
fn is_misread(word: &str) -> bool {
    let named =
        word.split_once(':').filter(|(name, _)| matches!(*name, "kind" | "since" | "until"));
    // `kind:ENOENT:` of an error is none.
    let is_value = |value: &str| value.starts_with(char::is_alphanumeric) && !value.contains(':');
    named.is_some_and(|(_, value)| is_value(value))
}

/// Splits a text at its first quotation: the text before, the quotation with its quotes, the text after. A single
/// quote opens nothing.
fn next_quoted(text: &str) -> Option<(&str, &str, &str)> {
    // Only the last of either kind can be alone, so at most two are tried.
    text.match_indices(['"', '`']).find_map(|(start, quote)| {
        let (outside, rest) = text.split_at_checked(start)?;
        let length = rest.match_indices(quote).nth(1).map(|(at, _)| at + quote.len())?;
        let (quoted, tail) = rest.split_at_checked(length)?;
        Some((outside, quoted, tail))
    })
}

/// `repo:acme/api`; what no repository can be called is text.
fn repo(value: &str) -> Option<String> {
    let ends_well = value.ends_with(char::is_alphanumeric);
    (ends_well && RepoKey::parse(value).is_ok()).then(|| value.to_owned())
}

/// A tag or an agent: one word without what only sentences and code have.
fn name_of(value: &str) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || "-_./@+#".contains(c);
    let ends_well = value.starts_with(char::is_alphanumeric) && !value.ends_with('.');
    (ends_well && value.chars().all(is_part)).then(|| value.to_owned())
}

/// `file:src/a.rs`: a path or the name of a file, but not `file:///`, a line or a sentence.
fn file(value: &str) -> Option<String> {
    let is_path = value.contains(['/', '.', '\\']) && !value.starts_with("//");
    let is_part = |c: char| c.is_alphanumeric() || "-_./\\@+#[]()~".contains(c);
    let ends_well = value.ends_with(|c: char| c.is_alphanumeric() || "_-])".contains(c));
    (is_path && ends_well && value.chars().all(is_part)).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // S-FIND-2
    #[test]
    fn a_filter_with_a_wrong_value_is_named() {
        for (query, word) in [
            ("x since:gestern", Some("since:gestern")),
            ("until:tomorrow x", Some("until:tomorrow")),
            ("x kind:", Some("kind:")),
            ("x kind:Two/Words", Some("kind:Two/Words")),
            ("x since:30d kind:error", None),
            ("kind: Secret", None),
            ("\"since:gestern\"", None),
            ("since::new() fails", None),
            ("npm failed kind:ENOENT: no such file", None),
        ] {
            let asked = ParsedQuery::parse(&query.into());
            assert_eq!(asked.misread.as_deref(), word, "{query}");
            assert!(word.is_none_or(|word| asked.text.contains(word)), "{query}");
        }
    }

    // S-FIND-2
    #[test]
    fn filters_are_taken_out_and_the_rest_is_the_text() {
        let asked = ParsedQuery::parse(
            &"repo:acme/api npm kind:Error fails tag:npm\nfile:src/a.rs agent:codex branch:fix/a-1 since:30d until:2026-01-01 why".into(),
        );
        assert_eq!(asked.text, "npm fails why");
        assert_eq!((asked.repos, asked.kinds), (vec!["acme/api".into()], vec!["error".into()]));
        assert_eq!((asked.tags, asked.files), (vec!["npm".into()], vec!["src/a.rs".into()]));
        assert_eq!((asked.agents, asked.branches), (vec!["codex".into()], vec!["fix/a-1".into()]));
        assert_eq!(
            (asked.since, asked.until),
            (TimePoint::parse("30d"), TimePoint::parse("2026-01-01"))
        );
    }

    // S-FIND-2
    #[test]
    fn filters_alone_leave_no_text() {
        for query in ["kind:error", " tag:a  tag:b ", "- kind:error -"] {
            let asked = ParsedQuery::parse(&query.into());
            assert!(asked.has_filters() && asked.text.is_empty(), "{query}");
        }
        assert_eq!(ParsedQuery::parse(&"kind:error tag:a/b tag:b".into()).tags, ["a/b", "b"]);
    }

    // S-FIND-2
    #[test]
    fn what_people_paste_stays_text() {
        for query in [
            "error: foo",
            "std::io std::fmt",
            "http://a.b/c https://x",
            "key:value",
            "kind: error",
            "branch: main branch:",
            "kind:",
            "Kind:error KIND:error",
            "kind:Pod,Service kind:\"x\" kind:é",
            "repo:../x repo:. repo:",
            "file:///home/x file:12 file: file:src/a.rs:12:5 file:a.rs,",
            "tag:{x} tag:a:b tag:<none>",
            "since:yesterday until:30 since:",
            "\"the kind:error one\" `tag:npm`",
            "x\"kind:error\"",
            "kind:error\"x y\" \"x y\"kind:error",
            "` \"the kind:error one\"",
            "?! …",
            "",
        ] {
            let asked = ParsedQuery::parse(&query.into());
            assert_eq!((asked.text.as_str(), asked.has_filters()), (query, false));
        }
    }

    #[test]
    fn a_lone_quote_hides_no_filter() {
        let asked = ParsedQuery::parse(&"don\"t kind:error x".into());
        assert_eq!((asked.text.as_str(), asked.kinds.len()), ("don\"t x", 1));
    }

    proptest! {
        // S-FIND-2
        #[test]
        fn a_text_without_a_known_prefix_is_never_changed(text in "[a-eg-jl-qu-z:\"` /.]{0,40}") {
            let asked = ParsedQuery::parse(&text.as_str().into());
            prop_assert_eq!(asked.text, text.trim());
        }

        #[test]
        fn any_text_is_taken_and_what_is_left_was_there(text in "\\PC{0,60}") {
            let text = RedactedText::redact(&text);
            let asked = ParsedQuery::parse(&text);
            let words: Vec<&str> = text.split_whitespace().collect();
            prop_assert!(asked.text.split_whitespace().all(|word| words.contains(&word)));
        }
    }
}
