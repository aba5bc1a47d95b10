//! The command `export --format`: memories for other tools, as lines of JSON, as notes or as a table. Not here: which
//! memories count (`api::local::records`), the forms (crate `exchange`), agent files (`agent_files`).

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::export::{Export, ExportFormat};
use crate::commands::import::foreign_failure::exchange_error;
use crate::commands::import::import_site::{neutral_line, read_listing};
use crate::program::Program;
use event::{DecodedLine, Event, Problems, codec};
use exchange::error::ExchangeError;
use exchange::memory_csv;
use exchange::vault_export::VaultExport;
use requests::listing::{RecordsRequest, RecordsScope};
use requests::{Api, ApiError, Listing, Reply};
use retriever::options::{GlobalOptions, MemoryNeed};

/// The JSON of a page of records.
#[derive(Deserialize)]
struct RecordsPage {
    lines: Vec<String>,
    next: Option<String>,
    private: usize,
}

/// Memories as they stand in logs.
pub(crate) struct Records {
    lines: Vec<String>,
    private: usize,
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
        let of = match (&command.repo, command.all) {
            (Some(repo), _) => RecordsScope::Repo(repo.clone()),
            (None, true) => RecordsScope::All,
            (None, false) => RecordsScope::Here,
        };
        let records = read_records(&*self.open(settings, MemoryNeed::Words)?, of)?;
        if command.dry_run {
            return Ok(records.counted(&json!({}), "would be exported"));
        }
        match (format, to) {
            (ExportFormat::Markdown, Some(to)) => records.as_notes(&to),
            (_, to) => records.as_text(format, to),
        }
    }
}

/// Reads all pages.
pub(crate) fn read_records(api: &dyn Api, of: RecordsScope) -> Result<Records, ApiError> {
    let mut request = RecordsRequest { of, cursor: None };
    let mut all = Records { lines: Vec::new(), private: 0 };
    loop {
        let page: RecordsPage = read_listing(api, &Listing::Records(request.clone()))?;
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
        let json = json!({ "to": to.to_string_lossy(), "written": counts.written,
            "unchanged": counts.unchanged, "kept": counts.kept });
        let kept = match counts.kept {
            0 => String::new(),
            kept => format!(", {kept} files left as they are: somebody changed them"),
        };
        let (to, written, unchanged) =
            (neutral_line(&to.to_string_lossy()), counts.written, counts.unchanged);
        let how = format!("in {to}: {written} written, {unchanged} unchanged{kept}");
        Ok(self.counted(&json, &how))
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
            let json =
                json!({ "memories": self.lines.len(), "private": self.private, "text": text });
            return Ok(Reply { text, json });
        };
        new_file(&to, &text).map_err(|error| exchange_error(&error))?;
        let json = json!({ "to": to.to_string_lossy() });
        Ok(self.counted(&json, &format!("in {}", neutral_line(&to.to_string_lossy()))))
    }

    fn counted(&self, more: &Value, how: &str) -> Reply {
        let count = self.lines.len();
        let left = match self.private {
            0 => String::new(),
            private => format!("; {private} private ones stay here"),
        };
        let text = format!("{count} memories {how}{left}\n");
        let reply = Reply::new(text, more.clone());
        reply.with_field("memories", count.into()).with_field("private", self.private.into())
    }
}

/// Writes a file that only its user can read. One that is there may be anybody's.
fn new_file(path: &Path, text: &str) -> Result<(), ExchangeError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    store::private(&mut options);
    let file = options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            ExchangeError::form(path, "is there already; remove it, or name another file")
        }
        _ => ExchangeError::io("write", path)(error),
    });
    let mut file = file?;
    file.write_all(text.as_bytes()).map_err(ExchangeError::io("write", path))
}
