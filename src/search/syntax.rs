//! Filters in the query: `kind:error tag:npm since:30d the rest`. Anything that is not exactly such a filter stays
//! text, since people paste error messages; so does a filter by something that no memory has, and every word of a
//! text of several lines. Pure. Not here: applying a filter (`filter`), what memories have (`known_values`), which
//! repository a name means (`api`).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::time_point::TimePoint;
use event::{EventType, RepoKey};
use guard::secrets::RedactedText;

/// A text with more words in the form of a filter than this is pasted: nobody types so many, and each is looked up.
const FILTER_WORDS_MAX: usize = 12;

/// How the words of a query are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum QuerySyntax {
    /// Somebody typed it, perhaps with filters.
    #[default]
    Typed,
    /// It comes from a pipe or has several lines, so every word is text.
    Pasted,
}

impl QuerySyntax {
    /// Tells how a query is read that nothing else is known of.
    #[must_use]
    pub fn of_text(query: &str) -> Self {
        if query.trim().contains(['\n', '\r']) { Self::Pasted } else { Self::Typed }
    }
}

/// A word in the form of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterWord {
    /// `repo:acme/api`, as it was written.
    Repo(String),
    /// `kind:error`
    Kind(String),
    /// `tag:npm`
    Tag(String),
    /// `file:src/a.rs`
    File(String),
    /// `folder:packages/web`, as it was written.
    Folder(String),
    /// `agent:codex`
    Agent(String),
    /// `branch:main`
    Branch(String),
    /// `since:30d`
    Since(TimePoint),
    /// `until:2026-03-01`
    Until(TimePoint),
}

impl FilterWord {
    /// Reads a word; `None` where it has not the form of a filter.
    fn parse(word: &str) -> Option<Self> {
        let (name, value) = word.split_once(':')?;
        Some(match name {
            "repo" => Self::Repo(repo(value)?),
            "kind" => Self::Kind(EventType::for_writing(value).ok()?.as_str().to_owned()),
            "tag" => Self::Tag(tag(value)?),
            "file" => Self::File(file(value)?),
            "folder" => Self::Folder(folder(value)?),
            "agent" => Self::Agent(name_of(value)?),
            "branch" => Self::Branch(name_of(value)?),
            "since" => Self::Since(TimePoint::parse(value)?),
            "until" => Self::Until(TimePoint::parse(value)?),
            _ => return None,
        })
    }

    /// Reads a word whose value stands in quotes, which may have spaces: `folder:"packages/ui kit"`.
    fn parse_quoted(name: &str, value: &str) -> Option<Self> {
        let is_text = !value.trim().is_empty() && !value.contains(char::is_control);
        let text = || is_text.then(|| value.trim().to_owned());
        Some(match name {
            "tag" => Self::Tag(text()?),
            "file" => Self::File(text()?),
            "folder" => Self::Folder(text()?),
            "agent" => Self::Agent(text()?),
            "branch" => Self::Branch(text()?),
            _ => Self::parse(&format!("{name}:{value}"))?,
        })
    }
}

/// As a sentence says that nothing has it.
impl fmt::Display for FilterWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repo(repo) => write!(out, "no memory is of the repository {repo}"),
            Self::Kind(kind) => write!(out, "no memory has the kind {kind}"),
            Self::Tag(tag) => write!(out, "no memory has the tag {tag}"),
            Self::File(file) => write!(out, "no memory is about the file {file}"),
            Self::Folder(folder) => write!(out, "no memory is from the folder {folder}"),
            Self::Agent(agent) => write!(out, "no memory is by the agent {agent}"),
            Self::Branch(branch) => write!(out, "no memory is from the branch {branch}"),
            Self::Since(_) | Self::Until(_) => out.write_str("no memory is from that time"),
        }
    }
}

/// A query in two: its text, and the filters that stood in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// The rest of the query; empty if it consists of filters only.
    pub text: RedactedText,
    /// The filters, in their order.
    pub filters: Vec<FilterWord>,
    /// The same as they were written.
    pub filter_words: Vec<String>,
    /// The repositories of words in the form of a filter, known or not: a query that names one may tell of it.
    pub repo_names: Vec<String>,
    /// The last word in the form of a filter by something that no memory has, as it was written, and what it would
    /// have been: it stays text.
    pub unknown: Option<(String, FilterWord)>,
    /// The last word that looks like one of these filters and has a value that it does not take: it stays text.
    pub misread: Option<String>,
}

impl ParsedQuery {
    /// Reads a text without filters.
    #[must_use]
    pub fn of_text(query: &RedactedText) -> Self {
        Self { text: RedactedText::redact(query.trim()), ..Self::default() }
    }

    /// Takes out of a query the filters by what is known. What stands in double quotes or backticks is text, unless it is the value of
    /// a filter.
    #[must_use]
    pub fn parse(query: &RedactedText, is_known: &dyn Fn(&FilterWord) -> bool) -> Self {
        let split = QuerySplit::begin(query, is_known);
        if split.candidates > FILTER_WORDS_MAX {
            return Self { repo_names: split.parsed.repo_names, ..Self::of_text(query) };
        }
        let QuerySplit { text, mut parsed, .. } = split;
        // `kind: Secret` is no filter; a name at the end was to be one.
        let last = query.split_whitespace().next_back();
        if let Some(word) = last.filter(|word| matches!(*word, "kind:" | "since:" | "until:")) {
            parsed.misread = Some(word.to_owned());
        }
        let is_said = text.chars().any(char::is_alphanumeric);
        parsed.text = match is_said || !parsed.has_filters() {
            true => RedactedText::redact(text.trim()),
            false => RedactedText::default(),
        };
        parsed
    }

    /// Takes out every word in the form of a filter, whatever is known.
    #[must_use]
    pub fn with_every_filter(query: &RedactedText) -> Self {
        Self::parse(query, &|_| true)
    }

    /// Tells whether any filter stood in the query.
    #[must_use]
    pub fn has_filters(&self) -> bool {
        !self.filters.is_empty()
    }
}

/// A query that is being split.
struct QuerySplit<'a> {
    is_known: &'a dyn Fn(&FilterWord) -> bool,
    text: String,
    parsed: ParsedQuery,
    /// Words in the form of a filter so far.
    candidates: usize,
}

impl<'a> QuerySplit<'a> {
    fn begin(query: &str, is_known: &'a dyn Fn(&FilterWord) -> bool) -> Self {
        let text = String::with_capacity(query.len());
        let mut split = Self { is_known, text, parsed: ParsedQuery::default(), candidates: 0 };
        let mut rest = query;
        while let Some((outside, quoted, tail)) = next_quoted(rest) {
            let (before, last) = split_last_word(outside);
            split.add_text(before, if last.is_empty() { quoted } else { "" });
            let is_whole = tail.is_empty() || tail.starts_with(char::is_whitespace);
            if is_whole && split.take_quoted(last, quoted) {
                // The white space behind a filter goes with it.
                rest = tail.strip_prefix(char::is_whitespace).unwrap_or(tail);
                continue;
            }
            split.add_text(last, quoted);
            split.text.push_str(quoted);
            rest = tail;
        }
        split.add_text(rest, "");
        split
    }

    /// Adds a text without the filters in it; everything else stays as it stood. A word that touches a
    /// quoted text, before it or in `after`, is no filter.
    fn add_text(&mut self, outside: &str, after: &str) {
        for piece in outside.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end();
            let is_before_quote = word.len() == piece.len() && !after.is_empty();
            let is_touching = is_before_quote || self.text.ends_with(['"', '`']);
            if is_touching || !self.take_filter(word) {
                self.text.push_str(piece);
            }
        }
    }

    /// Takes one word if it is a filter by something known.
    fn take_filter(&mut self, word: &str) -> bool {
        let Some(filter) = FilterWord::parse(word) else {
            if is_misread(word) {
                self.parsed.misread = Some(word.to_owned());
            }
            return false;
        };
        self.add_filter(word.to_owned(), filter)
    }

    /// Takes a name and a colon with a value in double quotes, if both are a filter by something known.
    fn take_quoted(&mut self, before: &str, quoted: &str) -> bool {
        let value = quoted.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let (Some(name), Some(value)) = (before.strip_suffix(':'), value) else { return false };
        if self.text.ends_with(['"', '`']) {
            return false;
        }
        let filter = FilterWord::parse_quoted(name, value);
        filter.is_some_and(|filter| self.add_filter(format!("{before}{quoted}"), filter))
    }

    /// Adds a filter if it is one by something known.
    fn add_filter(&mut self, word: String, filter: FilterWord) -> bool {
        if let FilterWord::Repo(name) = &filter {
            self.parsed.repo_names.push(name.clone());
        }
        self.candidates += 1;
        if self.candidates > FILTER_WORDS_MAX {
            return false;
        }
        let is_known = (self.is_known)(&filter);
        if is_known {
            self.parsed.filters.push(filter);
            self.parsed.filter_words.push(word);
        } else {
            self.parsed.unknown = Some((word, filter));
        }
        is_known
    }
}

/// Returns a query that is read as text everywhere, also by a server that knows nothing of [`QuerySyntax`]: with a line
/// break between its words, or, of one word, in quotes.
#[must_use]
pub fn as_pasted(query: &RedactedText) -> RedactedText {
    if QuerySyntax::of_text(query) == QuerySyntax::Pasted {
        return query.clone();
    }
    query.reshaped(|query| {
        let (query, space) = (query.trim(), char::is_whitespace);
        let is_filter = || ParsedQuery::with_every_filter(&query.into()).has_filters();
        match query.split_once(space) {
            Some((first, rest)) => format!("{first}\n{}", rest.trim_start()),
            None if is_filter() => in_quotes(query),
            None => query.to_owned(),
        }
    })
}

/// Returns a word as it is written to be searched for as text.
#[must_use]
pub fn in_quotes(word: &str) -> String {
    if word.contains('"') { format!("`{word}`") } else { format!("\"{word}\"") }
}

/// Splits off what stands behind the last white space of a text.
fn split_last_word(text: &str) -> (&str, &str) {
    let end = text.trim_end_matches(|c: char| !c.is_whitespace()).len();
    text.split_at_checked(end).unwrap_or((text, ""))
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

/// `tag:npm` or `tag:#npm`.
fn tag(value: &str) -> Option<String> {
    name_of(value.strip_prefix('#').unwrap_or(value))
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

/// `folder:packages/web` or `folder:../api`, also with a slash at its end.
fn folder(value: &str) -> Option<String> {
    let path = value.trim_end_matches('/');
    let is_part = |c: char| c.is_alphanumeric() || "-_./\\@+#[]()~".contains(c);
    let is_path = !path.is_empty() && !path.ends_with('.') && !path.contains("//");
    (is_path && path.chars().all(is_part)).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(query: &str) -> ParsedQuery {
        ParsedQuery::with_every_filter(&RedactedText::redact(query))
    }

    // S-FIND-2
    #[test]
    fn a_filter_with_a_wrong_value_is_named() {
        for (query, word) in [
            ("x since:gestern", Some("since:gestern")),
            ("until:morgen x", Some("until:morgen")),
            ("x kind:", Some("kind:")),
            ("x kind:Two/Words", Some("kind:Two/Words")),
            ("x since:30d kind:error", None),
            ("kind: Secret", None),
            ("\"since:gestern\"", None),
            ("since::new() fails", None),
            ("npm failed kind:ENOENT: no such file", None),
        ] {
            let asked = parse(query);
            assert_eq!(asked.misread.as_deref(), word, "{query}");
            assert!(word.is_none_or(|word| asked.text.contains(word)), "{query}");
        }
    }

    // S-FIND-2
    #[test]
    fn filters_are_taken_out_and_the_rest_is_the_text() {
        let asked = parse(
            "repo:acme/api npm kind:Error fails tag:#npm file:src/a.rs folder:packages/web/ agent:codex branch:fix/a-1 since:30d until:2026-01-01 why",
        );
        assert_eq!(asked.text, "npm fails why");
        let filters = [
            FilterWord::Repo("acme/api".into()),
            FilterWord::Kind("error".into()),
            FilterWord::Tag("npm".into()),
            FilterWord::File("src/a.rs".into()),
            FilterWord::Folder("packages/web".into()),
            FilterWord::Agent("codex".into()),
            FilterWord::Branch("fix/a-1".into()),
            FilterWord::Since(TimePoint::parse("30d").unwrap()),
            FilterWord::Until(TimePoint::parse("2026-01-01").unwrap()),
        ];
        assert_eq!(asked.filters, filters);
        assert_eq!(asked.filter_words[1..3], ["kind:Error", "tag:#npm"]);
        assert_eq!(asked.repo_names, ["acme/api"]);
    }

    // S-FIND-2
    #[test]
    fn a_value_in_quotes_may_have_spaces() {
        let asked = parse(
            "npm folder:\"packages/ui kit\" file:\"src/my file.ts\" fails kind:\"error\" tag:\"two words\" folder:../api/ agent:\"Claude Code\" \"a b\"",
        );
        assert_eq!(asked.text, "npm fails \"a b\"");
        let filters = [
            FilterWord::Folder("packages/ui kit".into()),
            FilterWord::File("src/my file.ts".into()),
            FilterWord::Kind("error".into()),
            FilterWord::Tag("two words".into()),
            FilterWord::Folder("../api".into()),
            FilterWord::Agent("Claude Code".into()),
        ];
        assert_eq!(asked.filters, filters);
        assert_eq!(asked.filter_words[0], "folder:\"packages/ui kit\"");
        for query in [
            "\"folder:\"packages\"",
            "x\"folder:\"a b\"",
            "folder:`packages/ui kit`",
            "folder:\"packages/ui kit",
            "folder:\" \"",
            "{folder:\"a b\"}",
            "folder:\"a b\",",
            "the folder: \"a b\"",
        ] {
            let asked = parse(query);
            assert_eq!((asked.text.as_str(), asked.has_filters()), (query, false));
        }
        let unknown = ParsedQuery::parse(&"x folder:\"a b\" y".into(), &|_| false);
        assert_eq!(unknown.text, "x folder:\"a b\" y");
    }

    // S-FIND-2
    #[test]
    fn a_filter_by_something_unknown_is_text() {
        let query = "pull of repo:team/app tag:v1.2 kind:error failed";
        let is_known = |filter: &FilterWord| matches!(filter, FilterWord::Kind(_));
        let asked = ParsedQuery::parse(&query.into(), &is_known);
        assert_eq!(asked.text, "pull of repo:team/app tag:v1.2 failed");
        assert_eq!(
            (asked.filter_words, asked.repo_names),
            (vec!["kind:error".into()], vec!["team/app".into()])
        );
        let (word, filter) = asked.unknown.unwrap();
        assert_eq!(
            (word.as_str(), filter.to_string().as_str()),
            ("tag:v1.2", "no memory has the tag v1.2")
        );
    }

    // S-FIND-2
    #[test]
    fn a_text_of_several_lines_or_of_many_filters_has_none() {
        for (query, syntax) in [
            ("kind:error npm\n", QuerySyntax::Typed),
            ("kind:error\nnpm", QuerySyntax::Pasted),
            ("kind:error\r\nnpm", QuerySyntax::Pasted),
        ] {
            assert_eq!(QuerySyntax::of_text(query), syntax, "{query:?}");
        }
        assert!(parse(&"kind:error ".repeat(FILTER_WORDS_MAX)).has_filters());
        let many = "kind:error ".repeat(FILTER_WORDS_MAX + 1);
        let asked = parse(&many);
        assert_eq!((asked.text.as_str(), asked.has_filters()), (many.trim(), false));
    }

    // S-FIND-2
    #[test]
    fn a_pasted_query_is_text_for_every_server() {
        for (query, sent) in [
            ("kind:error  tag:x \"a b", "kind:error\ntag:x \"a b"),
            ("kind:error", "\"kind:error\""),
            ("npm", "npm"),
            ("kind:\"error\"", "`kind:\"error\"`"),
            ("folder:\"a b\"", "folder:\"a\nb\""),
            ("kind:error\nx", "kind:error\nx"),
        ] {
            let sent_query = as_pasted(&query.into());
            assert_eq!(sent_query, sent);
            let is_pasted = QuerySyntax::of_text(&sent_query) == QuerySyntax::Pasted;
            assert!(is_pasted || !parse(&sent_query).has_filters(), "{query}");
        }
    }

    // S-FIND-2
    #[test]
    fn filters_alone_leave_no_text() {
        for query in ["kind:error", " tag:a  tag:b ", "- kind:error -"] {
            let asked = parse(query);
            assert!(asked.has_filters() && asked.text.is_empty(), "{query}");
        }
        assert_eq!(parse("kind:error tag:a/b tag:b").filters.len(), 3);
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
            "folder: web folder:C:\\web folder:web. folder:.. folder:// folder:https://x",
            "kind:",
            "Kind:error KIND:error",
            "kind:Pod,Service kind:\"x\", kind:é kind:\"\"",
            "repo:../x repo:. repo:",
            "file:///home/x file:12 file: file:src/a.rs:12:5 file:a.rs,",
            "tag:{x} tag:a:b tag:<none>",
            "since:gestern until:30 since:",
            "\"the kind:error one\" `tag:npm`",
            "x\"kind:error\"",
            "kind:error\"x y\" \"x y\"kind:error",
            "` \"the kind:error one\"",
            "?! …",
            "",
        ] {
            let asked = parse(query);
            assert_eq!((asked.text.as_str(), asked.has_filters()), (query, false));
        }
    }

    #[test]
    fn a_lone_quote_hides_no_filter() {
        let asked = parse("don\"t kind:error x");
        assert_eq!((asked.text.as_str(), asked.filters.len()), ("don\"t x", 1));
    }

    proptest! {
        // S-FIND-2
        #[test]
        fn a_text_without_a_known_prefix_is_never_changed(text in "[a-eg-jl-qu-z:\"` /.]{0,40}") {
            let asked = parse(&text);
            prop_assert_eq!(asked.text, text.trim());
        }

        #[test]
        fn any_text_is_taken_and_what_is_left_was_there(text in "\\PC{0,60}") {
            let text = RedactedText::redact(&text);
            let asked = parse(&text);
            let words: Vec<&str> = text.split_whitespace().collect();
            prop_assert!(asked.text.split_whitespace().all(|word| words.contains(&word)));
        }
    }
}
