//! The briefing: the search for its task, and the state of the work tree, which only this process can see. Not here:
//! which memories it lists (`search`), its words (`reply`).

use std::collections::BTreeMap;
use std::path::Path;

use super::damage::UsedSnapshot;
use super::query_vector::QueryAbout;
use super::repositories::unnamed;
use super::{Local, find, memory_bound, query_vector, repositories, snapshots, staleness};
use engine::View;
use guard::secrets::Redacted;
use reply::Briefing;
use requests::{ApiError, ContextRequest, MIN_RELEVANCE_PERCENT_DEFAULT, Mode, Reply};
use search::staleness::{is_gone, is_written_after};
use search::{Occasion, Query};
use store::read_project_config;

/// Memories of a briefing for its task: twice as many as usually fit.
const FOR_TASK_MAX: usize = 8;

/// Makes the briefing.
pub(super) fn context(
    local: &Local,
    request: &ContextRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let asked = asked(request);
    let asked = asked.trim();
    let about = QueryAbout { text: asked, named: request.repo.as_deref(), filters: &[] };
    let put = query_vector::put(local, about, Mode::Hybrid);
    let (View { snapshot, extent }, put) = query_vector::view_for(local, put)?;
    let (meant, notice) = query_vector::meaning_of(local, put, Mode::Hybrid, about, &snapshot)?;
    used.note(&snapshot);
    let repo = repositories::repo_or_here(local, request.repo.as_deref(), &snapshot)?
        .ok_or_else(unnamed)?;
    let (vector, tokens) = query_vector::parts(meant.as_ref());
    let query = Query {
        text: asked,
        vector,
        tokens,
        here: Some(repo.clone()),
        min_likelihood: f32::from(MIN_RELEVANCE_PERCENT_DEFAULT) / 100.0,
        ..Query::default()
    };
    let hits = if asked.is_empty() {
        Vec::new()
    } else {
        find::query_hits(local, &snapshot, &query, FOR_TASK_MAX)
    };
    let for_task: Vec<_> = hits.into_iter().map(|hit| hit.memory).collect();
    let tree = local
        .place
        .as_ref()
        .filter(|_| local.here.as_ref() == Some(&repo))
        .map(|place| &*place.top);
    let is_there = |file: &&String| tree.is_some_and(|top| top.join(file).is_file());
    let loaded: Vec<String> = request.loaded.iter().filter(is_there).cloned().collect();
    // The times of files say something only of today, and only where git tells a checkout from a change.
    let is_git = local.place.as_ref().is_some_and(|place| place.git().is_some())
        && local.core.config.as_of.is_none();
    let occasion = Occasion {
        repos: &snapshot.keys_of(&repo),
        now: local.core.now(),
        for_task: &for_task,
        files: &request.files,
        loaded: &loaded,
        own_session: local.writer.identity.session_id.as_deref(),
        is_gone: &|file| tree.is_some_and(|top| is_gone(top, file)),
        is_written_after: &|file, time| {
            is_git && tree.is_some_and(|top| is_written_after(top, file, time))
        },
    };
    let picked = search::pick(&snapshot, &occasion);
    let notes = picked.sections.iter().flat_map(|(_, notes)| notes);
    let changed = staleness::changed_files(local, notes.map(|note| &note.memory), &snapshot);
    let partial = query_vector::partial(local, &snapshot, meant.as_ref());
    let notices = notice.into_iter().chain(snapshots::recent_only(extent, &snapshot));
    let notices: Vec<String> =
        notices.chain(partial).chain(memory_bound::note(snapshot.room())).collect();
    let section_tokens = section_budgets(local, tree);
    let briefing = Briefing {
        repo: &repo,
        picked: &picked,
        changed: &changed,
        notices: &notices,
        shape: request.shape,
        max_tokens: request.max_tokens,
        section_tokens: &section_tokens,
    };
    let interest = snapshot.lexical().interest(asked);
    Ok(reply::briefing(&briefing, &|piece| interest.of(piece)))
}

/// Returns the most tokens of sections. The user's settings win over those of the project, and a file of the project that
/// cannot be used changes nothing; `config` says why.
fn section_budgets(local: &Local, tree: Option<&Path>) -> BTreeMap<String, usize> {
    let project = tree.and_then(|top| read_project_config(top).ok()).unwrap_or_default();
    let mut budgets = project.section_budgets;
    budgets.extend(local.core.config.section_budgets.clone());
    budgets
}

/// Returns what is searched for: the task in words, or the files where no task is given.
fn asked(request: &ContextRequest) -> Redacted {
    request.task.clone().unwrap_or_else(|| Redacted::of(&request.files.join(" ")))
}

#[cfg(test)]
mod tests {
    use search::Section;
    use settings::BRIEFING_SECTIONS;

    // S-CONTEXT-7
    #[test]
    fn every_section_has_a_budget_of_its_name() {
        assert_eq!(Section::ALL.map(Section::as_str), BRIEFING_SECTIONS);
    }
}
