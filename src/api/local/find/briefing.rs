//! The briefing: the search for its task, and the state of the work tree, which only this process can see. Not here:
//! which memories it lists (`search`), its words (`reply`).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::as_of;
use super::query_vector::{QueryMeaning, VectorQuery};
use crate::local::Local;
use crate::local::caller_files::{AskedFolders, PathQuestion};
use crate::local::look::{changed_files, first_briefing_sentences, is_renamed, unmerged_memories};
use crate::local::repositories::required_repo;
use crate::local::snapshots::{self, UsedSnapshot, undamaged_answer};
use crate::local::unread_logs;
use engine::EngineView;
use event::RepoKey;
use guard::secrets::RedactedText;
use memory::Memory;
use reply::{Briefing, LogState};
use requests::{
    ApiError, BriefingReader, ContextRequest, MIN_RELEVANCE_PERCENT_DEFAULT, Mode, Reply,
};
use search::snapshot::Snapshot;
use search::staleness::{UnmergedMemories, UnmergedPolicy, is_gone, is_written_after, path_in};
use search::{BriefingSelection, FolderNames, Occasion, PackagePolicy, Query, Section};
use store::read_project_config;

use crate::work_trees::moved_state::FollowedNames;

/// Memories of a briefing for its task: twice as many as usually fit.
const FOR_TASK_MAX: usize = 8;

/// Makes the briefing, of now or as of a past time.
pub(crate) fn context(local: &Local, request: &ContextRequest) -> Result<Reply, ApiError> {
    let past = as_of::answer(local, request.as_of, Mode::Hybrid, |past| {
        context(past, &ContextRequest { as_of: None, ..request.clone() })
    });
    past.unwrap_or_else(|| undamaged_answer(|used| briefing(local, request, used)))
}

fn briefing(
    local: &Local,
    request: &ContextRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let task = task(request);
    let text = task.trim();
    let query = VectorQuery { local, text, named: request.repo.as_deref(), filters: &[] };
    let (EngineView { snapshot, coverage }, pending) = query.send(Mode::Hybrid).catch_up(local)?;
    let meaning = query.meaning(pending, Mode::Hybrid, &snapshot)?;
    used.record(&snapshot);
    let repo = required_repo(local, request.repo.as_deref(), &snapshot)?;
    let unmerged = unmerged_memories(local, &snapshot, request.unmerged);
    let branches = BranchView { unmerged: &unmerged, policy: request.unmerged };
    let asked =
        PathQuestion { repo: Some(&repo), snapshot: &snapshot, patience: request.unmerged.into() };
    let package = PackageView::new(local, request, asked)?;
    let here = TaskPlace { repo: &repo, package: &package, branches: &branches };
    let for_task = memories_for_task(query, &meaning, &here, &snapshot);
    let picked = pick(local, request, &here, &for_task, &snapshot);
    let notes = picked.sections.iter().flat_map(|(_, notes)| notes);
    let changed = changed_files(local, notes.map(|note| &note.memory), &snapshot);
    let unembedded = meaning.partial_notice(local, &snapshot);
    let recent = snapshots::recent_only_notice(coverage, &snapshot);
    let left_out = snapshots::bound_notice(snapshot.memory_usage());
    let unread = unread_logs::notice(local, Some(&told_repos(&repo, &snapshot)), &snapshot);
    let is_unread = unread_logs::is_unread(local, &repo, &snapshot);
    let notices = [meaning.notice, recent, unembedded, left_out, unread, package.notice.clone()];
    let is_here = local.here.as_ref() == Some(&repo);
    let former = if is_here { first_briefing_sentences(local, &snapshot) } else { Vec::new() };
    let briefing = Briefing {
        repo: &repo,
        package: package.at_hand.as_ref(),
        picked: &picked,
        changed: &changed,
        unmerged: &unmerged,
        notices: &former.into_iter().chain(notices.into_iter().flatten()).collect::<Vec<String>>(),
        shape: request.shape,
        max_tokens: request.max_tokens,
        section_tokens: &section_budgets(local, work_tree(local, &repo), request.reader),
        log_state: if is_unread { LogState::Unread } else { LogState::Read },
    };
    let interest = snapshot.lexical().interest(text);
    Ok(reply::briefing(&briefing, &|piece| interest.weigh(piece)))
}

/// Returns the repositories whose memories a briefing tells: its own, and what applies everywhere.
fn told_repos(repo: &RepoKey, snapshot: &Snapshot) -> BTreeSet<RepoKey> {
    let mut repos = snapshot.keys_of(repo);
    repos.insert(RepoKey::global());
    repos
}

/// What is known of branches, and what is done with it.
struct BranchView<'a> {
    unmerged: &'a UnmergedMemories,
    policy: UnmergedPolicy,
}

/// What is known of packages, and what is done with it.
struct PackageView {
    at_hand: Option<FolderNames>,
    policy: PackagePolicy,
    /// Says that the one that the request names is nowhere.
    notice: Option<String>,
}

impl PackageView {
    /// The package that the request names, or that of the caller's directory.
    fn new(
        local: &Local,
        request: &ContextRequest,
        asked: PathQuestion<'_>,
    ) -> Result<Self, ApiError> {
        let Some(named) = &request.folder else {
            let at_hand = local.package_at_hand(asked);
            return Ok(Self { at_hand, policy: PackagePolicy::Last, notice: None });
        };
        let AskedFolders { folders, notices } =
            local.asked_folders(std::slice::from_ref(named), asked)?;
        let at_hand = folders.into_iter().next().map(|folder| folder.names);
        Ok(Self { at_hand, policy: PackagePolicy::LeftOut, notice: notices.into_iter().next() })
    }
}

/// Where the task is done.
struct TaskPlace<'a> {
    repo: &'a RepoKey,
    package: &'a PackageView,
    branches: &'a BranchView<'a>,
}

/// Searches for the task, best first.
fn memories_for_task(
    query: VectorQuery<'_>,
    meaning: &QueryMeaning,
    here: &TaskPlace<'_>,
    snapshot: &Snapshot,
) -> Vec<Arc<Memory>> {
    if query.text.is_empty() {
        return Vec::new();
    }
    let now = query.local.core.now();
    let query = Query {
        text: query.text,
        vector: meaning.vector(),
        tokens: meaning.tokens(),
        here: Some(here.repo.clone()),
        package: here.package.at_hand.clone(),
        unmerged: Some(here.branches.unmerged),
        unmerged_policy: here.branches.policy,
        min_likelihood: f32::from(MIN_RELEVANCE_PERCENT_DEFAULT) / 100.0,
        ..Query::default()
    };
    let hits = search::search(snapshot, &query, now, FOR_TASK_MAX);
    hits.into_iter().map(|hit| hit.memory).collect()
}

/// Picks the memories that somebody who begins in a repository should know.
fn pick(
    local: &Local,
    request: &ContextRequest,
    here: &TaskPlace<'_>,
    for_task: &[Arc<Memory>],
    snapshot: &Snapshot,
) -> BriefingSelection {
    let TaskPlace { repo, package, branches } = here;
    let tree = work_tree(local, repo);
    let is_there = |file: &&String| tree.is_some_and(|top| top.join(file).is_file());
    let loaded: Vec<String> = request.loaded.iter().filter(is_there).cloned().collect();
    // The times of files say something only of today, and only where git tells a checkout from a change.
    let is_git = local.place.as_ref().is_some_and(|place| place.git().is_some())
        && local.core.config.as_of.is_none();
    let patience = request.unmerged.into();
    let asked = PathQuestion { repo: Some(repo), snapshot, patience };
    let moved = OnceCell::new();
    let is_moved = |file: &str| {
        let ask = || local.moved(&[], FollowedNames::FoldersAndFiles, asked);
        let path = tree.and_then(|top| path_in(top, file));
        path.is_some_and(|path| moved.get_or_init(ask).present_name(&path).is_some())
    };
    let occasion = Occasion {
        repos: &snapshot.keys_of(repo),
        package: package.at_hand.as_ref(),
        package_policy: package.policy,
        is_folder_gone: &|folder| tree.is_some_and(|top| !top.join(folder.as_str()).is_dir()),
        now: local.core.now(),
        for_task,
        files: &local.asked_files(&request.files, asked),
        loaded: &loaded,
        own_session: local.writer.identity.session_id.as_deref(),
        unmerged: branches.unmerged,
        unmerged_policy: branches.policy,
        is_gone: &|file| {
            tree.is_some_and(|top| is_gone(top, file))
                && !is_renamed(local, file)
                && !is_moved(file)
        },
        is_written_after: &|file, time| {
            is_git && tree.is_some_and(|top| is_written_after(top, file, time))
        },
    };
    search::pick(snapshot, &occasion)
}

/// Returns the top of the caller's work tree, where it is one of a repository.
fn work_tree<'a>(local: &'a Local, repo: &RepoKey) -> Option<&'a Path> {
    let place = local.place.as_ref().filter(|_| local.here.as_ref() == Some(repo));
    place.map(|place| &*place.top)
}

/// The sections of the briefing of a subagent.
const FOR_SUBAGENTS: [Section; 2] = [Section::Gotchas, Section::Decisions];

/// Returns the most tokens of sections. The user's settings win over those of the project, and a file of the project that
/// cannot be used changes nothing; `config` says why.
fn section_budgets(
    local: &Local,
    tree: Option<&Path>,
    reader: BriefingReader,
) -> BTreeMap<String, usize> {
    let project = tree.and_then(|top| read_project_config(top).ok()).unwrap_or_default();
    let mut budgets = project.section_budgets;
    budgets.extend(local.core.config.section_budgets.clone());
    if reader == BriefingReader::Subagent {
        let others = Section::ALL.into_iter().filter(|section| !FOR_SUBAGENTS.contains(section));
        budgets.extend(others.map(|section| (section.as_str().to_owned(), 0)));
    }
    budgets
}

/// Returns what is searched for: the task in words, or the files where no task is given.
fn task(request: &ContextRequest) -> RedactedText {
    request.task.clone().unwrap_or_else(|| RedactedText::redact(&request.files.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::BRIEFING_SECTIONS;

    // S-CONTEXT-7
    #[test]
    fn every_section_has_a_budget_of_its_name() {
        assert_eq!(Section::ALL.map(Section::as_str), BRIEFING_SECTIONS);
    }
}
