//! The briefing: what is asked of the search for it, and what only this process can see, the work tree. Not here:
//! which memories it tells (`search`), its words (`render`).

use super::answers::Seen;
use super::{Local, left_out, meaning, unnamed, views};
use crate::{ApiError, ContextRequest, MIN_RELEVANCE_PERCENT_DEFAULT, Mode, Reply};
use engine::View;
use reply::Briefing;
use search::staleness::is_gone;
use search::{Occasion, Query};
use store::DetectedRepo;

/// Memories of a briefing for the task. Twice what usually has room.
const FOR_TASK_MAX: usize = 8;

impl Local {
    /// Makes the briefing.
    pub(super) fn briefed(&self, request: &ContextRequest, seen: &Seen) -> Result<Reply, ApiError> {
        let asked = asked(request);
        let asked = asked.trim();
        let put = self.put(asked, Mode::Hybrid);
        let (View { snapshot, extent }, put) = self.view_for(put)?;
        let (meant, notice) = self.meaning_of(put, Mode::Hybrid)?;
        seen.note(&snapshot);
        let repo = self.repo(request.repo.as_deref(), &snapshot)?.ok_or_else(unnamed)?;
        let (vector, tokens) = meaning::parts(meant.as_ref());
        let query = Query {
            text: asked,
            vector,
            tokens,
            here: Some(repo.clone()),
            min_relevance: f32::from(MIN_RELEVANCE_PERCENT_DEFAULT) / 100.0,
            ..Query::default()
        };
        let hits = if asked.is_empty() {
            Vec::new()
        } else {
            self.query_hits(&snapshot, &query, FOR_TASK_MAX)
        };
        let for_task = search::near_the_best(hits);
        let tree = self
            .place
            .as_ref()
            .filter(|_| self.here.as_ref() == Some(&repo))
            .map(DetectedRepo::top);
        let occasion = Occasion {
            repos: &snapshot.keys_of(&repo),
            now: (self.core.clock)().now,
            for_task: &for_task,
            files: &request.files,
            own_session: self.writer.identity.session_id.as_deref(),
            is_gone: &|file| tree.is_some_and(|top| is_gone(top, file)),
        };
        let picked = search::pick(&snapshot, &occasion);
        let notes = picked.sections.iter().flat_map(|(_, notes)| notes);
        let changed = self.changed_since(notes.map(|note| &note.memory), &snapshot);
        let partial = self.partial(&snapshot, meant.as_ref());
        let notices = notice.into_iter().chain(views::recent_only(extent, &snapshot));
        let notices: Vec<String> =
            notices.chain(partial).chain(left_out::note(snapshot.room())).collect();
        let briefing = Briefing {
            repo: &repo,
            picked: &picked,
            changed: &changed,
            notices: &notices,
            shape: request.shape,
            max_tokens: request.max_tokens,
        };
        let interest = snapshot.lexical().interest(asked);
        Ok(reply::briefing(&briefing, &|piece| interest.of(piece)))
    }
}

/// What is searched for: the task in words; where none is given, the files.
fn asked(request: &ContextRequest) -> String {
    request.task.clone().unwrap_or_else(|| request.files.join(" "))
}
