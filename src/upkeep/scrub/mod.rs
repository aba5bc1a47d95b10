//! Taking secrets out of files that hold some: logs, segments of their old lines, what waits in the spool,
//! and quarantined lines.
//! Not here: what a secret is (`secrets`), replacing a file so that nothing else is lost
//! (`store::rewrite`).

mod history;
mod scrub_reply;

use std::path::{Path, PathBuf};

use self::history::History;
use super::secret_lines::{Exposed, Recogniser, SecretSpot};
use super::{CheckReport, CheckVerdict};
use event::RepoKey;
use store::{LogLine, Quarantine, Store, StoreError};

/// What to scrub.
pub struct ScrubRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// Only what belongs to the log of this repository.
    pub repo: Option<RepoKey>,
    /// Whether to change anything.
    pub how: ScrubMode,
    /// What tells secrets.
    pub recogniser: &'a Recogniser<'a>,
    /// Where vectors are stored; named among what remains.
    pub cache_dir: &'a Path,
}

/// Whether to change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScrubMode {
    /// Take the secrets out.
    Change,
    /// Only tell them.
    DryRun,
}

/// What was found in one file.
#[derive(Debug, Default)]
struct Scrubbed {
    file: PathBuf,
    /// Line, byte offset before the change, and secret.
    removed: Vec<ScrubFindings>,
    /// The same for secrets that could not be taken out without losing something else.
    left: Vec<ScrubFindings>,
    /// Lines that were too long to look at, and damaged parts of a segment.
    too_long: usize,
    /// Commits of a git work tree in which the file is still what it was.
    history: Option<History>,
}

/// A secret in a file.
#[derive(Debug, PartialEq, Eq)]
struct ScrubFindings {
    /// The number of its line, from 1.
    line: usize,
    /// Where that began, in bytes.
    offset: u64,
    spot: SecretSpot,
}

/// Takes the secrets out of every file of the store that may hold some. Wrong is what is left: with
/// [`ScrubMode::DryRun`] every secret, else those that could not be taken out.
///
/// # Errors
/// [`StoreError`]; files named in no answer are as they were, each file is scrubbed whole or not at all.
pub fn scrub(request: &ScrubRequest<'_>) -> Result<CheckReport, StoreError> {
    let mut all = Vec::new();
    let mut too_long = 0;
    for list in LISTS {
        for file in files(request, list)? {
            let mut scrubbed = scrub_file(request, &file)?;
            too_long += scrubbed.too_long;
            if !scrubbed.removed.is_empty() || !scrubbed.left.is_empty() {
                scrubbed.history = History::of(&file);
                all.push(scrubbed);
            }
        }
    }
    let is_clean = all.iter().all(|scrubbed| match request.how {
        ScrubMode::Change => scrubbed.left.is_empty(),
        ScrubMode::DryRun => false,
    });
    let verdict = if is_clean { CheckVerdict::Fine } else { CheckVerdict::Wrong };
    Ok(CheckReport { verdict, reply: scrub_reply::reply(request, &all, too_long) })
}

/// Lists one kind of file after the other, each when the one before has been worked off: what leaves the
/// spool meanwhile is in a log by then, and what is archived in a segment.
type List = fn(&Store) -> Result<Vec<PathBuf>, StoreError>;
const LISTS: [List; 4] = [Store::spooled, Store::logs, Store::segments, Store::quarantines];

fn files(request: &ScrubRequest<'_>, list: List) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = list(request.store)?;
    if let Some(repo) = &request.repo {
        files.retain(|file| Store::repo_of(file) == *repo);
    }
    Ok(files)
}

/// Looks first, without a lock: nearly every file holds no secret.
fn scrub_file(request: &ScrubRequest<'_>, file: &Path) -> Result<Scrubbed, StoreError> {
    let file_repo = Store::repo_of(file).to_string();
    let exposed = |line: &LogLine<'_>| exposed(request.recogniser, line.bytes, &file_repo);
    let mut looked = Scrubber::of(file);
    looked.scrubbed.too_long = store::lines_of(file, |line| {
        looked.line(&line, exposed(&line));
    })?;
    let found = looked.scrubbed;
    if request.how == ScrubMode::DryRun || found.removed.is_empty() {
        return Ok(found);
    }
    let mut changing = Scrubber::of(file);
    store::rewrite(request.store, file, &mut |line| {
        let exposed = exposed(&line);
        changing.line(&line, exposed)
    })?;
    Ok(Scrubbed { too_long: found.too_long, ..changing.scrubbed })
}

/// Looks into a line; also into digits, as which a damaged line that is no text stands in the
/// quarantine.
fn exposed(recogniser: &Recogniser<'_>, line: &[u8], file_repo: &str) -> Option<Exposed> {
    if let Some(exposed) = recogniser.exposed(line, file_repo) {
        return Some(exposed);
    }
    let (place, bytes) = Quarantine::digits_of(std::str::from_utf8(line).ok()?)?;
    let inner = recogniser.exposed(&bytes, file_repo)?;
    let clean = inner.clean.map(|clean| {
        let (before, after) = (line.get(..place.start), line.get(place.end..));
        let digits = Quarantine::digits(&clean);
        [before.unwrap_or_default(), digits.as_bytes(), after.unwrap_or_default()].concat()
    });
    Some(Exposed { spots: inner.spots, clean })
}

/// Goes along the lines of a file.
struct Scrubber {
    scrubbed: Scrubbed,
    line: usize,
}

impl Scrubber {
    fn of(file: &Path) -> Self {
        let scrubbed = Scrubbed { file: file.to_owned(), ..Scrubbed::default() };
        Self { scrubbed, line: 0 }
    }

    /// Notes what was found in the next line, and returns what stands there from now on.
    fn line(&mut self, line: &LogLine<'_>, exposed: Option<Exposed>) -> Option<Vec<u8>> {
        if line.offset == 0 {
            // The file was changed by others, and is read again.
            *self = Self::of(&self.scrubbed.file);
        }
        self.line += 1;
        let Exposed { spots, clean } = exposed?;
        let list = match &clean {
            Some(_) => &mut self.scrubbed.removed,
            None => &mut self.scrubbed.left,
        };
        let (line, offset) = (self.line, line.offset);
        list.extend(spots.into_iter().map(|spot| ScrubFindings { line, offset, spot }));
        clean
    }
}

#[cfg(test)]
mod tests;
