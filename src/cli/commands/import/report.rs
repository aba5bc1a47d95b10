//! The report of an import. Not here: importing.

use std::fmt::Write;

use serde::Serialize;

use crate::commands::import::import_site::{WriteMode, neutral_line};
use clients::agent_files::{ImportPlan, UnreadPath, UnreadableFile};
use event::{EventId, RepoKey};
use requests::Reply;
use writer::exit::Exit;

/// Characters of an item that are shown; its line leads to the rest.
const ITEM_CHARS_MAX: usize = 100;
/// Lines of one file that are reported one by one.
const LINES_MAX: usize = 200;

/// Paths of one line that are named one by one.
const PATHS_MAX: usize = 10;

/// What became of the files of an import.
#[derive(Serialize)]
struct AgentFilesAnswer {
    repo: String,
    dry_run: bool,
    files: Vec<FileReport>,
    /// What looks like rules and is not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_read: Vec<NotRead>,
}

/// A path that is not read.
#[derive(Serialize)]
struct NotRead {
    path: String,
    /// How many files it has, if it is a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<usize>,
    reason: String,
}

/// What became of an agent file.
#[derive(Serialize)]
#[serde(untagged)]
enum FileReport {
    Unreadable {
        file: String,
        trouble: String,
    },
    Imported {
        file: String,
        new: usize,
        unchanged: usize,
        set_aside: usize,
        back: Vec<EventId>,
        gone: Vec<EventId>,
        flagged: Vec<FlaggedRule>,
        refused: Vec<RefusedRule>,
    },
}

/// An item that reads like an instruction.
#[derive(Serialize)]
struct FlaggedRule {
    line: usize,
    why: &'static str,
}

/// An item that cannot be saved.
#[derive(Serialize)]
struct RefusedRule {
    line: usize,
    problem: String,
}

/// The results of an import.
pub(crate) struct ImportReport {
    how: WriteMode,
    text: String,
    files: Vec<FileReport>,
    not_read: Vec<NotRead>,
    exit: Exit,
    has_changed: bool,
}

impl ImportReport {
    pub(crate) fn new(how: WriteMode) -> Self {
        let (text, files) = (String::new(), Vec::new());
        Self { how, text, files, not_read: Vec::new(), exit: Exit::Done, has_changed: false }
    }

    /// Names a path that is there and not read. That is no error.
    pub(crate) fn leave(&mut self, left: UnreadPath) {
        let UnreadPath { path, files, reason } = left;
        self.not_read.push(NotRead { path, files, reason });
    }

    pub(crate) fn unreadable(&mut self, name: &str, why: &UnreadableFile) {
        let exit = match why {
            UnreadableFile::Missing => Exit::NotFound,
            UnreadableFile::Io(_) => Exit::Io,
            UnreadableFile::NoFolder
            | UnreadableFile::Outside
            | UnreadableFile::Link
            | UnreadableFile::NotText
            | UnreadableFile::UnclosedBlock(_) => Exit::Invalid,
        };
        self.fail(exit);
        let why = neutral_line(&why.to_string());
        let _ = writeln!(self.text, "{}: not imported: {why}", neutral_line(name));
        self.files.push(FileReport::Unreadable { file: name.to_owned(), trouble: why });
    }

    pub(crate) fn add(&mut self, plan: &ImportPlan) {
        self.has_changed |= !plan.is_done();
        let counts = [
            (plan.fresh.len(), "new"),
            (plan.unchanged, "unchanged"),
            (plan.reappeared.len(), "back"),
            (plan.disappeared.len(), "gone"),
            (plan.set_aside, "set aside"),
            (plan.refused.len(), "refused"),
        ];
        let shown_counts = counts.iter().filter(|(count, word)| *count > 0 || *word == "new");
        let shown_counts: Vec<String> =
            shown_counts.map(|(count, word)| format!("{count} {word}")).collect();
        let would = if self.how == WriteMode::DryRun { "would be " } else { "" };
        let _ =
            writeln!(self.text, "{}: {would}{}", neutral_line(&plan.file), shown_counts.join(", "));
        for line in self.lines(plan).into_iter().take(LINES_MAX) {
            let _ = writeln!(self.text, "  {line}");
        }
        if !plan.refused.is_empty() {
            self.fail(Exit::Invalid);
        }
        let flagged = plan.fresh.iter().filter_map(|item| {
            let why = item.flagged?.as_str();
            Some(FlaggedRule { line: item.line, why })
        });
        let refused = plan.refused.iter();
        let refused =
            refused.map(|one| RefusedRule { line: one.line, problem: one.problems.to_string() });
        self.files.push(FileReport::Imported {
            file: plan.file.clone(),
            new: plan.fresh.len(),
            unchanged: plan.unchanged,
            set_aside: plan.set_aside,
            back: plan.reappeared.clone(),
            gone: plan.disappeared.clone(),
            flagged: flagged.collect(),
            refused: refused.collect(),
        });
    }

    /// Returns what needs a line of its own.
    fn lines(&self, plan: &ImportPlan) -> Vec<String> {
        let mut lines = Vec::new();
        for refused in &plan.refused {
            let problems = neutral_line(&refused.problems.to_string());
            lines.push(format!("line {}: refused: {problems}", refused.line));
        }
        for item in &plan.fresh {
            if let Some(why) = item.flagged {
                lines.push(format!("line {}: it {why}, so searches hold it back", item.line));
            }
        }
        if self.how == WriteMode::DryRun {
            let short =
                |text: &str| neutral_line(text).chars().take(ITEM_CHARS_MAX).collect::<String>();
            let fresh = plan.fresh.iter();
            lines.extend(fresh.map(|item| format!("+ line {}: {}", item.line, short(&item.text))));
            lines.extend(plan.reappeared.iter().map(|id| format!("+ {} is back", id.short())));
            lines.extend(plan.disappeared.iter().map(|id| format!("- {}", id.short())));
        }
        lines
    }

    fn fail(&mut self, exit: Exit) {
        if exit.code() > self.exit.code() {
            self.exit = exit;
        }
    }

    /// Returns how the program ends: by the gravest problem.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Tells whether there was anything to write.
    pub(crate) fn has_changed(&self) -> bool {
        self.has_changed
    }

    pub(crate) fn reply(self, repo: &RepoKey) -> Reply {
        let text = match self.files.is_empty() {
            true => {
                "no agent files here: name some, for example agent-knowledge import docs/RULES.md"
                    .to_owned()
            }
            false => self.text.trim_end().to_owned(),
        };
        let text = [&[text][..], &not_read_lines(&self.not_read)].concat().join("\n");
        let (repo, dry_run) = (repo.to_string(), self.how == WriteMode::DryRun);
        let Self { files, not_read, .. } = self;
        Reply::with_text(text, &AgentFilesAnswer { repo, dry_run, files, not_read })
    }
}

/// Returns a line for each reason for which paths are not read.
fn not_read_lines(not_read: &[NotRead]) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    for NotRead { path, files, reason } in not_read {
        let count =
            files.map(|count| format!(" ({count} {})", if count == 1 { "file" } else { "files" }));
        let path = neutral_line(&format!("{path}{}", count.unwrap_or_default()));
        match by_reason.iter_mut().find(|(other, _)| other == reason) {
            Some((_, paths)) => paths.push(path),
            None => by_reason.push((reason, vec![path])),
        }
    }
    let line = |(reason, paths): &(&str, Vec<String>)| {
        let more = paths.len().saturating_sub(PATHS_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let paths: Vec<&str> = paths.iter().take(PATHS_MAX).map(String::as_str).collect();
        format!("not read: {}{more}: {}", paths.join(", "), neutral_line(reason))
    };
    by_reason.iter().take(LINES_MAX).map(line).collect()
}
