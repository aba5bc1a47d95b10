//! The memory in this process: [`Api`](crate::Api) over an engine that callers share and a writer for each. The only
//! place of the reader that asks the writer to write. Not here: other processes' retrievers (`attach`).

mod again;
mod answers;
mod briefed;
mod changes;
mod filters;
mod left_out;
mod links;
mod listings;
mod meaning;
mod related;
mod reviewed;
mod saved;
mod stale;
mod study;
mod swept;
mod views;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use serde_json::json;

use self::answers::Seen;
use super::caller::{Caller, Patience};
use super::query_log::QueryLog;
use crate::{
    ApiError, CONTEXT_TOKENS_DEFAULT, CompleteRequest, ContextRequest, Flagged, LIMIT_DEFAULT,
    MIN_RELEVANCE_PERCENT_DEFAULT, Mode, Reply, Scope, SearchRequest, Shape,
};
use engine::digest::Digest;
use engine::{Engine, Extent, View};
use event::{EventId, Problems, RepoKey};
use guard::text::{Layout, neutralise};
use index::lexical::KnownWords;
use memory::Memory;
use reply::{Found, Whoami};
use search::links::KnownLinks;
use search::snapshot::{Cited, Snapshot};
use search::{Asked, Query, Words};
use store::{Config, Store};
use writer::exit::Exit;
use writer::{Identity, Moment, Writer};

/// What all callers of one process share.
pub struct Core {
    /// The running engine.
    pub engine: Engine,
    /// Where the logs are.
    pub store: Store,
    /// Settings; aliases are followed.
    pub config: Config,
    /// Where the embedding model is, or would be.
    pub model_dir: PathBuf,
    /// Where searches that found nothing are written down; `None` for nowhere.
    pub query_log: Option<QueryLog>,
    /// The links of the state that was asked last.
    pub links: KnownLinks,
    /// The words of what was saved, and of what it was compared with.
    pub words: Mutex<KnownWords>,
    /// Tells the time, and gives random bits.
    pub clock: Box<dyn Fn() -> Moment + Send + Sync>,
}

/// The memory in this process, for one caller.
pub struct Local {
    core: Arc<Core>,
    writer: Writer,
    place: Option<store::DetectedRepo>,
    here: Option<RepoKey>,
    patience: Patience,
    told_about_model: AtomicBool,
}

impl Local {
    /// Speaks for a caller; resolves the repository of its working directory, where it has one.
    #[must_use]
    pub fn new(core: Arc<Core>, caller: Caller) -> Self {
        let Caller { directory, agent_id, session_id, source, host, patience } = caller;
        let identity = Identity { agent_id, session_id, source, host };
        let (store, config) = (core.store.clone(), core.config.clone());
        let place = directory.as_deref().map(store::DetectedRepo::of_directory);
        let here = place.as_ref().map(|place| config.current(&place.key));
        let directory = directory.unwrap_or_default();
        let writer = Writer { store, config, directory, identity };
        Self { core, writer, place, here, patience, told_about_model: AtomicBool::new(false) }
    }

    /// Returns the engine, for those who watch it work.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.core.engine
    }

    /// Returns how many memories have been given to the model, and how many there are.
    ///
    /// # Errors
    /// [`ApiError::Failed`], after a bug.
    pub fn embedded(&self) -> Result<(usize, usize), ApiError> {
        let View { snapshot, .. } = self.view()?;
        Ok((snapshot.embedded().min(snapshot.signed()), snapshot.memories().len()))
    }

    /// Finds the key of a repository somebody named; `None` is the one at hand, where there is one.
    fn repo(&self, named: Option<&str>, snapshot: &Snapshot) -> Result<Option<RepoKey>, ApiError> {
        named.map_or_else(|| Ok(self.here.clone()), |named| self.named(named, snapshot).map(Some))
    }

    fn named(&self, named: &str, snapshot: &Snapshot) -> Result<RepoKey, ApiError> {
        let refuse = |message: String| ApiError::Invalid(Problems::one("repo", message));
        let key = RepoKey::parse(named).map_err(|error| refuse(error.to_string()))?;
        let key = self.writer.config.current(&key);
        let known = snapshot.repos().keys().chain(&self.here);
        match key.longer(known).as_slice() {
            [only] => Ok((*only).clone()),
            [] => Ok(key),
            _ if snapshot.repos().contains_key(&key) => Ok(key),
            several => {
                let list = several.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
                Err(refuse(format!("could be {list}; write one of them in full")))
            }
        }
    }

    fn query_hits(&self, snapshot: &Snapshot, query: &Query<'_>, limit: usize) -> Vec<search::Hit> {
        search::search(snapshot, query, (self.core.clock)().now, limit)
    }
}

/// The answers themselves. Each notes the state it was made from.
impl Local {
    fn found(&self, request: &SearchRequest, seen: &Seen) -> Result<Reply, ApiError> {
        let asked = Asked::of(&request.query);
        let put = self.put(&asked.text, request.mode);
        let (View { snapshot, extent }, put) = self.view_for(put)?;
        seen.note(&snapshot);
        let mut notices: Vec<String> = left_out::note(snapshot.room()).into_iter().collect();
        let (Scope::All(named) | Scope::Only(named)) = &request.scope;
        let here = self.repo(named.as_deref(), &snapshot)?;
        let repos = match (&request.scope, &here) {
            (Scope::All(_), _) => None,
            (Scope::Only(_), None) => return Err(unnamed()),
            (Scope::Only(_), Some(here)) => {
                let keys = snapshot.keys_of(here);
                notices.extend(none_of(here, &keys, &snapshot));
                Some(keys)
            }
        };
        let filter = self.filter(request, repos, &asked, &snapshot)?;
        let words = if request.mode == Mode::Dense { Words::DoNotCount } else { Words::Count };
        let query = Query {
            text: &asked.text,
            words,
            filter,
            here: here.clone(),
            min_relevance: f32::from(request.min_relevance_percent) / 100.0,
            failure: request.failure.as_ref(),
            ..Query::default()
        };
        let begun = search::begin(&snapshot, &query, (self.core.clock)().now);
        let (meant, notice) = self.meaning_of(put, request.mode)?;
        let of_meaning = self.partial(&snapshot, meant.as_ref());
        let first = [notice, views::recent_only(extent, &snapshot), of_meaning];
        notices.splice(..0, first.into_iter().flatten());
        let (vector, tokens) = meaning::parts(meant.as_ref());
        let query = Query { vector, tokens, ..query };
        let search::Found { hits, held_back: held_back_len, words } =
            begun.finish(&query, request.limit);
        self.note_if_in_vain(request, &asked, hits.len() + held_back_len, here.as_ref());
        notices.extend(held_back(held_back_len));
        notices.extend(filters::note(&asked, hits.len()));
        let changed = self.changed_since(hits.iter().map(|hit| &hit.memory), &snapshot);
        let found = Found {
            hits: &hits,
            here: here.as_ref(),
            changed: &changed,
            notices: &notices,
            explain: request.explain,
            shape: request.shape,
            max_tokens: request.max_tokens,
        };
        let interest = words.map(|words| words.interest());
        let of_interest =
            |piece: &str| interest.as_ref().map_or(0.0, |interest| interest.of(piece));
        Ok(reply::found(&found, &of_interest))
    }

    fn shown(&self, ids: &[String], seen: &Seen) -> Result<Reply, ApiError> {
        let snapshot = self.all()?;
        seen.note(&snapshot);
        Ok(reply::items(&cited(ids, &snapshot)?))
    }

    fn listed(&self, limit: usize, seen: &Seen) -> Result<Reply, ApiError> {
        let snapshot = self.all()?;
        seen.note(&snapshot);
        let mut memories: Vec<Arc<Memory>> = snapshot.memories().iter().cloned().collect();
        memories.sort_by_cached_key(|memory| (memory.timestamp, memory.id.clone()));
        memories.reverse();
        memories.truncate(limit);
        Ok(reply::list("Recent memories", &memories))
    }

    fn completed(&self, request: &CompleteRequest, seen: &Seen) -> Result<Reply, ApiError> {
        let snapshot = self.answerable()?.snapshot;
        seen.note(&snapshot);
        Ok(reply::completions(&search::complete(&snapshot, request.slot, &request.typed)))
    }

    fn told(&self) -> Result<Reply, ApiError> {
        let View { snapshot, extent } = self.view()?;
        let reply = reply::status(self.writer.store.root(), &snapshot, &self.model());
        Ok(match extent {
            Extent::Whole => reply,
            Extent::Recent => {
                let line = "all logs are being read; these are the newest";
                reply.and("reading", line).with("reading", true.into())
            }
        })
    }

    fn summed(&self, seen: &Seen) -> Result<Reply, ApiError> {
        let snapshot = self.all()?;
        seen.note(&snapshot);
        if let Some((log, trouble)) = snapshot.health().troubles.first_key_value() {
            let log = neutralise(&log.display().to_string(), Layout::Line);
            let message =
                format!("failed to read {log}, without which there is no digest: {trouble}");
            return Err(ApiError::Failed { exit: Exit::Io, message });
        }
        let digest = Digest::of(&snapshot);
        let json = json!({
            "digest": digest.to_string(), "memories": digest.memories, "orphans": digest.orphans,
            "documents": digest.documents, "terms": digest.terms,
        });
        Ok(Reply::new(digest.to_string(), json))
    }

    fn resolved(&self) -> Result<Reply, ApiError> {
        let (Some(here), Some(place)) = (&self.here, &self.place) else { return Err(unnamed()) };
        let View { snapshot, .. } = self.view()?;
        let log = self.writer.store.log_of(here);
        let keys = snapshot.keys_of(here);
        let alike: Vec<String> = snapshot
            .repos()
            .keys()
            .filter(|key| key.short_name() == here.short_name() && !keys.contains(*key))
            .map(ToString::to_string)
            .collect();
        Ok(reply::whoami(&Whoami {
            repo: here,
            found: &place.key,
            because: place.why.to_string(),
            store: self.writer.store.root(),
            log: &log,
            memories: keys.iter().filter_map(|key| snapshot.repos().get(key)).sum(),
            agent: &self.writer.identity.agent_id,
            session: self.writer.identity.session_id.as_deref(),
            alike: &alike,
        }))
    }
}

/// What is said where a repository must be named and none was.
const UNNAMED: &str = "is missing; no directory tells it over this connection: name the repository by its short name, key or URL";

fn unnamed() -> ApiError {
    ApiError::Invalid(Problems::one("repo", UNNAMED))
}

/// Says that there is nothing of a repository, which may be why nothing was found.
fn none_of(repo: &RepoKey, keys: &BTreeSet<RepoKey>, snapshot: &Snapshot) -> Option<String> {
    let is_known = keys.iter().any(|key| snapshot.repos().contains_key(key));
    (!is_known).then(|| {
        format!("Note: there are no memories of {repo}; search without a repo to see the others.")
    })
}

/// Says how many memories a search did not show, and how to see them.
fn held_back(count: usize) -> Option<String> {
    let notes = match count {
        0 => return None,
        1 => "1 note was".to_owned(),
        many => format!("{many} notes were"),
    };
    Some(format!(
        "Note: {notes} held back for reading like instructions; include_flagged shows them, marked."
    ))
}

/// Finds the memories that ids mean.
fn cited<'a>(
    ids: impl IntoIterator<Item = &'a String>,
    snapshot: &Snapshot,
) -> Result<Vec<Arc<Memory>>, ApiError> {
    let mut memories = Vec::new();
    let mut missing = Vec::new();
    for id in ids {
        match snapshot.cited(id.trim()) {
            Cited::One(memory) => memories.push(memory),
            Cited::None => missing.push(left_out::no_memory(id, snapshot.room())),
            Cited::LeftOut => missing.push(left_out::too_old(id, snapshot.room())),
            Cited::Several { first, count } => missing.push(several(id, &first, count)),
        }
    }
    if missing.is_empty() { Ok(memories) } else { Err(ApiError::NotFound(missing.join("\n"))) }
}

/// Says which memories a short id could mean; not all of them where they are many.
fn several(id: &str, first: &[EventId], count: usize) -> String {
    let listed = first.iter().map(EventId::as_str).collect::<Vec<_>>().join(", ");
    let more = match count.saturating_sub(first.len()) {
        0 => String::new(),
        more => format!(" … ({more} more)"),
    };
    format!("{id:?} could be {listed}{more}; give more of it")
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self {
            query: String::new(),
            scope: Scope::default(),
            kinds: Vec::new(),
            not_kinds: Vec::new(),
            tags: Vec::new(),
            files: Vec::new(),
            agents: Vec::new(),
            since: None,
            until: None,
            limit: LIMIT_DEFAULT,
            max_tokens: crate::SEARCH_TOKENS_DEFAULT,
            mode: Mode::default(),
            explain: crate::Explain::default(),
            flagged: Flagged::default(),
            min_relevance_percent: MIN_RELEVANCE_PERCENT_DEFAULT,
            failure: None,
            shape: Shape::default(),
        }
    }
}

impl Default for ContextRequest {
    fn default() -> Self {
        let (max_tokens, shape) = (CONTEXT_TOKENS_DEFAULT, Shape::default());
        Self { repo: None, task: None, files: Vec::new(), max_tokens, shape }
    }
}
