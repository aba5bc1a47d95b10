//! Memories as they stand in logs, for an export. Not here: the files of an export (crate `exchange`).

use std::sync::Arc;

use super::page_end::{PageEnd, sort_key};
use crate::local::Local;
use crate::local::caller_files::PathQuestion;
use crate::local::repositories::{named_repo, unnamed_error};
use event::{clean, codec};
use memory::Memory;
use reply::{RecordsAnswer, Reply};
use requests::ApiError;
use requests::listing::{RecordsRequest, RecordsScope};
use search::snapshot::Snapshot;

/// Most memories of a page.
const RECORDS_MAX: usize = 1_000;
/// A page ends once its lines are this long, in bytes: it must fit in one answer of the retriever.
const RECORDS_BYTES: usize = 4 << 20;

/// Answers a page of memories that count, the oldest first.
pub(super) fn page(
    local: &Local,
    request: &RecordsRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let after = request.cursor.as_deref().map(PageEnd::read).transpose()?;
    let now = local.core.now();
    let repo = match &request.of {
        RecordsScope::Here => Some(local.here.clone().ok_or_else(unnamed_error)?),
        RecordsScope::Repo(name) => Some(named_repo(local, name, snapshot)?),
        RecordsScope::All => None,
    };
    let keys = repo.as_ref().map(|repo| snapshot.keys_of(repo));
    let asked =
        local.asked_folders(&request.folders, PathQuestion::asked(repo.as_ref(), snapshot))?;
    let is_of_it = |memory: &&Arc<Memory>| {
        keys.as_ref().is_none_or(|keys| keys.contains(&memory.repo))
            && !memory.is_inactive(now)
            && asked.allow(memory)
    };
    let all: Vec<&Arc<Memory>> = snapshot.memories().iter().filter(is_of_it).collect();
    let (private, open): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|memory| memory.provenance.is_private);
    let mut left = open;
    if let Some(after) = &after {
        left.retain(|memory| sort_key(memory) > (after.at, &after.id));
    }
    left.sort_unstable_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    let (mut lines, mut bytes, mut last) = (Vec::new(), 0, None);
    for memory in &left {
        // Two memories may have one id and one time; a page does not end between them.
        let is_full = bytes > RECORDS_BYTES || lines.len() >= RECORDS_MAX;
        if is_full && last.is_none_or(|last: &&Arc<Memory>| sort_key(last) != sort_key(memory)) {
            break;
        }
        let line = codec::encode(&clean::clean(memory.event())).as_str().to_owned();
        bytes += line.len();
        lines.push(line);
        last = Some(memory);
    }
    let is_more = lines.len() < left.len();
    let next = last.filter(|_| is_more).map(|memory| PageEnd::at_memory(memory).to_string());
    let repo = repo.map(|repo| repo.to_string());
    let answer = RecordsAnswer { repo, lines, next, private: private.len() };
    // The lines are clean.
    Ok(asked.noted_in(Reply::verbatim(String::new(), &answer)))
}
