//! The command `export --format`: memories for other tools, as lines of JSON, as notes or as a table. Not here: which
//! memories count (`api::local::list`), the forms (crate `exchange`), agent files (`agent_files`).

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::commands::export::{Export, ExportFormat};
use crate::commands::import::foreign_failure::exchange_error;
use crate::commands::import::import_site::neutral_line;
use crate::program::Program;
use event::{DecodedLine, Event, Problems, codec};
use exchange::error::ExchangeError;
use exchange::memory_csv;
use exchange::vault_export::VaultExport;
use reply::{RecordsAnswer, with_notice};
use requests::listing::{RecordsRequest, RecordsScope};
use requests::{Api, ApiError, Listing, Reply, Request, unread_answer};
use retriever::options::{GlobalOptions, MemoryNeed};

/// Memories as they stand in logs.
pub(crate) struct Records {
    lines: Vec<String>,
    private: usize,
    /// What they lack.
    notices: Vec<String>,
}

/// What an export did.
#[derive(Serialize)]
struct ExportReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(flatten)]
    notes: Option<ExportedNotes>,
    memories: usize,
    private: usize,
}

/// The notes of an export.
#[derive(Serialize)]
struct ExportedNotes {
    written: usize,
    unchanged: usize,
    kept: usize,
}

impl Program<'_> {
    /// Exports memories.
    pub(crate) fn export_records(
        &mut self,
        settings: &GlobalOptions,
        command: &Export,
        format: ExportFormat,
    ) -> Result<Reply, ApiError> {
        let to = command.to.as_ref().map(|path| self.surroundings.directory.path().join(path));
        if format == ExportFormat::Markdown && to.is_none() {
            return Err(Problems::one("to", "is missing; name the folder of the notes").into());
        }
        let scope = match (&command.repo, command.all) {
            (Some(repo), _) => RecordsScope::Repo(repo.clone()),
            (None, true) => RecordsScope::All,
            (None, false) => RecordsScope::Here,
        };
        let request = RecordsRequest { of: scope, cursor: None, folders: command.folders.clone() };
        let records = read_records(&*self.open(settings, MemoryNeed::Words)?, request)?;
        if command.dry_run {
            return Ok(records.counted("would be exported", None, None));
        }
        match (format, to) {
            (ExportFormat::Markdown, Some(to)) => records.as_notes(&to),
            (_, to) => records.as_text(format, to),
        }
    }
}

/// Reads all pages.
pub(crate) fn read_records(
    api: &dyn Api,
    mut request: RecordsRequest,
) -> Result<Records, ApiError> {
    let mut all = Records { lines: Vec::new(), private: 0, notices: Vec::new() };
    loop {
        let reply = api.ask(&Request::List(Listing::Records(request.clone())))?;
        let page: RecordsAnswer = reply.answer().map_err(|error| unread_answer(&error))?;
        all.notices = reply.notices();
        all.lines.extend(page.lines);
        all.private = page.private;
        request.cursor = page.next;
        if request.cursor.is_none() {
            return Ok(all);
        }
    }
}

impl Records {
    pub(crate) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.lines.iter().filter_map(|line| match codec::decode(line.as_bytes(), "") {
            DecodedLine::Event(event) => Some(*event),
            DecodedLine::Blank | DecodedLine::Skipped(_) => None,
        })
    }

    fn as_notes(&self, to: &Path) -> Result<Reply, ApiError> {
        let written = || -> Result<_, ExchangeError> {
            let mut vault = VaultExport::open(to)?;
            self.events().try_for_each(|event| vault.write_note(&event))?;
            Ok(vault.finish())
        };
        let counts = written().map_err(|error| exchange_error(&error))?;
        let kept = match counts.kept {
            0 => String::new(),
            kept_text => format!(", {kept_text} files left as they are: somebody changed them"),
        };
        let (to, written, unchanged) = (to.to_string_lossy(), counts.written, counts.unchanged);
        let how =
            format!("in {}: {written} written, {unchanged} unchanged{kept}", neutral_line(&to));
        let notes = ExportedNotes { written, unchanged, kept: counts.kept };
        Ok(self.counted(&how, Some(to.into_owned()), Some(notes)))
    }

    fn as_text(&self, format: ExportFormat, to: Option<PathBuf>) -> Result<Reply, ApiError> {
        let text = match format {
            ExportFormat::Csv => {
                let rows = self.events().map(|event| memory_csv::row(&event));
                std::iter::once(memory_csv::header()).chain(rows).collect()
            }
            ExportFormat::Jsonl | ExportFormat::Markdown => self.lines.concat(),
        };
        let Some(to) = to else {
            // It is data: not a character may change. Every line is clean.
            let (memories, private) = (self.lines.len(), self.private);
            let json = json!({ "memories": memories, "private": private, "text": text });
            return Ok(self.with_notices(Reply::verbatim(text, &json)));
        };
        new_file(&to, &text).map_err(|error| exchange_error(&error))?;
        let to = to.to_string_lossy();
        Ok(self.counted(&format!("in {}", neutral_line(&to)), Some(to.into_owned()), None))
    }

    /// Adds the notices to the JSON alone, where the text is data; the command prints them as messages.
    fn with_notices(&self, reply: Reply) -> Reply {
        let is_whole = self.notices.is_empty();
        if is_whole { reply } else { reply.with_part("notices", &self.notices) }
    }

    fn counted(&self, how: &str, to: Option<String>, notes: Option<ExportedNotes>) -> Reply {
        let count = self.lines.len();
        let private_text = match self.private {
            0 => String::new(),
            private => format!("; {private} private ones stay here"),
        };
        let text = format!("{count} memories {how}{private_text}\n");
        let report = ExportReport { to, notes, memories: count, private: self.private };
        self.notices
            .iter()
            .fold(Reply::with_text(text, &report), |reply, notice| with_notice(reply, notice))
    }
}

/// Writes a file that only its user can read. One that is there may be anybody's.
fn new_file(path: &Path, text: &str) -> Result<(), ExchangeError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let file = store::open_private(&mut options, path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            ExchangeError::form(path, "is there already; remove it, or name another file")
        }
        _ => ExchangeError::io("write", path)(error),
    });
    let mut file = file?;
    file.write_all(text.as_bytes()).map_err(ExchangeError::io("write", path))
}
