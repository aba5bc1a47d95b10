//! What of the own logs has not left, as far as is known without the remote. Not here: what may leave (`outgoing_lines`).

use event::RepoKey;
use settings::SyncPolicy;
use store::Store;

use crate::SyncError;
use crate::content_sum::sum;
use crate::outgoing_lines::{OutgoingLines, shared_files};
use crate::sync_record::SyncRecord;

/// Returns the repositories that nobody agreed to share yet, and how many lines they have. What a remote holds agrees to
/// nothing: others may have put it there.
pub(crate) fn unagreed_repos(own: &OutgoingLines, record: &SyncRecord) -> Vec<(RepoKey, usize)> {
    let logs = own.logs.iter().filter(|log| !record.is_agreed(&log.repo) && !log.lines.is_empty());
    logs.map(|log| (log.repo.clone(), log.lines.len())).collect()
}

/// Returns how many lines wait, as far as numbers tell: those that may leave, less those that the remote has.
pub(crate) fn waiting_lines(own: &OutgoingLines, record: &SyncRecord) -> usize {
    let agreed = own.logs.iter().filter(|log| record.is_agreed(&log.repo));
    agreed.map(|log| log.lines.len()).sum::<usize>().saturating_sub(record.lines())
}

/// Returns what the own logs look like from outside, with the settings that decide what leaves them. Rules may change with
/// the program.
pub(crate) fn log_state(
    store: &Store,
    policy: &SyncPolicy,
    record: &SyncRecord,
) -> Result<String, SyncError> {
    let SyncPolicy { share, strip, .. } = policy;
    let mut looks =
        format!("{} {share:?} {strip:?} {:?}\n", env!("CARGO_PKG_VERSION"), record.allowed());
    for file in shared_files(store, policy)?.into_values().flatten() {
        let found = file.symlink_metadata();
        let found = found.map(|found| (found.len(), found.modified().ok()));
        looks.push_str(&format!("{} {found:?}\n", file.display()));
    }
    Ok(sum(looks.as_bytes()))
}
