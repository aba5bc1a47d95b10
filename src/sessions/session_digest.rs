//! What a session was about, without a model: its tools, files, commands, commits, errors, packages, addresses and telling
//! words, each counted. Not here: how that is shown (`reply`).

use std::collections::BTreeMap;

use transcripts::exchange::{Exchange, PartKind};
use transcripts::transcript::Outcome;

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

/// The entries of a list that are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownEntries<T> {
    /// The first of them; of commits the last.
    pub entries: Vec<T>,
    /// How many others there are.
    pub others: usize,
}

/// Entries that are counted, the most frequent first.
pub type RankedEntries = ShownEntries<(String, usize)>;

/// The lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDigest {
    /// Words that the questions repeat.
    pub topics: RankedEntries,
    /// Tools that were called, the shell not counted.
    pub tools: RankedEntries,
    /// Files that were written.
    pub files: RankedEntries,
    /// Commands that ran.
    pub commands: RankedEntries,
    /// The titles of commits, or the commands that made them, in order.
    pub commits: ShownEntries<String>,
    /// First lines of errors.
    pub errors: RankedEntries,
    /// Packages that were installed.
    pub packages: RankedEntries,
    /// Addresses that were named.
    pub urls: RankedEntries,
}

impl SessionDigest {
    /// Digests the exchanges of a session.
    #[must_use]
    pub fn from_exchanges(exchanges: &[Exchange]) -> Self {
        let mut counts = Counts::default();
        exchanges
            .iter()
            .flat_map(|exchange| &exchange.parts)
            .for_each(|part| counts.add(&part.what));
        counts.topics.retain(|_, times| *times >= TOPIC_TIMES_MIN);
        let others = counts.commits.len().saturating_sub(ENTRIES_MAX);
        let commits = ShownEntries { entries: counts.commits.split_off(others), others };
        Self {
            topics: ranked(counts.topics),
            tools: ranked(counts.tools),
            files: ranked(counts.files),
            commands: ranked(counts.commands),
            commits,
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
                    self.commits.push(commit_title(command));
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
        let line = error_line(excerpt);
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

fn ranked(counts: BTreeMap<String, usize>) -> RankedEntries {
    let mut entries: Vec<_> = counts.into_iter().collect();
    entries.sort_by(|(a, a_times), (b, b_times)| b_times.cmp(a_times).then_with(|| a.cmp(b)));
    let others = entries.len().saturating_sub(ENTRIES_MAX);
    entries.truncate(ENTRIES_MAX);
    ShownEntries { entries, others }
}

/// The lines that hold something.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn first_line(text: &str) -> String {
    lines(text).next().unwrap_or_default().to_owned()
}

/// The first line of an error that says more than the exit code, with which some tools begin; that line if there is no other.
fn error_line(excerpt: &str) -> String {
    let is_code = |line: &&str| {
        let code = line.strip_prefix("Exit code ");
        code.is_some_and(|code| code.parse::<i32>().is_ok())
    };
    lines(excerpt).find(|line| !is_code(line)).map_or_else(|| first_line(excerpt), str::to_owned)
}

/// The line of a command that makes the commit, or the first line of the here-document that is its message.
fn commit_title(command: &str) -> String {
    let mut rest = lines(command).skip_while(|line| !line.contains("git commit"));
    let Some(line) = rest.next() else { return first_line(command) };
    let title = line.contains("<<").then(|| rest.next()).flatten();
    title.unwrap_or(line).to_owned()
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
    use transcripts::exchange::ExchangePart;

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
        let digest =
            SessionDigest::from_exchanges(&[Exchange { ordinal: 0, message_id: None, parts }]);
        let one = |text: &str, times: usize| (text.to_owned(), times);
        assert_eq!(digest.topics.entries, [one("checkout", 2), one("slow", 2)]);
        assert_eq!(digest.packages.entries, [one("left-pad", 2)]);
        assert_eq!(digest.errors.entries, [one("npm ERR! EACCES", 1)]);
        assert_eq!(digest.urls.entries, [one("https://example.com/a", 1)]);
        assert_eq!(digest.commits.entries, ["git commit -m 'Cache prices'"]);
        assert_eq!(digest.files.entries, [one("src/cart.ts", 1)]);
        assert_eq!(digest.commands.entries.first(), Some(&one("npm install -D left-pad", 2)));
    }

    fn digest_of(ran: &[(&str, Outcome, &str)]) -> SessionDigest {
        let part = |(command, outcome, excerpt): &(&str, Outcome, &str)| ExchangePart {
            at_ms: None,
            what: PartKind::Ran {
                command: (*command).to_owned(),
                outcome: outcome.clone(),
                excerpt: (*excerpt).to_owned(),
            },
        };
        let parts = ran.iter().map(part).collect();
        SessionDigest::from_exchanges(&[Exchange { ordinal: 0, message_id: None, parts }])
    }

    #[test]
    fn an_exit_code_alone_is_no_error() {
        let failed = |excerpt| digest_of(&[("make", Outcome::Exited(2), excerpt)]).errors.entries;
        for (excerpt, error) in [
            ("Exit code 2\n\ncc: error: a.c: No such file", "cc: error: a.c: No such file"),
            ("Exit code 2", "Exit code 2"),
            ("Exit code 2 of make\nmore", "Exit code 2 of make"),
        ] {
            assert_eq!(failed(excerpt), [(error.to_owned(), 1)]);
        }
    }

    #[test]
    fn a_commit_is_named_by_its_title() {
        let of = |command| digest_of(&[(command, Outcome::Succeeded, "")]).commits.entries;
        for (command, title) in [
            (
                "git add -A && git commit -m \"$(cat <<'EOF'\nCache prices\n\nThey change daily.\nEOF\n)\"",
                "Cache prices",
            ),
            ("git commit -F - <<EOF\n\n  Cache prices\nEOF", "Cache prices"),
            ("cd shop\ngit commit -m 'Cache prices'\ngit push", "git commit -m 'Cache prices'"),
            ("cat > a <<EOF\none\nEOF\ngit commit -m 'Add a'", "git commit -m 'Add a'"),
        ] {
            assert_eq!(of(command), [title], "{command}");
        }
    }

    #[test]
    fn what_a_list_leaves_out_is_counted() {
        let commands: Vec<String> = (0..20).map(|n| format!("git commit -m {n}")).collect();
        let ran: Vec<_> =
            commands.iter().map(|command| (command.as_str(), Outcome::Succeeded, "")).collect();
        let digest = digest_of(&ran);
        assert_eq!((digest.commands.entries.len(), digest.commands.others), (12, 8));
        assert_eq!(digest.commits.entries.last(), commands.last());
        assert_eq!((digest.commits.entries.len(), digest.commits.others), (12, 8));
        assert_eq!(digest_of(&[]).urls, ShownEntries { entries: Vec::new(), others: 0 });
    }
}
