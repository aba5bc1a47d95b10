//! One search, from its request to its reply, in steps. The words are searched while the model computes the vector of the query. A step
//! with a subject of its own stands in the file of that: `filters`, `query_vector`, `second_source`, `reranking`, `failed_search`,
//! `session_search`. Not here: ranking (`search`), the words of the reply (`reply`).

use std::sync::Arc;
use std::time::Duration;

use super::as_of;
use super::filter_words::parsed_query;
use super::query_vector::{PendingVector, QueryMeaning, VectorQuery, scale_notice};
use crate::local::Local;
use crate::local::caller_files::{AskedFolders, PathQuestion};
use crate::local::look::{self, changed_files, gone_files, unmerged_memories};
use crate::local::repositories;
use crate::local::snapshots::{self, UsedSnapshot, undamaged_answer};
use crate::local::unread_logs;
use engine::{EngineView, LogCoverage};
use event::RepoKey;
use index::lexical::PreparedQuery;
use place::Place;
use reply::{ReplyReader, SearchReply};
use requests::{ApiError, Explain, Mode, Reply, SearchRequest, SearchScope};
use search::links::{self, LinkedMemory};
use search::snapshot::Snapshot;
use search::staleness::{CommitStamp, UnmergedMemories, UnmergedPolicy};
use search::{
    Filter, FolderNames, Hit, ParsedQuery, Query, SearchResult, Tier, Tiers, WordMatching,
};

/// How long a search waits for the model while others write faster than lines are read.
const HURRIED: Duration = Duration::from_millis(60);

/// Most memories that an explained search names though they are no hits.
const NEAR_MISSES_MAX: usize = 10;

/// What one search knows.
pub(super) struct SearchRun<'a> {
    pub(super) local: &'a Local,
    pub(super) request: &'a SearchRequest,
    /// The query without its filters.
    pub(super) parsed: &'a ParsedQuery,
    /// The way of searching for which there is time.
    pub(super) mode: Mode,
    pub(super) snapshot: &'a Snapshot,
    coverage: LogCoverage,
    /// The repository at hand.
    pub(super) here: Option<RepoKey>,
    /// The package of it at hand.
    package: Option<FolderNames>,
    /// The folders that the request names.
    pub(super) asked_folders: AskedFolders,
    filter: Filter,
    meaning: QueryMeaning,
    unmerged: Arc<UnmergedMemories>,
    pub(super) notices: Vec<String>,
}

/// Answers a search, of ids, or of a text now or as of a past time.
pub(crate) fn search(local: &Local, request: &SearchRequest) -> Result<Reply, ApiError> {
    let past = as_of::answer(local, request.as_of, request.mode, |past| {
        search(past, &SearchRequest { as_of: None, ..request.clone() })
    });
    match past {
        Some(reply) => reply,
        None if !request.ids.is_empty() => look::show(local, &request.ids),
        None => undamaged_answer(|used| search_text(local, request, used)),
    }
}

fn search_text(
    local: &Local,
    request: &SearchRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let parsed = parsed_query(local, request)?;
    let mode = affordable(local, request.mode);
    let pending = vector_query(local, request, &parsed).send(mode);
    let (EngineView { snapshot, coverage }, pending) = pending.catch_up(local)?;
    let pending =
        if coverage == LogCoverage::Behind { pending.with_wait(HURRIED) } else { pending };
    used.record(&snapshot);
    let here = repositories::repo_or_here(local, named(request), &snapshot)?;
    let run = SearchRun {
        local,
        request,
        parsed: &parsed,
        mode,
        snapshot: &snapshot,
        coverage,
        here,
        package: None,
        asked_folders: AskedFolders::default(),
        filter: Filter::default(),
        meaning: QueryMeaning::default(),
        unmerged: match request.unmerged {
            UnmergedPolicy::Marked => unmerged_memories(local, &snapshot, request.unmerged),
            UnmergedPolicy::LeftOut => Arc::default(),
        },
        notices: Vec::new(),
    };
    run.reply(pending)
}

/// Returns the way of searching for which there is time. While others write faster than lines are read, the model would take
/// longer than everything else, and what is new has no vectors yet. A replica answers like the others, however much is
/// written to it.
fn affordable(local: &Local, wanted: Mode) -> Mode {
    let may_skip = wanted != Mode::Dense && local.core.config.member.is_none();
    if may_skip && local.core.engine.is_pressed() { Mode::Lexical } else { wanted }
}

/// Returns the repository that a request names, as it was written.
fn named(request: &SearchRequest) -> Option<&str> {
    let (SearchScope::All(named) | SearchScope::Only(named)) = &request.scope;
    named.as_deref()
}

fn vector_query<'a>(
    local: &'a Local,
    request: &'a SearchRequest,
    parsed: &'a ParsedQuery,
) -> VectorQuery<'a> {
    VectorQuery { local, text: &parsed.text, named: named(request), filters: &parsed.repo_names }
}

impl<'a> SearchRun<'a> {
    /// Runs all steps in their order.
    fn reply(mut self, pending: PendingVector) -> Result<Reply, ApiError> {
        self.asked_folders =
            self.local.asked_folders(&self.request.folders, self.path_question())?;
        self.filter = self.joined_filter()?;
        self.package = self.found_package();
        let words = search::begin(self.snapshot, &self.query(), self.local.core.now());
        self.meaning = self.vector_query().meaning(pending, self.request.mode, self.snapshot)?;
        self.notices = self.snapshot_notices();
        let notices_len = self.notices.len();
        let mut found = self.search_sources(words);
        if self.may_be_unmerged(&found) {
            self.unmerged = unmerged_memories(self.local, self.snapshot, self.request.unmerged);
            if !self.unmerged.is_empty() {
                self.notices.truncate(notices_len);
                let words = search::begin(self.snapshot, &self.query(), self.local.core.now());
                found = self.search_sources(words);
            }
        }
        self.rerank(&mut found);
        self.record_failed_search(&found);
        self.notices.extend(held_back_notice(found.held_back, self.local.reader()));
        self.notices.extend(self.misread_notice(&found));
        Ok(self.reply_of(&found))
    }

    /// Tells whether a hit may be of a branch that is not merged here, where such memories are left out. A hook mostly finds nothing, or
    /// memories of the branch at hand, and must not wait for git then.
    fn may_be_unmerged(&self, found: &SearchResult<'_>) -> bool {
        let branch = self.local.place.as_ref().and_then(Place::branch);
        let is_elsewhere = |hit: &Hit| {
            let stamp = CommitStamp::from_event(hit.memory.event());
            stamp.is_some_and(|stamp| Some(&*stamp.branch) != branch)
        };
        self.request.unmerged == UnmergedPolicy::LeftOut && found.hits.iter().any(is_elsewhere)
    }

    /// What the paths of the request are about.
    pub(super) fn path_question(&self) -> PathQuestion<'_> {
        let patience = self.request.unmerged.into();
        PathQuestion { repo: self.here.as_ref(), snapshot: self.snapshot, patience }
    }

    pub(super) fn vector_query(&self) -> VectorQuery<'a> {
        vector_query(self.local, self.request, self.parsed)
    }

    /// Returns the query, with its vector once there is one.
    pub(super) fn query(&self) -> Query<'_> {
        let request = self.request;
        Query {
            text: &self.parsed.text,
            vector: self.meaning.vector(),
            tokens: self.meaning.tokens(),
            words: if request.mode == Mode::Dense { WordMatching::Off } else { WordMatching::On },
            filter: self.filter.clone(),
            here: self.here.clone(),
            package: self.package.clone(),
            min_likelihood: f32::from(request.min_relevance_percent) / 100.0,
            tiers: request.tiers,
            failure: request.failure.as_ref(),
            unmerged: Some(&self.unmerged),
            unmerged_policy: request.unmerged,
            near_misses_max: match request.explain {
                Explain::Components => NEAR_MISSES_MAX,
                Explain::Silent => 0,
            },
        }
    }

    /// Says what the snapshot and its vectors lack.
    fn snapshot_notices(&mut self) -> Vec<String> {
        let (local, snapshot) = (self.local, self.snapshot);
        let of_vectors = self.meaning.partial_notice(local, snapshot);
        let notices = [
            snapshots::no_store_notice(local),
            self.meaning.notice.take(),
            snapshots::recent_only_notice(self.coverage, snapshot),
            of_vectors.or_else(|| scale_notice(self.request.explain, snapshot)),
            snapshots::bound_notice(snapshot.memory_usage()),
            unread_logs::notice(local, self.filter.repos.as_ref(), snapshot),
            self.unknown_repo_notice(),
        ];
        let of_folders = std::mem::take(&mut self.asked_folders.notices);
        notices.into_iter().flatten().chain(of_folders).collect()
    }

    /// Says that the repository has no memories, which may be why nothing was found.
    fn unknown_repo_notice(&self) -> Option<String> {
        let repo = self.here.as_ref().filter(|_| self.filter.repos.is_some())?;
        let is_unread = unread_logs::is_unread(self.local, repo, self.snapshot);
        if is_unread || repositories::has_memories(repo, self.snapshot) {
            return None;
        }
        let meant = repositories::similar_names(repo, self.snapshot);
        Some(format!(
            "Note: there are no memories of {repo}.{meant} Search without a repo to see other repositories."
        ))
    }

    fn reply_of(&self, found: &SearchResult<'_>) -> Reply {
        let (local, request) = (self.local, self.request);
        let memories = || found.hits.iter().map(|hit| &hit.memory);
        let interest = found.words.as_ref().map(PreparedQuery::interest);
        let of_interest =
            |piece: &str| interest.as_ref().map_or(0.0, |interest| interest.weigh(piece));
        let reply = SearchReply {
            hits: &found.hits,
            here: self.here.as_ref(),
            package: self.package.as_ref(),
            linked: &self.linked(&found.hits),
            changed: &changed_files(local, memories(), self.snapshot),
            gone: &gone_files(local, memories(), self.snapshot, request.unmerged),
            unmerged: &self.unmerged,
            notices: &self.notices,
            near_misses: &found.near_misses,
            explain: request.explain,
            filters: &self.parsed.filter_words,
            matched: (request.explain == Explain::Components).then_some(self.parsed.text.as_ref()),
            beside: &self.sessions_for_search(found),
            shape: request.shape,
            reader: local.reader(),
            max_tokens: request.max_tokens,
        };
        reply::search(&reply, &of_interest)
    }

    /// Returns the memories that stated links join to likely hits. Hooks show nothing but likely hits.
    fn linked(&self, hits: &[Hit]) -> Vec<LinkedMemory> {
        if self.request.tiers == Tiers::Likely || likely_count(hits) == 0 {
            return Vec::new();
        }
        let core = &self.local.core;
        links::linked_memories(
            self.snapshot,
            &core.links.links_of(self.snapshot),
            hits,
            &self.filter,
            core.now(),
        )
    }
}

pub(super) fn likely_count(hits: &[Hit]) -> usize {
    hits.iter().filter(|hit| hit.tier == Tier::Likely).count()
}

/// Says how many memories a search held back, and how to see them.
fn held_back_notice(count: usize, reader: ReplyReader) -> Option<String> {
    let notes = match count {
        0 => return None,
        1 => "1 note was held back because it reads like instructions".to_owned(),
        many => format!("{many} notes were held back because they read like instructions"),
    };
    Some(format!("Note: {notes}; {} shows them, marked.", reader.include_flagged()))
}
