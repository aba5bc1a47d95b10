//! The state of the memory: of the store and the indexes, as one checksum, and the caller's repository. Not here:
//! checks of logs (`upkeep`).

use std::path::PathBuf;

use serde_json::json;

use super::damage::UsedSnapshot;
use super::{Local, query_vector, snapshots};
use engine::digest::Digest;
use engine::{Extent, View};
use guard::text::{Layout, neutralise};
use reply::Whoami;
use requests::{ApiError, Reply};
use store::Store;
use writer::exit::Exit;

/// Most long logs that a status names.
const LONG_LOGS_SHOWN: usize = 3;

pub(super) fn status(local: &Local) -> Result<Reply, ApiError> {
    let View { snapshot, extent } = snapshots::view(local)?;
    let store = &local.writer.store;
    let model = query_vector::model(local, &snapshot);
    let reply = reply::status(store.root(), store.root().is_dir(), &snapshot, &model);
    let reply = match snapshots::no_log(local) {
        Some(says) => reply.and("store", &format!("it {says}")),
        None => reply,
    };
    let reply = with_reranker(local, reply);
    let reply = long_logs(store).into_iter().fold(reply, |reply, says| reply.and("long", &says));
    Ok(match extent {
        Extent::Whole => reply,
        Extent::Recent | Extent::Behind => {
            let line = "not complete: the logs are being read, and these are the newest";
            reply.and("reading", line).with("reading", true.into())
        }
    })
}

/// Says who orders likely hits and what is sent there, where the settings name somebody.
fn with_reranker(local: &Local, reply: Reply) -> Reply {
    let Some(reranker) = local.core.reranker.as_ref().and_then(|now| now()) else { return reply };
    let (says, is_resting) = (reranker.what_is_sent(), reranker.is_resting());
    let rests = if is_resting { "; it failed a moment ago and is left alone" } else { "" };
    let json = json!({ "name": reranker.name(), "what_is_sent": says, "rests": is_resting });
    reply.and("reranker", &format!("{says}{rests}")).with("reranker", json)
}

/// Says which logs are worth archiving.
fn long_logs(store: &Store) -> Vec<String> {
    let logs = store.logs().unwrap_or_default();
    let says = |log: &PathBuf| {
        let (lines, name) = (store::lines_of_long_log(log)?, log.file_name()?.to_string_lossy());
        Some(format!(
            "{name} has {lines} lines; agent-knowledge archive packs old ones, which stay searchable"
        ))
    };
    logs.iter().filter_map(says).take(LONG_LOGS_SHOWN).collect()
}

pub(super) fn digest(local: &Local, used: &UsedSnapshot) -> Result<Reply, ApiError> {
    let snapshot = snapshots::all(local)?;
    used.note(&snapshot);
    if let Some((log, trouble)) = snapshot.health().troubles.first_key_value() {
        let log = neutralise(&log.display().to_string(), Layout::Line);
        let message = format!("failed to read {log}, which the digest needs: {trouble}");
        return Err(ApiError::Failed { exit: Exit::Io, message });
    }
    let origin = local.writer.store.origin().ok().flatten();
    let digest = Digest::of(&snapshot, origin.as_ref());
    let json = json!({
        "digest": digest.to_string(), "memories": digest.memories, "orphans": digest.orphans,
        "documents": digest.documents, "terms": digest.terms,
    });
    Ok(Reply::new(digest.to_string(), json))
}

pub(super) fn doctor(local: &Local) -> Result<Reply, ApiError> {
    let doctor = local.core.doctor.get().ok_or_else(|| {
        let message = "this process does not know the set-up; run agent-knowledge doctor";
        ApiError::Failed { exit: Exit::Unavailable, message: message.to_owned() }
    })?;
    Ok(doctor(&local.core))
}

pub(super) fn whoami(local: &Local) -> Result<Reply, ApiError> {
    let (Some(here), Some(place)) = (&local.here, &local.place) else {
        let message = "no directory tells a repository, because the working directory does not exist any more, or the connection has \
                       none; change into one that exists, for example cd ~";
        return Err(ApiError::Failed { exit: Exit::Unavailable, message: message.to_owned() });
    };
    let View { snapshot, .. } = snapshots::view(local)?;
    let log = local.writer.store.log_of(here);
    let keys = snapshot.keys_of(here);
    let alike: Vec<String> = snapshot
        .repos()
        .keys()
        .filter(|key| key.short_name() == here.short_name() && !keys.contains(*key))
        .map(ToString::to_string)
        .collect();
    Ok(reply::whoami(&Whoami {
        repo: here,
        found: place.own_key.as_ref().unwrap_or(here),
        because: place.because.to_string(),
        store: local.writer.store.root(),
        log: &log,
        memories: keys.iter().filter_map(|key| snapshot.repos().get(key)).sum(),
        agent: &local.writer.identity.agent_id,
        session: local.writer.identity.session_id.as_deref(),
        alike: &alike,
    }))
}
