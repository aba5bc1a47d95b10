//! What a round would send, for the dry run. Not here: a round (`team_round`).

use event::RepoKey;

use crate::outgoing_lines::collect_outgoing;
use crate::published_tree::{PublishedTree, SharePermission, WantedTree};
use crate::sync_record::SyncRecord;
use crate::sync_report::Preview;
use crate::sync_request::{FOLDER, SyncRequest};
use crate::waiting_lines::unagreed_repos;
use crate::{SyncError, Transport};

/// Tells what a round would send, and changes nothing but the cache.
///
/// # Errors
/// [`SyncError`].
pub fn preview(
    request: &SyncRequest<'_>,
    transport: &mut dyn Transport,
) -> Result<Preview, SyncError> {
    store::own_folder(&request.cache.join(FOLDER))?;
    let record = SyncRecord::read(request.store, request.remote)?;
    let mut own = collect_outgoing(request.store, request.policy, &record.allowed())?;
    let mut standing = PublishedTree::default();
    let mut not_compared = None;
    if let Some(origin) = request.store.origin()? {
        let tips = transport.tips();
        let read = tips.and_then(|tips| {
            PublishedTree::read(transport, &origin, (tips.tips.get(&origin), &record))
        });
        match read {
            Ok(Some(found)) if found.is_ours(&record, &own, request.policy) => standing = found,
            Ok(_) => {}
            Err(error @ (SyncError::Remote { .. } | SyncError::Unreadable(_))) => {
                not_compared = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    own.leave_out_longer_than(transport.line_bytes_max());
    let to_agree = unagreed_repos(&own, &record);
    let all = |repo: &RepoKey| match request.policy.shares(repo) {
        true => SharePermission::Yes,
        false => SharePermission::No,
    };
    let wanted = WantedTree::plan(&standing, &own, all);
    let WantedTree { new: lines, withdrawn, .. } = wanted;
    Ok(Preview { lines, withdrawn, to_agree, left_out: own.left_out, not_compared })
}
