//! The commands and edits of a session in a row, as the rules of lessons look at them: what was run, how it ended, in
//! which exchange. Not here: the rules (`candidates`, `mended`).

use guard::secrets::RedactedText;
use learning::command_effects::changed_things;
use learning::commands::{asks_for_help, command_tasks, core_command, only_reads};
use learning::same_command::essence;

use transcripts::exchange::{Exchange, PartKind};
use transcripts::transcript::Outcome;

/// What a tool prints for a command that it did not run, because another one failed beside it.
const NOT_RUN: &str = "Sibling tool call errored";

/// One step of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailStep {
    /// The exchange it belongs to.
    pub ordinal: u32,
    /// Milliseconds since 1970 in UTC, if known.
    pub at_ms: Option<i64>,
    /// What it was.
    pub kind: TrailKind,
}

/// The kinds of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrailKind {
    /// A command that does more than look.
    Ran(TrailCommand),
    /// A file was changed, by this path.
    Changed(String),
}

/// A command of a session, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailCommand {
    /// The command line.
    pub line: RedactedText,
    /// The same without its surroundings, such as a change of directory.
    pub core: RedactedText,
    /// The same without what changes nothing about its effect.
    pub essence: RedactedText,
    /// What each of its commands does.
    pub tasks: Vec<String>,
    /// How it ended.
    pub end: TrailEnd,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrailEnd {
    /// It succeeded, as far as the transcript says.
    Worked,
    /// It failed, with this excerpt of its output.
    Failed(RedactedText),
}

/// Returns the steps of a session in order. Commands that only look, that ask for help, that a person refused, or whose end
/// is unknown are left out.
#[must_use]
pub fn work_trail(exchanges: &[Exchange]) -> Vec<TrailStep> {
    let mut steps = Vec::new();
    for exchange in exchanges {
        for part in &exchange.parts {
            let mut push = |what| {
                steps.push(TrailStep { ordinal: exchange.ordinal, at_ms: part.at_ms, kind: what });
            };
            match &part.what {
                PartKind::Ran { command, outcome, excerpt } => {
                    let Some(ran) = command_of(command, outcome, excerpt) else { continue };
                    let files = if ran.end == TrailEnd::Worked {
                        changed_things(&ran.line)
                    } else {
                        Vec::new()
                    };
                    push(TrailKind::Ran(ran));
                    files.into_iter().for_each(|file| push(TrailKind::Changed(file)));
                }
                PartKind::Edited {
                    path, outcome: Outcome::Succeeded | Outcome::Unknown, ..
                } => {
                    push(TrailKind::Changed(path.clone()));
                }
                _ => {}
            }
        }
    }
    steps
}

impl TrailCommand {
    /// Tells whether another command tries the same: a task of both is the same, or one is the other with words in front.
    #[must_use]
    pub fn tries_the_same(&self, other: &Self) -> bool {
        let is_tail = |long: &str, short: &str| {
            short.contains(' ') && long.strip_suffix(short).is_some_and(|rest| rest.ends_with(' '))
        };
        self.tasks.iter().any(|task| other.tasks.contains(task))
            || is_tail(&self.essence, &other.essence)
            || is_tail(&other.essence, &self.essence)
    }
}

fn command_of(command: &str, outcome: &Outcome, excerpt: &str) -> Option<TrailCommand> {
    let end = match outcome {
        Outcome::Succeeded => TrailEnd::Worked,
        _ if excerpt.contains(NOT_RUN) => return None,
        Outcome::Exited(_) | Outcome::Faulted => TrailEnd::Failed(RedactedText::redact(excerpt)),
        Outcome::Refused(_) | Outcome::Unknown => return None,
    };
    if only_reads(command) || asks_for_help(command) {
        return None;
    }
    let line = RedactedText::redact(command);
    let tasks = command_tasks(&line);
    (!tasks.is_empty()).then(|| TrailCommand {
        core: line.reshaped(core_command),
        essence: line.reshaped(essence),
        tasks,
        line,
        end,
    })
}

#[cfg(test)]
pub(crate) mod made_up {
    //! Sessions that we made up, for the tests of the rules.

    use super::{Exchange, Outcome, PartKind};
    use transcripts::exchange::ExchangePart;

    pub(crate) fn ran(command: &str) -> PartKind {
        let (outcome, excerpt) = (Outcome::Succeeded, String::new());
        PartKind::Ran { command: command.to_owned(), outcome, excerpt }
    }

    pub(crate) fn failed(command: &str, output: &str) -> PartKind {
        let (outcome, excerpt) = (Outcome::Exited(1), output.to_owned());
        PartKind::Ran { command: command.to_owned(), outcome, excerpt }
    }

    pub(crate) fn edited(path: &str) -> PartKind {
        let (outcome, excerpt) = (Outcome::Succeeded, String::new());
        PartKind::Edited { path: path.to_owned(), outcome, excerpt }
    }

    pub(crate) fn exchange(parts: &[PartKind]) -> Exchange {
        let parts = parts
            .iter()
            .zip(0..)
            .map(|(what, at)| ExchangePart { at_ms: Some(at), what: what.clone() });
        Exchange { ordinal: 7, message_id: None, parts: parts.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::made_up::{edited, exchange, failed, ran};
    use super::*;

    #[test]
    fn only_what_may_have_helped_is_in_a_trail() {
        let refused = PartKind::Ran {
            command: "rm -rf x".to_owned(),
            outcome: Outcome::Refused(None),
            excerpt: String::new(),
        };
        let parts = [
            ran("ls -la"),
            ran("git status"),
            ran("cargo --help"),
            refused,
            PartKind::Answered("done".to_owned()),
            failed("cd /w && CI=1 cargo b 2>&1 | tail -3", "error: x"),
            edited("src/a.rs"),
            ran("sed -i s/a/b/ src/b.rs"),
        ];
        let steps = work_trail(&[exchange(&parts)]);
        let changed = |path: &str| TrailKind::Changed(path.to_owned());
        let [failure, edit, sed, sed_edit] = steps.as_slice() else { panic!("{steps:?}") };
        let TrailKind::Ran(command) = &failure.kind else { panic!("{failure:?}") };
        assert_eq!(
            (command.essence.as_str(), command.tasks.as_slice()),
            ("cargo b", ["cargo build".to_owned()].as_slice())
        );
        assert_eq!(command.end, TrailEnd::Failed("error: x".into()));
        assert!(matches!(&sed.kind, TrailKind::Ran(_)));
        assert_eq!((&edit.kind, &sed_edit.kind), (&changed("src/a.rs"), &changed("src/b.rs")));
        assert_eq!((failure.ordinal, failure.at_ms), (7, Some(5)));
    }
}
