//! The door: every write goes through [`Writer::record`], which resolves the repository, validates, redacts,
//! encodes and appends. Nothing else appends to a log.
//!
//! This file has the steps. [`identity`] finds the author, [`log_memory`] is the `log-memory` program,
//! [`exit`] has the exit codes of both programs. Not here: what lines mean to a reader.

mod batch;
pub mod exit;
pub mod field_flags;
mod flags;
mod identity;
pub mod log_memory;
pub mod project_directory;
mod redaction;
mod served_place;
mod shared_only;
mod side_by_side;
mod start_directory;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use event::limits::LINE_BYTES_MAX;
use event::{
    CleanEvent, Draft, EncodedLine, Event, EventId, GLOBAL_REPO, MemoryScope, Problems, RepoKey,
    Stamp, Timestamp, clean, codec, fits_short_field, suspicion, validate,
};
use guard::injection::Suspicion;
use place::{NameMatch, Place};
use served_place::ServedPlace;
use settings::Config;
use store::{AppendOutcome, Destination, Durability, Store, StoreError};

pub use batch::{BatchError, BatchOutcome, record_all, record_drafts};
pub use flags::help;
pub use identity::{Identity, host};
pub use redaction::Redactions;
pub use start_directory::StartDirectory;

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

/// The receipt of an acknowledged write.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// The event's id.
    pub id: EventId,
    /// The repository it was written for.
    pub repo: RepoKey,
    /// What it survives.
    pub durability: Durability,
    /// Whether it is in its log or in the spool.
    pub place: Destination,
    /// Its file, and where it begins there.
    pub at: (PathBuf, u64),
    /// What was written.
    event: CleanEvent,
    /// The `source` that was claimed and not believed.
    pub not_believed: Option<String>,
    /// The secrets that were removed from it.
    pub redacted: Redactions,
}

/// The message about a write that went to the spool.
pub const WAITS: &str =
    "another process holds the log; the event waits in the spool, where searches find it";

impl Receipt {
    /// Returns why the event reads like an instruction to its reader, if it does. Searches mark such an event, and
    /// hooks never show it. Computed on demand, so that it delays no write.
    #[must_use]
    pub fn flagged(&self) -> Option<Suspicion> {
        suspicion(self.event.event())
    }

    /// Returns the notices for the writer of the event: which secrets were removed, why searches mark it, and which
    /// claim was not believed.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let flagged = self.flagged().map(Suspicion::advice);
        let not_believed = self.not_believed.as_deref().map(identity::ignored_source_notice);
        [self.redacted.message(), flagged, not_believed].into_iter().flatten().collect()
    }
}

/// Why nothing was written.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The draft has problems.
    #[error("{0}")]
    Invalid(#[from] Problems),
    /// The store failed.
    #[error("failed to {0}")]
    Store(#[from] StoreError),
}

/// An event that is ready to be appended.
#[derive(Debug, Clone)]
pub struct PreparedEvent {
    id: EventId,
    repo: RepoKey,
    line: EncodedLine,
    event: CleanEvent,
    not_believed: Option<String>,
    redacted: Redactions,
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
        Ok(self.append(prepared, durability)?)
    }

    /// Appends a prepared event.
    ///
    /// # Errors
    /// [`StoreError`]. Nothing was written then.
    pub fn append(
        &self,
        prepared: PreparedEvent,
        durability: Durability,
    ) -> Result<Receipt, StoreError> {
        let line = std::slice::from_ref(&prepared.line);
        let appended = store::append(&self.store, &prepared.repo, line, durability)?;
        prepared.remember_place(&self.store);
        Ok(prepared.receipt(&appended))
    }

    /// Does everything except the append.
    ///
    /// # Errors
    /// [`RecordError`], with every problem of the draft.
    pub fn prepare(&self, draft: Draft, moment: Moment) -> Result<PreparedEvent, RecordError> {
        let draft = draft_for_all(draft);
        let target = self.target_of(draft.repo.as_deref(), applies(&draft))?;
        self.prepare_at(&target, draft, moment)
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
        let agent_id = self.identity.agent_id.clone().into_string();
        let stamp = Stamp { now: moment.now, random: moment.random, repo: repo.clone(), agent_id };
        let event = match validate(draft, &stamp) {
            Ok(event) => problems.or(event)?,
            Err(more) => {
                problems.append(more);
                return Err(problems.into());
            }
        };
        let id = event.id.clone();
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
        Ok(PreparedEvent { id, repo, line, event, not_believed, redacted, served })
    }

    /// Resolves the repository of a draft, by its `scope`, its `repo` or the working directory.
    fn target_of(&self, given: Option<&str>, applies: MemoryScope) -> Result<Target, StoreError> {
        let given = given.filter(|given| applies == MemoryScope::Repo || *given != GLOBAL_REPO);
        if applies == MemoryScope::Global {
            let problem = given.map(|_| {
                "cannot be combined with scope global, which is for all repositories; leave one out"
            });
            let problem = problem.map(str::to_owned);
            return Ok(Target { problem, ..Target::named(RepoKey::global()) });
        }
        let found = || self.store.place_at(&self.directory, &self.config);
        let Some(given) = given else {
            let is_nowhere = self.directory.as_os_str().is_empty();
            return Ok(if is_nowhere { Target::nowhere() } else { Self::target_at(found()) });
        };
        // Scripts write --repo "$(basename "$PWD")"; any other name needs no look at the directory.
        let here = is_bare_name(given).then(found);
        let called = here.as_ref().and_then(|here| here.name_match(given, &self.directory));
        let here = here.filter(|_| called.is_some());
        let key = match (RepoKey::parse(given), here) {
            (Ok(key), Some(here)) if called == Some(NameMatch::Folder) => {
                return self.folder_target(&key, here);
            }
            (_, Some(here)) => return Ok(Self::target_at(here)),
            (Ok(key), None) => key,
            (Err(error), None) => {
                return Ok(Target::wrong(RepoKey::from_line(given), error.to_string()));
            }
        };
        match self.store.resolve(&key, &self.config) {
            Err(error @ StoreError::Ambiguous { .. }) => {
                Ok(Target::wrong(key, format!("failed to {error}")))
            }
            other => Ok(Target::named(other?)),
        }
    }

    /// Returns the target of a name that a folder at hand has, and perhaps another repository.
    fn folder_target(&self, key: &RepoKey, here: Place) -> Result<Target, StoreError> {
        match self.store.resolve(key, &self.config) {
            Ok(repo) if repo != *key => Ok(Target::named(repo)),
            Ok(_) | Err(StoreError::Ambiguous { .. }) => Ok(Self::target_at(here)),
            Err(error) => Err(error),
        }
    }

    fn target_at(place: Place) -> Target {
        let Some(repo) = place.repository else { return Target::in_no_project(&place.top) };
        let fitting = |text: Option<String>| text.filter(|text| fits_short_field(text));
        let (tree, own_key) = (place.work_tree, place.own_key);
        let branch = tree.as_ref().and_then(|tree| fitting(tree.branch.clone()));
        let commit = tree.as_ref().and_then(|tree| fitting(tree.commit.clone()));
        let served = tree.zip(own_key).map(|(tree, own_key)| ServedPlace::new(tree, own_key));
        Target { branch, commit, served: served.map(Arc::new), ..Target::named(repo) }
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

/// Tells whether a name may be that of a folder, as no key with several segments, with a hash, or with a URL's colon is.
fn is_bare_name(name: &str) -> bool {
    !name.contains(['/', '~', ':'])
}

/// Gives a draft for the repository `global` the scope that this means.
fn draft_for_all(draft: Draft) -> Draft {
    let is_for_all = draft.repo.as_deref().is_some_and(|repo| repo.trim() == GLOBAL_REPO);
    match is_for_all && draft.scope.is_none() && draft.change.is_none() {
        true => Draft { scope: Some(GLOBAL_REPO.to_owned()), ..draft },
        false => draft,
    }
}

/// Returns where a draft applies. A wrong word is reported when the draft is validated.
fn applies(draft: &Draft) -> MemoryScope {
    draft.scope.as_deref().and_then(MemoryScope::parse).unwrap_or_default()
}

/// The repository of a draft. All drafts of a batch with the same `repo` share it.
#[derive(Debug)]
struct Target {
    repo: RepoKey,
    /// Why the given `repo` cannot be used. `repo` is only a placeholder then.
    problem: Option<String>,
    branch: Option<String>,
    commit: Option<String>,
    /// The work tree at hand.
    served: Option<Arc<ServedPlace>>,
}

/// The message to a caller whose directory tells no repository; it follows the name of the field.
pub const UNNAMED: &str = "is missing, and no directory tells it, because the working directory does not exist any more, the \
                           connection has none, or it is nobody's project, as the home directory is; name the repository, for \
                           example github.com/acme/api";

/// Tells whether the directory decides where a draft goes.
#[must_use]
pub fn takes_directory(draft: &Draft) -> bool {
    draft.repo.is_none() && applies(draft) == MemoryScope::Repo
}

impl Target {
    /// The repository is not known. A guess would put the lesson where nobody looks.
    fn nowhere() -> Self {
        Self::wrong(RepoKey::global(), UNNAMED.to_owned())
    }

    /// The directory is nobody's project.
    fn in_no_project(directory: &Path) -> Self {
        let message = format!(
            "is missing, and {} is no project, because a home directory and a folder for temporary files are everybody's; name the \
             repository, for example github.com/acme/api",
            directory.display()
        );
        Self::wrong(RepoKey::global(), message)
    }

    fn wrong(repo: RepoKey, problem: String) -> Self {
        Self { problem: Some(problem), ..Self::named(repo) }
    }

    fn named(repo: RepoKey) -> Self {
        Self { repo, problem: None, branch: None, commit: None, served: None }
    }

    fn complete(&self, draft: &mut Draft, problems: &mut Problems) {
        if let Some(problem) = &self.problem {
            problems.add("repo", problem.clone());
        }
        draft.repo = None;
        draft.branch = draft.branch.take().or_else(|| self.branch.clone());
        draft.commit = draft.commit.take().or_else(|| self.commit.clone());
    }
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
        let Self { id, repo, event, not_believed, redacted, .. } = self;
        let AppendOutcome { durability, place, .. } = *appended;
        let at = (appended.path.clone(), appended.offset);
        Receipt { id, repo, durability, place, at, event, not_believed, redacted }
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

    fn writer(folder: &Path) -> Writer {
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
