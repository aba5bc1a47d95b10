//! The report of an import. Not here: importing.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::commands::import::import_site::{WriteMode, neutral_line};
use clients::agent_files::{ImportPlan, UnreadableFile};
use event::RepoKey;
use requests::Reply;
use writer::exit::Exit;

/// Characters of an item that are shown; its line leads to the rest.
const ITEM_CHARS_MAX: usize = 100;
/// Lines of one file that are reported one by one.
const LINES_MAX: usize = 200;

/// The results of an import.
pub(crate) struct ImportReport {
    how: WriteMode,
    text: String,
    files: Vec<Value>,
    exit: Exit,
    has_changed: bool,
}

impl ImportReport {
    pub(crate) fn new(how: WriteMode) -> Self {
        let (text, files) = (String::new(), Vec::new());
        Self { how, text, files, exit: Exit::Done, has_changed: false }
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
        self.files.push(json!({ "file": name, "trouble": why }));
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
        let said = counts.iter().filter(|(count, word)| *count > 0 || *word == "new");
        let said: Vec<String> = said.map(|(count, word)| format!("{count} {word}")).collect();
        let would = if self.how == WriteMode::DryRun { "would be " } else { "" };
        let _ = writeln!(self.text, "{}: {would}{}", neutral_line(&plan.file), said.join(", "));
        for line in self.lines(plan).into_iter().take(LINES_MAX) {
            let _ = writeln!(self.text, "  {line}");
        }
        if !plan.refused.is_empty() {
            self.fail(Exit::Invalid);
        }
        let ids = |ids: &[event::EventId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        let flagged = plan.fresh.iter().filter_map(|item| Some((item.line, item.flagged?)));
        let refused = plan.refused.iter();
        self.files.push(json!({
            "file": plan.file, "new": plan.fresh.len(), "unchanged": plan.unchanged, "set_aside": plan.set_aside,
            "back": ids(&plan.reappeared), "gone": ids(&plan.disappeared),
            "flagged": flagged.map(|(line, why)| json!({ "line": line, "why": why.as_str() })).collect::<Vec<_>>(),
            "refused": refused.map(|one| json!({ "line": one.line, "problem": one.problems.to_string() })).collect::<Vec<_>>(),
        }));
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
        if self.exit == Exit::Done {
            self.exit = exit;
        }
    }

    /// Returns how the program ends: by the first problem.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Tells whether there was anything to write.
    pub(crate) fn has_changed(&self) -> bool {
        self.has_changed
    }

    pub(crate) fn reply(self, repo: &RepoKey) -> Reply {
        let is_dry_run = self.how == WriteMode::DryRun;
        let json = json!({ "repo": repo.as_str(), "dry_run": is_dry_run, "files": self.files });
        let text = match self.files.is_empty() {
            true => {
                "no agent files here: name some, for example agent-knowledge import docs/RULES.md"
                    .to_owned()
            }
            false => self.text.trim_end().to_owned(),
        };
        Reply::new(text, json)
    }
}
