//! The door: every write goes through [`Writer::record`], which resolves the repository, validates, redacts,
//! encodes and appends. Nothing else appends to a log.
//!
//! This file has the steps. [`identity`] finds the author, [`log_memory`] is the `log-memory` program,
//! [`exit`] has the exit codes of both programs. Not here: what lines mean to a reader.

mod batch;
mod draft_files;
mod draft_folder;
mod draft_scope;
pub mod exit;
pub mod field_flags;
mod flags;
mod identity;
pub mod log_memory;
mod named_repository;
pub mod project_directory;
mod receipt;
mod redaction;
mod served_place;
mod shared_only;
mod side_by_side;
mod start_directory;
mod target;

use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

use event::limits::LINE_BYTES_MAX;
use event::{
    CleanEvent, Draft, EncodedLine, Event, EventId, Problems, RepoKey, Stamp, Timestamp, clean,
    codec, suspicion, validate,
};
use guard::injection::Suspicion;
use settings::Config;
use store::{AppendOutcome, Durability, Store, StoreError};

pub use named_repository::named_repository;
pub use settings::variables::expanded_variable;

use draft_scope::{applies, draft_for_all};
use served_place::ServedPlace;
use target::{Target, TargetSearch};

pub use batch::{BatchError, BatchOutcome, record_all, record_drafts};
pub use draft_scope::takes_directory;
pub use flags::help;
pub use identity::{Identity, host};
pub use receipt::Receipt;
pub use redaction::Redactions;
pub use start_directory::StartDirectory;
pub use target::UNNAMED;

/// The inputs of a writer beside the draft.
#[derive(Debug, Clone)]
pub struct Writer {
    /// Where the logs are.
    pub store: Store,
    /// Settings, including repository aliases.
    pub config: Config,
    /// The working directory, which determines the repository if the draft names none; empty where there is none.
    pub directory: PathBuf,
    /// Who is writing.
    pub identity: Identity,
}

/// The time and randomness of a write, passed in by the caller.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// The time.
    pub now: Timestamp,
    /// Fresh random bits.
    pub random: u128,
}

/// The message about a write that went to the spool.
pub const WAITS: &str = "the log could not be written (another process holds it, or you may not write it: agent-knowledge doctor says which); the \
     event waits in the spool, where searches find it";

/// Why nothing was written.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The draft has problems.
    #[error("{0}")]
    Invalid(#[from] Problems),
    /// The store failed.
    #[error("failed to {0}")]
    Store(#[from] StoreError),
    /// The store failed to write an event; the line is all that would have been written.
    #[error("failed to {error}\n{KEEP_LINE}\n{line}")]
    NotSaved {
        /// Why.
        error: StoreError,
        /// The line, with its secrets removed.
        line: String,
    },
}

/// Stands before the line of an event that could not be written.
const KEEP_LINE: &str = "so that nothing is lost, keep this line in a file, and save it later with log-memory --json FILE:";

/// An event that is ready to be appended.
#[derive(Debug, Clone)]
pub struct PreparedEvent {
    id: EventId,
    repo: RepoKey,
    line: EncodedLine,
    event: CleanEvent,
    not_believed: Option<String>,
    redacted: Redactions,
    expired: Option<Timestamp>,
    missing_files: Vec<String>,
    /// The work tree that it was learned in, and when.
    served: Option<(Arc<ServedPlace>, Timestamp)>,
}

impl Writer {
    /// Writes one event and returns once it is as durable as requested.
    ///
    /// # Errors
    /// [`RecordError`]. Nothing was written then.
    pub fn record(
        &self,
        draft: Draft,
        moment: Moment,
        durability: Durability,
    ) -> Result<Receipt, RecordError> {
        let prepared = self.prepare(draft, moment)?;
        self.append(prepared, durability)
    }

    /// Appends a prepared event.
    ///
    /// # Errors
    /// [`RecordError::NotSaved`] with the line; [`RecordError::Store`] if it was written and may not last.
    pub fn append(
        &self,
        prepared: PreparedEvent,
        durability: Durability,
    ) -> Result<Receipt, RecordError> {
        let line = std::slice::from_ref(&prepared.line);
        match store::append(&self.store, &prepared.repo, line, durability) {
            Ok(appended) => {
                prepared.remember_place(&self.store);
                Ok(prepared.receipt(&appended))
            }
            Err(error @ StoreError::NotSynced { .. }) => Err(error.into()),
            Err(error) => {
                let line = prepared.line.as_str().trim_end().to_owned();
                Err(RecordError::NotSaved { error, line })
            }
        }
    }

    /// Does everything except the append.
    ///
    /// # Errors
    /// [`RecordError`], with every problem of the draft.
    pub fn prepare(&self, draft: Draft, moment: Moment) -> Result<PreparedEvent, RecordError> {
        let draft = draft_for_all(draft);
        let target = self.target_search().target_of(draft.repo.as_deref(), applies(&draft))?;
        self.prepare_at(&target, draft, moment)
    }

    fn target_search(&self) -> TargetSearch<'_> {
        let Self { store, config, directory, .. } = self;
        TargetSearch { store, config, directory }
    }

    fn prepare_at(
        &self,
        target: &Target,
        mut draft: Draft,
        moment: Moment,
    ) -> Result<PreparedEvent, RecordError> {
        let mut problems = Problems::none();
        target.complete(&mut draft, &mut problems);
        let repo = target.repo.clone();
        let not_believed = self.identity.complete(&mut draft);
        let settings = (&self.store, &self.config);
        let mut missing_files =
            draft_files::keep_files(&mut draft, &repo, &self.directory, settings);
        missing_files.extend(draft_folder::keep_folder(
            &mut draft,
            target,
            &self.directory,
            settings,
        ));
        let agent_id = self.identity.agent_id.clone().into_string();
        let Moment { now, random } = moment;
        let stamp = Stamp { now, random, repo: repo.clone(), agent_id, days: self.config.days };
        let event = match validate(draft, &stamp) {
            Ok(event) => problems.or(event)?,
            Err(more) => {
                problems.append(more);
                return Err(problems.into());
            }
        };
        let id = event.id.clone();
        let expired = event.expires().filter(|end| *end <= moment.now);
        let before = Redactions::count(&event);
        let event = clean::clean(event);
        shared_only::check(&self.config, &event, &repo)?;
        let redacted = Redactions::count(event.event()).beyond(&before);
        let line = codec::encode(&event);
        let line_bytes = line.as_str().len();
        if line_bytes > LINE_BYTES_MAX {
            let message =
                format!("makes a line of {line_bytes} bytes; at most {LINE_BYTES_MAX} are allowed");
            return Err(Problems::one("event", message).into());
        }
        let served = target.served.clone().map(|served| (served, moment.now));
        Ok(PreparedEvent {
            id,
            repo,
            line,
            event,
            not_believed,
            redacted,
            expired,
            missing_files,
            served,
        })
    }
}

/// Appends lines for the repository that they belong to now, each with the id that it had in another log.
///
/// # Errors
/// [`StoreError`]. Nothing was written then.
pub fn append_again(
    store: &Store,
    repo: &RepoKey,
    lines: &[EncodedLine],
    durability: Durability,
) -> Result<AppendOutcome, StoreError> {
    store::append(store, repo, lines, durability)
}

impl PreparedEvent {
    /// Returns the event as it will be written.
    #[must_use]
    pub fn event(&self) -> &Event {
        self.event.event()
    }

    /// Lets the store remember where the event was learned, once it is written.
    fn remember_place(&self, store: &Store) {
        if let Some((served, now)) = &self.served {
            served.remember(store, *now);
        }
    }

    /// Makes the receipt of the write.
    fn receipt(self, appended: &AppendOutcome) -> Receipt {
        let Self { id, repo, event, not_believed, redacted, expired, missing_files, .. } = self;
        let AppendOutcome { durability, place, .. } = *appended;
        let at = (appended.path.clone(), appended.offset);
        Receipt {
            id,
            repo,
            durability,
            place,
            at,
            event,
            not_believed,
            redacted,
            expired,
            missing_files,
        }
    }

    /// Returns the event's id.
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.id
    }

    /// Returns the repository of the event.
    #[must_use]
    pub fn repo(&self) -> &RepoKey {
        &self.repo
    }

    /// Returns why the event reads like an instruction to its reader, if it does.
    #[must_use]
    pub fn flagged(&self) -> Option<Suspicion> {
        suspicion(self.event.event())
    }

    /// Returns the event's line.
    #[must_use]
    pub fn line(&self) -> &EncodedLine {
        &self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use event::DecodedLine;

    fn writer(folder: &std::path::Path) -> Writer {
        Writer {
            store: Store::at(folder.join("logs")),
            config: Config::default(),
            directory: folder.to_owned(),
            identity: Identity { agent_id: "tester".into(), ..Identity::default() },
        }
    }

    fn moment() -> Moment {
        Moment { now: "2026-01-02T03:04:05Z".parse().unwrap(), random: 7 }
    }

    fn draft(repo: &str) -> Draft {
        Draft {
            repo: Some(repo.into()),
            event_type: Some("error".into()),
            lesson: Some("do this".into()),
            ..Draft::default()
        }
    }

    #[test]
    fn what_was_recorded_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(folder.path());
        let receipt = writer.record(draft("api"), moment(), Durability::Written).unwrap();
        let text = std::fs::read_to_string(folder.path().join("logs/api.jsonl")).unwrap();
        let DecodedLine::Event(event) = codec::decode(text.as_bytes(), "") else {
            panic!("{text}")
        };
        assert_eq!((event.id, event.repo.as_str()), (receipt.id, "api"));
    }

    #[test]
    fn a_bad_repo_is_named_together_with_every_other_problem() {
        let folder = tempfile::tempdir().unwrap();
        let bad = Draft { lesson: None, ..draft("../../etc") };
        let error = writer(folder.path()).record(bad, moment(), Durability::Written).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("repo: must be") && text.contains("lesson: is empty"), "{text}");
        assert!(!folder.path().join("logs").exists(), "nothing may be written");
    }

    #[test]
    fn a_branch_that_fits_no_field_is_left_out_rather_than_refused() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        std::fs::create_dir_all(git.join("objects")).unwrap();
        std::fs::create_dir_all(git.join("refs")).unwrap();
        for (branch, written) in [("main", true), (&*"x".repeat(300), false)] {
            std::fs::write(git.join("HEAD"), format!("ref: refs/heads/{branch}\n")).unwrap();
            let local_draft = Draft { repo: None, ..draft("") };
            let prepared = writer(folder.path()).prepare(local_draft, moment()).unwrap();
            assert_eq!(prepared.line().as_str().contains("\"branch\":"), written, "{branch}");
        }
    }

    // S-WRITE-2
    #[test]
    fn an_event_whose_fields_fit_but_whose_line_does_not_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut big = draft("api");
        big.lesson = Some("\"".repeat(30_000));
        big.context = Some("x".repeat(10_000));
        let error = writer(folder.path()).record(big, moment(), Durability::Written).unwrap_err();
        assert!(error.to_string().starts_with("event: makes a line of 70"), "{error}");
    }
}
