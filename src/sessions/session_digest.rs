//! What a session was about, without a model: its tools, files, commands, commits, errors, packages, addresses and telling
//! words, each counted. Not here: how that is shown (`reply`).

use std::collections::BTreeMap;

use super::exchange::{Exchange, PartKind};
use super::transcript::Outcome;

/// Most entries of each list.
const ENTRIES_MAX: usize = 12;

/// Shortest word that can be a topic, in characters, and how often it must be said.
const TOPIC_CHARACTERS_MIN: usize = 4;
const TOPIC_TIMES_MIN: usize = 2;

/// Programs that install packages, with the words that say so.
const INSTALLERS: &[(&str, &[&str])] = &[
    ("npm", &["install", "i", "add"]),
    ("pnpm", &["add", "install"]),
    ("yarn", &["add"]),
    ("bun", &["add", "install"]),
    ("pip", &["install"]),
    ("pip3", &["install"]),
    ("uv", &["add"]),
    ("poetry", &["add"]),
    ("cargo", &["add", "install"]),
    ("go", &["get", "install"]),
    ("gem", &["install"]),
    ("brew", &["install"]),
    ("apt-get", &["install"]),
    ("apt", &["install"]),
];

/// Words that say nothing about a topic.
const COMMON: &[&str] = &[
    "about", "after", "again", "also", "another", "because", "been", "before", "being", "change",
    "code", "could", "does", "done", "file", "files", "first", "from", "have", "here", "into",
    "just", "like", "look", "make", "more", "need", "only", "other", "please", "same", "should",
    "some", "still", "sure", "than", "that", "their", "them", "then", "there", "these", "they",
    "thing", "this", "want", "what", "when", "where", "which", "will", "with", "work", "would",
    "your",
];

/// The lists, the most frequent first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionDigest {
    /// Words that the questions repeat.
    pub topics: Vec<(String, usize)>,
    /// Tools that were called, the shell not counted.
    pub tools: Vec<(String, usize)>,
    /// Files that were written.
    pub files: Vec<(String, usize)>,
    /// Commands that ran.
    pub commands: Vec<(String, usize)>,
    /// The last commands that made a commit, in order.
    pub commits: Vec<String>,
    /// First lines of errors.
    pub errors: Vec<(String, usize)>,
    /// Packages that were installed.
    pub packages: Vec<(String, usize)>,
    /// Addresses that were named.
    pub urls: Vec<(String, usize)>,
}

impl SessionDigest {
    /// Digests the exchanges of a session.
    #[must_use]
    pub fn of(exchanges: &[Exchange]) -> Self {
        let mut counts = Counts::default();
        exchanges
            .iter()
            .flat_map(|exchange| &exchange.parts)
            .for_each(|part| counts.add(&part.what));
        counts.topics.retain(|_, times| *times >= TOPIC_TIMES_MIN);
        Self {
            topics: ranked(counts.topics),
            tools: ranked(counts.tools),
            files: ranked(counts.files),
            commands: ranked(counts.commands),
            commits: counts.commits.split_off(counts.commits.len().saturating_sub(ENTRIES_MAX)),
            errors: ranked(counts.errors),
            packages: ranked(counts.packages),
            urls: ranked(counts.urls),
        }
    }
}

#[derive(Default)]
struct Counts {
    topics: BTreeMap<String, usize>,
    tools: BTreeMap<String, usize>,
    files: BTreeMap<String, usize>,
    commands: BTreeMap<String, usize>,
    commits: Vec<String>,
    errors: BTreeMap<String, usize>,
    packages: BTreeMap<String, usize>,
    urls: BTreeMap<String, usize>,
}

impl Counts {
    fn add(&mut self, part: &PartKind) {
        match part {
            PartKind::Asked(text) => {
                self.add_urls(text);
                topics(text).for_each(|word| *self.topics.entry(word).or_default() += 1);
            }
            PartKind::Answered(text) => self.add_urls(text),
            PartKind::Ran { command, outcome, excerpt } => {
                *self.commands.entry(first_line(command)).or_default() += 1;
                self.add_urls(command);
                packages(command).for_each(|name| *self.packages.entry(name).or_default() += 1);
                if command.contains("git commit") && *outcome == Outcome::Succeeded {
                    self.commits.push(first_line(command));
                }
                self.add_error(excerpt);
            }
            PartKind::Edited { path, excerpt, .. } => {
                *self.files.entry(path.clone()).or_default() += 1;
                self.add_error(excerpt);
            }
            PartKind::Called { tool, argument, excerpt, .. } => {
                *self.tools.entry(tool.clone()).or_default() += 1;
                self.add_urls(argument);
                self.add_error(excerpt);
            }
            PartKind::Failed(text) => self.add_error(text),
            PartKind::Summarised(_)
            | PartKind::Planned(_)
            | PartKind::Decided(_)
            | PartKind::Interrupted => {}
        }
    }

    fn add_error(&mut self, excerpt: &str) {
        let line = first_line(excerpt);
        if !line.is_empty() {
            *self.errors.entry(line).or_default() += 1;
        }
    }

    fn add_urls(&mut self, text: &str) {
        let is_end = |c: char| c.is_whitespace() || "\"'`<>()[]{}|\\".contains(c);
        for word in text
            .split(is_end)
            .filter(|word| word.starts_with("https://") || word.starts_with("http://"))
        {
            let url = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
            *self.urls.entry(url.to_owned()).or_default() += 1;
        }
    }
}

fn ranked(counts: BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut ranked: Vec<_> = counts.into_iter().collect();
    ranked.sort_by(|(a, a_times), (b, b_times)| b_times.cmp(a_times).then_with(|| a.cmp(b)));
    ranked.truncate(ENTRIES_MAX);
    ranked
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

fn topics(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    let is_topic = |word: &&str| {
        word.chars().count() >= TOPIC_CHARACTERS_MIN && word.chars().any(char::is_alphabetic)
    };
    words.filter(is_topic).map(str::to_lowercase).filter(|word| !COMMON.contains(&word.as_str()))
}

/// The packages that a command line installs.
fn packages(command: &str) -> impl Iterator<Item = String> {
    let lines = command.split(['\n', ';', '&', '|']);
    lines.flat_map(|line| {
        let mut words = line.split_whitespace().filter(|word| *word != "sudo");
        let verbs =
            words.next().and_then(|program| INSTALLERS.iter().find(|(name, _)| *name == program));
        let is_install =
            verbs.zip(words.next()).is_some_and(|((_, verbs), verb)| verbs.contains(&verb));
        let is_name = |word: &&str| !word.starts_with(['-', '.', '/', '$', '>', '"', '\'']);
        words
            .take(if is_install { ENTRIES_MAX } else { 0 })
            .filter(is_name)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::ExchangePart;

    #[test]
    fn a_session_is_summarised_by_counting() {
        let ran = |command: &str, outcome, excerpt: &str| PartKind::Ran {
            command: command.to_owned(),
            outcome,
            excerpt: excerpt.to_owned(),
        };
        let parts = vec![
            PartKind::Asked(
                "The checkout is slow, why is checkout slow? See https://example.com/a.".to_owned(),
            ),
            ran("npm install -D left-pad", Outcome::Exited(1), "npm ERR! EACCES\nmore"),
            ran("npm install -D left-pad", Outcome::Succeeded, ""),
            ran("git commit -m 'Cache prices'", Outcome::Succeeded, ""),
            PartKind::Edited {
                path: "src/cart.ts".to_owned(),
                outcome: Outcome::Succeeded,
                excerpt: String::new(),
            },
        ];
        let parts = parts.into_iter().map(|what| ExchangePart { at_ms: None, what }).collect();
        let digest = SessionDigest::of(&[Exchange { ordinal: 0, message_id: None, parts }]);
        let one = |text: &str, times: usize| (text.to_owned(), times);
        assert_eq!(digest.topics, [one("checkout", 2), one("slow", 2)]);
        assert_eq!(digest.packages, [one("left-pad", 2)]);
        assert_eq!(digest.errors, [one("npm ERR! EACCES", 1)]);
        assert_eq!(digest.urls, [one("https://example.com/a", 1)]);
        assert_eq!(digest.commits, ["git commit -m 'Cache prices'"]);
        assert_eq!(digest.files, [one("src/cart.ts", 1)]);
        assert_eq!(digest.commands.first(), Some(&one("npm install -D left-pad", 2)));
    }
}
