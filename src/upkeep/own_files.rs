//! Secrets outside the logs: in our lines below the cache, and in the database of past sessions. Not here: the lines of the store
//! (`scrub`), where our files are (`surfaces`).

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::SecretRecogniser;
use super::display_path::display_path;
use super::surfaces::{OwnFolders, SurfaceForm};
use sessions::session_scrub::RowScrub;
use sessions::session_store::SessionStore;
use store::open_private;

/// Most findings that the text lists; `--json` lists all.
const SHOWN_MAX: usize = 20;

/// The rule under which a file is reported that an earlier version wrote with secrets.
const OUTDATED: &str = "written by an earlier version";

/// A secret outside the logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnFinding {
    /// The file.
    pub file: PathBuf,
    /// The line, or the table and column with its row.
    pub place: String,
    /// The rule that recognised it.
    pub rule: String,
}

/// What was found outside the logs.
#[derive(Debug, Default)]
pub(super) struct OwnFiles {
    /// The secrets.
    pub found: Vec<OwnFinding>,
    /// The files that could not be read or cleaned, and why.
    pub troubles: Vec<String>,
}

impl OwnFiles {
    /// Scans all of them, and removes the secrets if `how` says so.
    pub(super) fn scan(
        places: &OwnFolders<'_>,
        recogniser: &SecretRecogniser<'_>,
        how: RowScrub,
    ) -> Self {
        let mut own = Self::default();
        for file in places.files(SurfaceForm::OwnLines) {
            let outcome = own.lines(&file, recogniser, how);
            own.record_failure(&file, outcome);
        }
        for file in places.files(SurfaceForm::Outdated) {
            let (place, rule) = (String::new(), OUTDATED.to_owned());
            own.found.push(OwnFinding { file: file.clone(), place, rule });
            own.throw_away(&file, how);
        }
        own.past_sessions(places.sessions, how);
        own
    }

    /// Deletes the files that were made from texts with secrets.
    pub(super) fn delete_derived(&mut self, places: &OwnFolders<'_>) {
        for file in places.files(SurfaceForm::MadeAgain) {
            self.throw_away(&file, RowScrub::Change);
        }
    }

    /// Tells whether no secret is left and every file was read.
    pub(super) fn is_fine(&self, how: RowScrub) -> bool {
        self.troubles.is_empty() && (self.found.is_empty() || how == RowScrub::Change)
    }

    fn throw_away(&mut self, file: &Path, how: RowScrub) {
        if how == RowScrub::Change {
            self.record_failure(file, std::fs::remove_file(file));
        }
    }

    fn record_failure(&mut self, file: &Path, outcome: io::Result<()>) {
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                self.troubles.push(format!("{}: {error}", display_path(file)));
            }
            _ => {}
        }
    }

    fn lines(
        &mut self,
        file: &Path,
        recogniser: &SecretRecogniser<'_>,
        how: RowScrub,
    ) -> io::Result<()> {
        let bytes = std::fs::read(file)?;
        let mut clean = Vec::with_capacity(bytes.len());
        let before = self.found.len();
        for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let body = line.strip_suffix(b"\n").unwrap_or(line);
            let Some((cleaner, spots)) = recogniser.exposed_text(body) else {
                clean.extend_from_slice(line);
                continue;
            };
            let place = format!("line {}", number + 1);
            self.found.extend(spots.into_iter().map(|spot| OwnFinding {
                file: file.to_owned(),
                place: place.clone(),
                rule: spot.rule,
            }));
            clean.extend(cleaner);
            clean.extend_from_slice(line.get(body.len()..).unwrap_or_default());
        }
        if self.found.len() == before || how == RowScrub::DryRun {
            return Ok(());
        }
        let fresh = file.with_extension(format!("{}.scrub", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        open_private(&mut options, &fresh)?.write_all(&clean)?;
        std::fs::rename(fresh, file)
    }

    fn past_sessions(&mut self, folder: &Path, how: RowScrub) {
        let found = SessionStore::open(folder).and_then(|kept| match kept {
            Some(mut kept) => kept.scrub(how),
            None => Ok(Vec::new()),
        });
        match found {
            Ok(found) => self.found.extend(found.into_iter().map(|finding| OwnFinding {
                file: folder.join("sessions.db"),
                place: format!("{} {}", finding.column, finding.row),
                rule: finding.rule,
            })),
            Err(error) => self.troubles.push(error.to_string()),
        }
    }

    /// Lists the findings, each after `verb`.
    pub(super) fn text(&self, verb: &str) -> String {
        let mut text = String::new();
        for OwnFinding { file, place, rule } in self.found.iter().take(SHOWN_MAX) {
            let place = if place.is_empty() { String::new() } else { format!(" {place}:") };
            let _ = writeln!(text, "{verb:<8}{}:{place} {rule}", display_path(file));
        }
        if let Some(more) = self.found.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
            let _ = writeln!(text, "        and {more} more outside the logs; --json lists all");
        }
        for trouble in &self.troubles {
            let _ = writeln!(text, "TROUBLE {trouble}");
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let finding = |finding: &OwnFinding| json!({ "file": finding.file.display().to_string(), "place": finding.place, "rule": finding.rule });
        self.found.iter().map(finding).collect()
    }
}
