//! The memory in this process: [`Api`] over an engine and a writer of its own. The only place of the
//! reader that asks the writer to write. Not here: other processes' retrievers, which come later.

mod filters;
mod left_out;
mod meaning;

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::json;

use super::api::{
    Api, ApiError, CONTEXT_TOKENS_DEFAULT, ContextRequest, Flagged, LIMIT_DEFAULT,
    MIN_RELEVANCE_PERCENT_DEFAULT, Mode, Reply, Scope, SearchRequest,
};
use crate::event::{Draft, EventId, Layout, Problems, RepoKey, fits_short_field, neutralise};
use crate::retriever::digest::Digest;
use crate::retriever::engine::{Engine, Stopped};
use crate::retriever::projection::Memory;
use crate::retriever::render::{self, Briefing, Found, Whoami};
use crate::retriever::search::{self, Asked, Query, Words};
use crate::retriever::snapshot::{Cited, Snapshot};
use crate::store::{self, Durability, Place};
use crate::writer::exit::Exit;
use crate::writer::{Moment, RecordError, WAITS, Writer};

/// The memory in this process.
pub struct Local {
    engine: Engine,
    writer: Writer,
    place: store::Found,
    here: RepoKey,
    model_dir: PathBuf,
    clock: Box<dyn Fn() -> Moment + Send + Sync>,
    query_wait: Duration,
    embed_wait: Duration,
    told_about_model: AtomicBool,
}

/// What a [`Local`] is made of.
pub struct Parts {
    /// The running engine.
    pub engine: Engine,
    /// The door.
    pub writer: Writer,
    /// Where the embedding model is, or would be.
    pub model_dir: PathBuf,
    /// Tells the time, and gives random bits.
    pub clock: Box<dyn Fn() -> Moment + Send + Sync>,
    /// How long a query may wait for its vector, also while the model is loading.
    pub query_wait: Duration,
    /// How long a search may wait for memories that have no vector yet.
    pub embed_wait: Duration,
}

/// Memories of a briefing for the task, and of the repository. Twice what usually fits.
const BRIEFING_TASK_MAX: usize = 8;
const BRIEFING_REPO_MAX: usize = 24;

/// How often a waiting search looks whether everything is embedded.
const EMBED_LOOK_MS: u64 = 10;

impl Local {
    /// Puts the parts together; resolves the repository of the working directory.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let place = store::Found::of_directory(&parts.writer.directory);
        let here = parts.writer.config.current(&place.key);
        Self {
            engine: parts.engine,
            writer: parts.writer,
            place,
            here,
            model_dir: parts.model_dir,
            clock: parts.clock,
            query_wait: parts.query_wait,
            embed_wait: parts.embed_wait,
            told_about_model: AtomicBool::new(false),
        }
    }

    /// Returns the engine, for those who watch it work.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns how many memories have been given to the model, and how many there are.
    ///
    /// # Errors
    /// [`ApiError::Failed`], after a bug.
    pub fn embedded(&self) -> Result<(usize, usize), ApiError> {
        let snapshot = self.snapshot()?;
        Ok((snapshot.embedded(), snapshot.memories().len()))
    }

    /// Returns a snapshot to answer from. Where meaning counts, waits a moment for what is being
    /// embedded; so it must be taken when the query has its vector, not before.
    fn snapshot_for(&self, vector: Option<&[f32]>) -> Result<Snapshot, ApiError> {
        let deadline = Instant::now() + self.embed_wait;
        loop {
            let snapshot = self.answerable()?;
            let is_ready = vector.is_none() || snapshot.embedded() >= snapshot.memories().len();
            if is_ready || Instant::now() >= deadline {
                return Ok(snapshot);
            }
            std::thread::park_timeout(Duration::from_millis(EMBED_LOOK_MS));
        }
    }

    fn snapshot(&self) -> Result<Snapshot, ApiError> {
        let internal =
            |error: Stopped| ApiError::Failed { exit: Exit::Internal, message: error.to_string() };
        self.engine.snapshot().map_err(internal)
    }

    /// Returns a snapshot to answer from. A store that cannot be read is an error: "nothing found"
    /// would be taken for an answer.
    fn answerable(&self) -> Result<Snapshot, ApiError> {
        let snapshot = self.snapshot()?;
        let trouble = snapshot.health().troubles.get(self.writer.store.root());
        let message = trouble.map(|trouble| format!("failed to {trouble}"));
        message.map_or(Ok(snapshot), |message| Err(ApiError::Failed { exit: Exit::Io, message }))
    }

    /// Finds the key of a repository somebody named; `None` is the one at hand.
    fn repo(&self, named: Option<&str>, snapshot: &Snapshot) -> Result<RepoKey, ApiError> {
        let Some(named) = named else { return Ok(self.here.clone()) };
        let refuse = |message: String| ApiError::Invalid(Problems::one("repo", message));
        let key = RepoKey::parse(named).map_err(|error| refuse(error.to_string()))?;
        let key = self.writer.config.current(&key);
        let known = snapshot.repos().keys().chain([&self.here]);
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
        search::search(snapshot, query, (self.clock)().now, limit)
    }
}

impl Api for Local {
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError> {
        let asked = Asked::of(&request.query);
        let (vector, notice) = match asked.text.is_empty() {
            true => (None, None),
            false => self.vector(&asked.text, request.mode)?,
        };
        let snapshot = self.snapshot_for(vector.as_deref())?;
        let mut notices: Vec<String> = notice.into_iter().collect();
        notices.extend(self.partial(&snapshot, vector.as_deref()));
        notices.extend(left_out::note(snapshot.room()));
        let (Scope::All(named) | Scope::Only(named)) = &request.scope;
        let here = self.repo(named.as_deref(), &snapshot)?;
        let repos = matches!(request.scope, Scope::Only(_)).then(|| snapshot.keys_of(&here));
        if repos
            .as_ref()
            .is_some_and(|keys| !keys.iter().any(|key| snapshot.repos().contains_key(key)))
        {
            notices.push(format!(
                "Note: there are no memories of {here}; search without a repo to see the others."
            ));
        }
        let filter = self.filter(request, repos, &asked, &snapshot)?;
        let words = if request.mode == Mode::Dense { Words::DoNotCount } else { Words::Count };
        let query = Query {
            text: &asked.text,
            vector: vector.as_deref(),
            words,
            filter,
            here: Some(here.clone()),
            min_relevance: f32::from(request.min_relevance_percent) / 100.0,
        };
        let hits = self.query_hits(&snapshot, &query, request.limit);
        notices.extend(held_back(search::held_back(
            &snapshot,
            &query,
            (self.clock)().now,
            request.limit,
        )));
        notices.extend(filters::note(&asked, hits.len()));
        let found = Found {
            hits: &hits,
            here: Some(&here),
            notices: &notices,
            explain: request.explain,
            max_tokens: request.max_tokens,
        };
        let interest = snapshot.lexical().interest(&asked.text);
        Ok(render::found(&found, &|piece| interest.of(piece)))
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        let words = request.task.iter().chain(&request.files).map(String::as_str);
        let asked = words.collect::<Vec<_>>().join(" ");
        let asked = asked.trim();
        let (vector, notice) =
            if asked.is_empty() { (None, None) } else { self.vector(asked, Mode::Hybrid)? };
        let snapshot = self.snapshot_for(vector.as_deref())?;
        let repo = self.repo(request.repo.as_deref(), &snapshot)?;
        let keys = snapshot.keys_of(&repo);
        let query = Query {
            text: asked,
            vector: vector.as_deref(),
            here: Some(repo.clone()),
            min_relevance: f32::from(MIN_RELEVANCE_PERCENT_DEFAULT) / 100.0,
            ..Query::default()
        };
        let hits = if asked.is_empty() {
            Vec::new()
        } else {
            self.query_hits(&snapshot, &query, BRIEFING_TASK_MAX)
        };
        let for_task: Vec<Arc<Memory>> = hits.into_iter().map(|hit| hit.memory).collect();
        let of_repo =
            search::useful(&snapshot, &keys, (self.clock)().now, BRIEFING_REPO_MAX, &for_task);
        let memories = keys.iter().filter_map(|key| snapshot.repos().get(key)).sum();
        let partial = self.partial(&snapshot, vector.as_deref());
        let notices = notice.into_iter().chain(partial).chain(left_out::note(snapshot.room()));
        let notices: Vec<String> = notices.collect();
        let briefing = Briefing {
            repo: &repo,
            memories,
            for_task: &for_task,
            of_repo: &of_repo,
            notices: &notices,
            max_tokens: request.max_tokens,
        };
        let interest = snapshot.lexical().interest(asked);
        Ok(render::briefing(&briefing, &|piece| interest.of(piece)))
    }

    fn save(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
        let mut draft = draft;
        // A name we were not given but found may not be why a memory is refused.
        let client = client.filter(|name| fits_short_field(name));
        self.writer.identity.vouch_for_model(&mut draft, client);
        let receipt =
            self.writer.record(draft, (self.clock)(), Durability::Written).map_err(|error| {
                let exit = Exit::of_record(&error);
                match error {
                    RecordError::Invalid(problems) => ApiError::Invalid(problems),
                    RecordError::Store(error) => {
                        ApiError::Failed { exit, message: format!("failed to {error}") }
                    }
                }
            })?;
        let mut text = format!("Saved as {} for {}.", receipt.id, receipt.repo);
        if receipt.place == Place::Spool {
            let _ = write!(text, " Note: {WAITS}.");
        }
        let mut json = json!({ "id": receipt.id.as_str(), "repo": receipt.repo.as_str(), "status": "written" });
        if let (Some(why), Some(json)) = (receipt.flagged(), json.as_object_mut()) {
            text.push_str(&format!(" {}", why.advice()));
            json.insert("flagged".to_owned(), why.as_str().into());
        }
        Ok(Reply::new(text, json))
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        let snapshot = self.answerable()?;
        let mut memories = Vec::with_capacity(ids.len());
        let mut missing = Vec::new();
        for id in ids {
            match snapshot.cited(id.trim()) {
                Cited::One(memory) => memories.push(memory),
                Cited::None => missing.push(left_out::no_memory(id, snapshot.room())),
                Cited::LeftOut => missing.push(left_out::too_old(id, snapshot.room())),
                Cited::Several { first, count } => missing.push(several(id, &first, count)),
            }
        }
        if missing.is_empty() {
            Ok(render::items(&memories))
        } else {
            Err(ApiError::NotFound(missing.join("\n")))
        }
    }

    fn recent(&self, limit: usize) -> Result<Reply, ApiError> {
        let snapshot = self.answerable()?;
        let mut memories: Vec<Arc<Memory>> = snapshot.memories().to_vec();
        memories.sort_by_cached_key(|memory| (memory.event.timestamp, memory.event.id.clone()));
        memories.reverse();
        memories.truncate(limit);
        Ok(render::list("Recent memories", &memories))
    }

    fn status(&self) -> Result<Reply, ApiError> {
        Ok(render::status(self.writer.store.root(), &self.snapshot()?, &self.model()))
    }

    fn digest(&self) -> Result<Reply, ApiError> {
        let snapshot = self.answerable()?;
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

    fn whoami(&self) -> Result<Reply, ApiError> {
        let snapshot = self.snapshot()?;
        let log = self.writer.store.log_of(&self.here);
        let keys = snapshot.keys_of(&self.here);
        let alike: Vec<String> = snapshot
            .repos()
            .keys()
            .filter(|key| key.short_name() == self.here.short_name() && !keys.contains(key))
            .map(ToString::to_string)
            .collect();
        Ok(render::whoami(&Whoami {
            repo: &self.here,
            found: &self.place.key,
            because: self.place.why.to_string(),
            store: self.writer.store.root(),
            log: &log,
            memories: keys.iter().filter_map(|key| snapshot.repos().get(key)).sum(),
            agent: &self.writer.identity.agent_id,
            session: self.writer.identity.session_id.as_deref(),
            alike: &alike,
        }))
    }
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
            tags: Vec::new(),
            files: Vec::new(),
            agents: Vec::new(),
            since: None,
            until: None,
            limit: LIMIT_DEFAULT,
            max_tokens: super::api::SEARCH_TOKENS_DEFAULT,
            mode: Mode::default(),
            explain: super::api::Explain::default(),
            flagged: Flagged::default(),
            min_relevance_percent: MIN_RELEVANCE_PERCENT_DEFAULT,
        }
    }
}

impl Default for ContextRequest {
    fn default() -> Self {
        Self { repo: None, task: None, files: Vec::new(), max_tokens: CONTEXT_TOKENS_DEFAULT }
    }
}
