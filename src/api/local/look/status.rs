//! The state of the memory: of the store and the indexes, as one checksum, and the caller's repository. Not here:
//! checks of logs (`upkeep`).

use std::path::PathBuf;

use super::former_repos::{former_repos, former_sentences};
use crate::local::{Local, snapshots};
use engine::state_digest::StateDigest;
use engine::{EngineView, LogCoverage};
use guard::text::{Layout, neutralise};
use index::embed::EmbedError;
use index::embed::model::{self, FetchState};
use index::embed::worker::{ModelResidence, Progress, WorkerState};
use reply::{DigestAnswer, ModelPlace, ModelReport, NextModelState, RerankerStatus, Whoami};
use requests::{ApiError, Reply};
use search::snapshot::Snapshot;
use store::{FormerReason, Store};
use writer::exit::Exit;

/// Most long logs that a status names.
const LONG_LOGS_SHOWN: usize = 3;

pub(crate) fn status(local: &Local) -> Result<Reply, ApiError> {
    let EngineView { snapshot, coverage } = snapshots::view(local)?;
    let store = &local.writer.store;
    let model_state = model_state(local, &snapshot);
    let reply = reply::status(store.root(), store.root().is_dir(), &snapshot, &model_state);
    let reply = match snapshots::no_log_notice(local) {
        Some(says) => reply.with_line("store", &format!("it {says}")),
        None => reply,
    };
    let reply = with_reranker(local, reply);
    let reply =
        long_logs(store).into_iter().fold(reply, |reply, says| reply.with_line("long", &says));
    let former = former_sentences(local, &snapshot);
    let reply = former.iter().fold(reply, |reply, says| reply.with_line("before", says));
    Ok(match coverage {
        LogCoverage::Whole => reply,
        LogCoverage::Recent | LogCoverage::Behind => {
            let line = "not complete: the logs are being read, and these are the newest";
            reply.with_line("reading", line).with_field("reading", true.into())
        }
    })
}

/// Returns the state of the model that embeds memories.
fn model_state(local: &Local, snapshot: &Snapshot) -> ModelReport {
    let directory = local.core.model_dir.display().to_string();
    let next = next_model(local, snapshot);
    let none = |line: String| ModelReport {
        line,
        works: false,
        directory: directory.clone(),
        cache_trouble: None,
        trouble: None,
        place: ModelPlace::Here,
        next: next.clone(),
    };
    let Some(progress) = local.core.engine.embedding() else {
        if next.is_some() {
            return none("words alone, until the next model is ready".to_owned());
        }
        // A command that needs no vectors does not load the model.
        let is_ready = model::status(&local.core.model_dir).is_ready();
        if let Some(line) = fetch_line(local) {
            return none(line);
        }
        return none(if is_ready {
            "model installed".to_owned()
        } else {
            format!("off: {}", EmbedError::NotInstalled(local.core.model_dir.clone()))
        });
    };
    let Progress { state, queued, cache_trouble, model_trouble, residence, .. } = progress;
    let line = match state {
        WorkerState::Loading => "loading the model".to_owned(),
        WorkerState::Ready { model, dims } if queued > 0 => {
            format!("{model}, {dims} dimensions; {queued} memories waiting to be embedded")
        }
        WorkerState::Ready { model, dims } => match residence {
            ModelResidence::Loaded => format!("{model}, {dims} dimensions"),
            ModelResidence::Unloaded => format!(
                "{model}, {dims} dimensions; not in memory, since nobody used it for a while: the next query loads it"
            ),
            ModelResidence::Reloading => {
                format!("{model}, {dims} dimensions; being loaded again, words answer meanwhile")
            }
        },
        WorkerState::Failed(EmbedError::NotInstalled(directory)) => {
            let missing = || format!("off: {}", EmbedError::NotInstalled(directory));
            return none(fetch_line(local).unwrap_or_else(missing));
        }
        WorkerState::Failed(error) => return none(format!("off: {error}")),
    };
    let place = if local.core.engine.asks_others() { ModelPlace::Others } else { ModelPlace::Here };
    ModelReport { line, works: true, directory, cache_trouble, trouble: model_trouble, place, next }
}

/// Says how far the fetch of the model of this machine is, or why the last one failed.
fn fetch_line(local: &Local) -> Option<String> {
    match model::fetch_state(&local.core.model_dir) {
        FetchState::None => None,
        FetchState::Running(line) => {
            Some(format!("off until it is fetched, which goes on in the background: {line}"))
        }
        FetchState::Failed(why) => Some(format!(
            "off: the model was not fetched: {why}; agent-knowledge model fetch tries again"
        )),
    }
}

/// Returns the state of the model that is to answer next.
fn next_model(local: &Local, snapshot: &Snapshot) -> Option<NextModelState> {
    let progress = local.core.engine.next_embedding()?;
    let line = match progress.state {
        WorkerState::Loading => "being opened".to_owned(),
        WorkerState::Ready { model, .. } => model,
        WorkerState::Failed(error) => format!("not yet: {error}"),
    };
    let done = snapshot.next_embedded.unwrap_or_default();
    Some(NextModelState { line, done, trouble: progress.model_trouble })
}

/// Says who orders likely hits and what is sent there, where the settings name somebody.
fn with_reranker(local: &Local, reply: Reply) -> Reply {
    let Some(reranker) = local.core.reranker.as_ref().and_then(|now| now()) else { return reply };
    let (says, is_resting) = (reranker.what_is_sent(), reranker.is_resting());
    let rests = if is_resting { "; it failed a moment ago and is left alone" } else { "" };
    let line = format!("{says}{rests}");
    let part = RerankerStatus {
        name: reranker.name().to_owned(),
        what_is_sent: says.to_owned(),
        rests: is_resting,
    };
    reply.with_line("reranker", &line).with_part("reranker", &part)
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

pub(crate) fn digest(local: &Local, snapshot: &Snapshot) -> Result<Reply, ApiError> {
    if let Some((log, trouble)) = snapshot.health().troubles.first_key_value() {
        let log = neutralise(&log.display().to_string(), Layout::Line);
        let message = format!("failed to read {log}, which the digest needs: {trouble}");
        return Err(ApiError::Failed { exit: Exit::Io, message });
    }
    let origin = local.writer.store.origin().ok().flatten();
    let digest = StateDigest::compute(snapshot, origin.as_ref());
    Ok(Reply::from_answer(&DigestAnswer {
        digest: digest.to_string(),
        memories: digest.memories,
        orphans: digest.orphans,
        documents: digest.documents,
        terms: digest.terms,
    }))
}

pub(crate) fn doctor(local: &Local) -> Result<Reply, ApiError> {
    let doctor = local.core.doctor.get().ok_or_else(|| {
        let message = "this process does not know the set-up; run agent-knowledge doctor";
        ApiError::Failed { exit: Exit::Unavailable, message: message.to_owned() }
    })?;
    Ok(doctor(&local.core))
}

/// Says why no repository is at hand.
fn unknown_place(local: &Local) -> String {
    let why = match &local.place {
        Some(place) => format!(
            "{} is nobody's project, as home directories and folders for temporary files are",
            place.top.display()
        ),
        None => {
            "the working directory does not exist any more, or the connection has none".to_owned()
        }
    };
    format!(
        "no directory tells a repository, because {why}; change into a project, for example cd ~/code/api"
    )
}

pub(crate) fn whoami(local: &Local) -> Result<Reply, ApiError> {
    let (Some(here), Some(place)) = (&local.here, &local.place) else {
        return Err(ApiError::Failed { exit: Exit::Unavailable, message: unknown_place(local) });
    };
    let EngineView { snapshot, .. } = snapshots::view(local)?;
    let log = local.writer.store.log_of(here);
    let keys = snapshot.keys_of(here);
    let mut former = former_repos(local, &snapshot);
    former.retain(|(former, _)| former.because != FormerReason::Name);
    let alike: Vec<String> = snapshot
        .repos()
        .keys()
        .filter(|key| key.short_name() == here.short_name() && !keys.contains(*key))
        .filter(|key| !former.iter().any(|(former, _)| former.repo == **key))
        .map(ToString::to_string)
        .collect();
    let former: Vec<String> =
        former.iter().map(|(former, memories)| former.sentence(here, Some(*memories))).collect();
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
        former: &former,
    }))
}
