//! Removes secrets from files: logs, segments of old lines, waiting writes in the spool, quarantined lines, and the other files that we
//! write (`own_files`).
//! Not here: what a secret is (`secret_lines`), replacing a file safely (`store::rewrite`).

mod commit_history;
mod scrub_reply;

use self::scrub_request::{ScrubFindings, ScrubbedFile};
pub use self::scrub_request::{ScrubMode, ScrubRequest};
use std::path::{Path, PathBuf};

use self::commit_history::CommitHistory;
use super::own_files::OwnFiles;
use super::secret_lines::{ExposedLine, SecretRecogniser};
use super::{CheckReport, CheckVerdict};
use store::{LogLine, Quarantine, Store, StoreError};

/// Removes the secrets from every file of the store that may contain some. The verdict is wrong if secrets
/// remain: with [`ScrubMode::DryRun`] every secret, otherwise those that could not be removed.
///
/// # Errors
/// [`StoreError`]. Each file is scrubbed completely or not at all; files in no report are unchanged.
pub fn scrub(request: &ScrubRequest<'_>) -> Result<CheckReport, StoreError> {
    let mut all = Vec::new();
    let mut too_long = 0;
    for list in LISTS {
        for file in files(request, list)? {
            let mut scrubbed = scrub_file(request, &file)?;
            too_long += scrubbed.too_long;
            if !scrubbed.removed.is_empty() || !scrubbed.left.is_empty() {
                scrubbed.history = CommitHistory::ask_git(&file);
                all.push(scrubbed);
            }
        }
    }
    let own = scrub_own(request, all.iter().any(|file| !file.removed.is_empty()));
    let is_clean = own.is_fine(request.how.of_rows())
        && all.iter().all(|scrubbed| match request.how {
            ScrubMode::Change => scrubbed.left.is_empty(),
            ScrubMode::DryRun => false,
        });
    let verdict = if is_clean { CheckVerdict::Fine } else { CheckVerdict::Wrong };
    Ok(CheckReport { verdict, reply: scrub_reply::reply(request, &all, &own, too_long) })
}

/// Scrubs the files outside the logs, which belong to no single repository.
fn scrub_own(request: &ScrubRequest<'_>, was_removed: bool) -> OwnFiles {
    if request.repo.is_some() {
        return OwnFiles::default();
    }
    let mut own = OwnFiles::scan(&request.places, request.recogniser, request.how.of_rows());
    let is_made_again = was_removed || !own.found.is_empty();
    if is_made_again && request.how == ScrubMode::Change {
        own.delete_derived(&request.places);
    }
    own
}

/// Lists one kind of file. Each kind is listed after the previous kind is done, because writes that leave the
/// spool meanwhile are then in a log, and archived lines in a segment.
type FileLister = fn(&Store) -> Result<Vec<PathBuf>, StoreError>;
const LISTS: [FileLister; 4] = [Store::spooled, Store::logs, Store::segments, Store::quarantines];

fn files(request: &ScrubRequest<'_>, list: FileLister) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = list(request.store)?;
    if let Some(repo) = &request.repo {
        files.retain(|file| Store::repo_of(file) == *repo);
    }
    Ok(files)
}

/// Checks without a lock first, because almost no file contains a secret.
fn scrub_file(request: &ScrubRequest<'_>, file: &Path) -> Result<ScrubbedFile, StoreError> {
    let file_repo = Store::repo_of_lines(file).to_string();
    let exposed = |line: &LogLine<'_>| find_exposed(request.recogniser, line.bytes, &file_repo);
    let mut scrubber = Scrubber::new(file);
    scrubber.scrubbed.too_long = store::lines_of(file, |line| {
        scrubber.line(&line, exposed(&line));
    })?;
    let found = scrubber.scrubbed;
    if request.how == ScrubMode::DryRun || found.removed.is_empty() {
        return Ok(found);
    }
    let mut changing = Scrubber::new(file);
    store::rewrite(request.store, file, &mut |line| {
        let exposed = exposed(&line);
        changing.line(&line, exposed)
    })?;
    Ok(ScrubbedFile { too_long: found.too_long, ..changing.scrubbed })
}

/// Checks a line, and also the digits in which the quarantine encodes a damaged line that is not text.
fn find_exposed(
    recogniser: &SecretRecogniser<'_>,
    line: &[u8],
    file_repo: &str,
) -> Option<ExposedLine> {
    if let Some(exposed) = recogniser.find_secrets(line, file_repo) {
        return Some(exposed);
    }
    let (place, bytes) = Quarantine::digits_of(std::str::from_utf8(line).ok()?)?;
    let inner = recogniser.find_secrets(&bytes, file_repo)?;
    let clean = inner.clean.map(|clean| {
        let (before, after) = (line.get(..place.start), line.get(place.end..));
        let digits = Quarantine::digits(&clean);
        [before.unwrap_or_default(), digits.as_bytes(), after.unwrap_or_default()].concat()
    });
    Some(ExposedLine { spots: inner.spots, clean })
}

/// Iterates over the lines of a file.
struct Scrubber {
    scrubbed: ScrubbedFile,
    line: usize,
}

impl Scrubber {
    fn new(file: &Path) -> Self {
        let scrubbed = ScrubbedFile { file: file.to_owned(), ..ScrubbedFile::default() };
        Self { scrubbed, line: 0 }
    }

    /// Records the findings of the next line, and returns its replacement.
    fn line(&mut self, line: &LogLine<'_>, exposed: Option<ExposedLine>) -> Option<Vec<u8>> {
        if line.offset == 0 {
            // Another program changed the file, and it is read again.
            *self = Self::new(&self.scrubbed.file);
        }
        self.line += 1;
        let ExposedLine { spots, clean } = exposed?;
        let list = match &clean {
            Some(_) => &mut self.scrubbed.removed,
            None => &mut self.scrubbed.left,
        };
        let (line, offset) = (self.line, line.offset);
        list.extend(spots.into_iter().map(|spot| ScrubFindings { line, offset, spot }));
        clean
    }
}

mod scrub_request;
#[cfg(test)]
mod tests;
