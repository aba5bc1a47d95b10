//! What may stand at the place of a word of the command line: found in clap's description of it, so that every command and
//! option is known at once. Pure. Not here: values of the store (`complete_words`), the scripts of shells (`completions`).

use clap::{Arg, ArgAction, Command};
use event::{Relation, Verdict};
use requests::CompletionSlot;
use requests::analysis::Topic;
use requests::browse::BrowsedState;
use settings::Setting;

/// What may stand at the place of the last word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordKind {
    /// One of these words, each with what it means.
    Words(Vec<(String, String)>),
    /// A value of the store.
    Value(CompletionSlot),
    /// A path.
    Path,
    /// Anything.
    Free,
}

/// What may stand there, and what was typed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordPlace {
    /// What may stand there.
    pub kind: WordKind,
    /// What was typed of it.
    pub typed: String,
    /// What the shell takes for a part of the same word, such as `--repo=`.
    pub before: String,
    /// The directory of the logs that the words before name.
    pub logs: Option<String>,
}

/// The commands whose `ID` is that of a memory; that of others is a session's.
const OF_MEMORIES: &[&str] = &[
    "show",
    "edit",
    "feedback",
    "forget",
    "pin",
    "supersede",
    "distinct",
    "related",
    "link",
    "unlink",
    "tag",
];

/// Tells whether the ids of a command are those of memories. `sessions show` is another command than `show`.
fn is_of_memories(command: &Command) -> bool {
    let name = command.get_display_name().and_then(|name| name.strip_prefix("agent-knowledge-"));
    name.is_some_and(|name| OF_MEMORIES.contains(&name))
}

/// Finds what may stand at the place of the last of these words, which follow the name of the program.
#[must_use]
pub fn word_place(root: &Command, words: &[String]) -> WordPlace {
    let (last, before) =
        words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    let mut walk = Walk { command: root, open: None, positionals: 0, is_plain: false, logs: None };
    for word in before {
        walk.pass(word);
    }
    let logs = walk.logs.clone();
    let at = |kind, typed: &str, before: &str| WordPlace {
        kind,
        typed: typed.to_owned(),
        before: before.to_owned(),
        logs,
    };
    if let Some(option) = walk.open {
        // bash makes a word of its own of the sign in `--repo=api`.
        return at(kind_of(walk.command, option), last.trim_start_matches('='), "");
    }
    if walk.is_plain || !last.starts_with('-') {
        return at(walk.next(), last, "");
    }
    let Some((name, typed)) = last.split_once('=') else {
        return at(options(walk.command), last, "");
    };
    let kind = walk.option(name).map_or(WordKind::Free, |option| kind_of(walk.command, option));
    at(kind, typed, &format!("{name}="))
}

/// The words read so far.
struct Walk<'a> {
    command: &'a Command,
    /// The option whose value comes next.
    open: Option<&'a Arg>,
    positionals: usize,
    /// Whether `--` was read, after which no word is an option.
    is_plain: bool,
    logs: Option<String>,
}

impl<'a> Walk<'a> {
    fn pass(&mut self, word: &str) {
        if let Some(option) = self.open {
            if word != "=" {
                if option.get_id() == "logs" {
                    self.logs = Some(word.to_owned());
                }
                self.open = None;
            }
            return;
        }
        if self.is_plain || !word.starts_with('-') || word == "-" {
            match self
                .command
                .find_subcommand(word)
                .filter(|_| self.positionals == 0 && !self.is_plain)
            {
                Some(command) => self.command = command,
                None => self.positionals += 1,
            }
        } else if word == "--" {
            self.is_plain = true;
        } else if let Some((name, value)) = word.split_once('=') {
            if name == "--logs" {
                self.logs = Some(value.to_owned());
            }
        } else {
            self.open = self.option(word).filter(|option| takes_value(option));
        }
    }

    fn option(&self, word: &str) -> Option<&'a Arg> {
        let name = word.strip_prefix("--")?;
        let is_it = |arg: &&Arg| {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        };
        self.command.get_arguments().find(is_it)
    }

    /// What a word may be that is no option.
    fn next(&self) -> WordKind {
        if self.command.has_subcommands() && self.positionals == 0 && !self.is_plain {
            let shown = self.command.get_subcommands().filter(|command| !command.is_hide_set());
            let about = |command: &Command| command.get_about().map(ToString::to_string);
            let words =
                shown.map(|one| (one.get_name().to_owned(), about(one).unwrap_or_default()));
            return WordKind::Words(words.collect());
        }
        let places: Vec<&Arg> = self.command.get_positionals().collect();
        let last = places.last().filter(|arg| matches!(arg.get_action(), ArgAction::Append));
        match places.get(self.positionals).or(last) {
            Some(arg) => kind_of(self.command, arg),
            None => WordKind::Words(Vec::new()),
        }
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn options(command: &Command) -> WordKind {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let of = |arg: &Arg| {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        Some((format!("--{}", arg.get_long()?), help))
    };
    WordKind::Words(shown.filter_map(of).collect())
}

/// What may be the value of an argument.
fn kind_of(command: &Command, arg: &Arg) -> WordKind {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let words = possible.iter().map(|value| {
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            (value.get_name().to_owned(), help)
        });
        return WordKind::Words(words.collect());
    }
    let name =
        arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    match name {
        "ID" | "OTHER" | "SOURCE" | "TARGET" | "ID|FILE" if is_of_memories(command) => {
            WordKind::Value(CompletionSlot::Id)
        }
        "REPO" => WordKind::Value(CompletionSlot::Repo),
        "TAG" | "A,B" => WordKind::Value(CompletionSlot::Tag),
        "KIND" | "TYPE" => WordKind::Value(CompletionSlot::Kind),
        "FILE" | "PATH" | "DIR" | "LOG" => WordKind::Path,
        "VERDICT" => words(Verdict::ALL.map(Verdict::as_str)),
        "RELATION" => words(Relation::ALL.map(Relation::as_str)),
        "TOPIC" => words(Topic::ALL.map(Topic::as_str)),
        "STATE" => words(BrowsedState::ALL.map(BrowsedState::as_str)),
        "KEY" | "KEY VALUE" => words(Setting::all().map(|setting| setting.key)),
        _ => WordKind::Free,
    }
}

fn words(words: impl IntoIterator<Item = &'static str>) -> WordKind {
    let words = words.into_iter().map(|word| (word.to_owned(), String::new()));
    WordKind::Words(words.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::help;

    fn place(words: &[&str]) -> WordPlace {
        let mut command = help::command();
        command.build();
        word_place(&command, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    fn offered(words: &[&str]) -> Vec<String> {
        let WordKind::Words(known) = place(words).kind else { panic!("{words:?}") };
        known.into_iter().map(|(word, _)| word).collect()
    }

    // S-COMPLETE-1
    #[test]
    fn commands_and_options_come_from_the_command_line() {
        assert!(offered(&["se"]).contains(&"search".to_owned()));
        assert!(offered(&["--color", "never", ""]).contains(&"show".to_owned()));
        assert!(offered(&["search", "x", "--"]).contains(&"--explain".to_owned()));
        assert!(offered(&["search", "--l"]).contains(&"--logs".to_owned()), "a global one");
        assert!(offered(&["sessions", ""]).contains(&"review".to_owned()));
        assert_eq!(offered(&["feedback", "X", ""]), ["worked", "failed", "stale", "confirmed"]);
        assert!(offered(&["config", "get", ""]).contains(&"embedding".to_owned()));
        assert!(offered(&["completions", ""]).contains(&"fish".to_owned()));
        assert!(offered(&["edit", "X", ""]).is_empty(), "nothing follows");
    }

    // S-COMPLETE-1
    #[test]
    fn values_are_known_by_their_place() {
        for (words, kind) in [
            (&["show", ""] as &[&str], WordKind::Value(CompletionSlot::Id)),
            (&["show", "A", "B"], WordKind::Value(CompletionSlot::Id)),
            (&["rm", "--reason", "wrong", ""], WordKind::Value(CompletionSlot::Id)),
            (&["supersede", "A", "--by", ""], WordKind::Value(CompletionSlot::Id)),
            (&["search", "--repo", "ap"], WordKind::Value(CompletionSlot::Repo)),
            (&["list", "--tags", ""], WordKind::Value(CompletionSlot::Tag)),
            (&["add", "--type", ""], WordKind::Value(CompletionSlot::Kind)),
            (&["context", "--file", ""], WordKind::Path),
            (&["search", ""], WordKind::Free),
            (&["sessions", "show", ""], WordKind::Free),
            (&["show", "--", "--x"], WordKind::Value(CompletionSlot::Id)),
        ] {
            assert_eq!(place(words).kind, kind, "{words:?}");
        }
        let joined = place(&["--logs=/x", "list", "--repo=ap"]);
        assert_eq!((joined.before.as_str(), joined.typed.as_str()), ("--repo=", "ap"));
        assert_eq!(joined.logs.as_deref(), Some("/x"));
        let by_bash = place(&["list", "--repo", "=", "ap"]);
        assert_eq!(
            (by_bash.kind, by_bash.typed.as_str()),
            (WordKind::Value(CompletionSlot::Repo), "ap")
        );
        assert_eq!(place(&["list", "--repo", "="]).typed, "");
    }
}
