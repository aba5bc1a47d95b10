//! The briefing: what is asked of the search for it, and what only this process can see, the work tree. Not here:
//! which memories it tells (`search`), its words (`render`).

use std::path::{Component, Path};

use super::answers::Seen;
use super::{Local, left_out, unnamed, views};
use crate::retriever::engine::View;
use crate::retriever::render::{self, Briefing};
use crate::retriever::search::{self, Occasion, Query};
use crate::retriever::serve::api::{
    ApiError, ContextRequest, MIN_RELEVANCE_PERCENT_DEFAULT, Mode, Reply,
};
use crate::store::{Found, Why};

/// Memories of a briefing for the task. Twice what usually has room.
const FOR_TASK_MAX: usize = 8;

/// Longest path that is looked up, in bytes; systems allow few more.
const PATH_BYTES_MAX: usize = 1_024;

impl Local {
    /// Makes the briefing.
    pub(super) fn briefed(&self, request: &ContextRequest, seen: &Seen) -> Result<Reply, ApiError> {
        let asked = asked(request);
        let asked = asked.trim();
        let (vector, notice) =
            if asked.is_empty() { (None, None) } else { self.vector(asked, Mode::Hybrid)? };
        let View { snapshot, extent } = self.view_for(vector.as_deref())?;
        seen.note(&snapshot);
        let repo = self.repo(request.repo.as_deref(), &snapshot)?.ok_or_else(unnamed)?;
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
            self.query_hits(&snapshot, &query, FOR_TASK_MAX)
        };
        let for_task = search::near_the_best(hits);
        let tree = self.place.as_ref().filter(|_| self.here.as_ref() == Some(&repo)).map(top);
        let occasion = Occasion {
            repos: &snapshot.keys_of(&repo),
            now: (self.core.clock)().now,
            for_task: &for_task,
            files: &request.files,
            own_session: self.writer.identity.session_id.as_deref(),
            is_gone: &|file| tree.is_some_and(|top| is_gone(top, file)),
        };
        let picked = search::pick(&snapshot, &occasion);
        let partial = self.partial(&snapshot, vector.as_deref());
        let notices = notice.into_iter().chain(views::recent_only(extent, &snapshot));
        let notices: Vec<String> =
            notices.chain(partial).chain(left_out::note(snapshot.room())).collect();
        let briefing = Briefing {
            repo: &repo,
            picked: &picked,
            notices: &notices,
            shape: request.shape,
            max_tokens: request.max_tokens,
        };
        let interest = snapshot.lexical().interest(asked);
        Ok(render::briefing(&briefing, &|piece| interest.of(piece)))
    }
}

/// What is searched for: the task in words; where none is given, the files.
fn asked(request: &ContextRequest) -> String {
    request.task.clone().unwrap_or_else(|| request.files.join(" "))
}

/// The top of the work tree.
fn top(place: &Found) -> &Path {
    match (&place.git, &place.why) {
        (Some(git), _) => &git.top,
        (None, Why::Folder(path) | Why::CommonDir(path)) => path,
        (None, Why::Remote { .. }) => Path::new(""),
    }
}

/// Tells whether a file is known to be gone from a work tree: its path begins with a folder that is there, and it is
/// not. Of a bare name, the end of a path, a pattern or a path of another machine nothing is known.
fn is_gone(top: &Path, file: &str) -> bool {
    let file = without_line(file.trim());
    if file.len() > PATH_BYTES_MAX || file.contains(['\\', '*', '?', '<', '{', '\0']) {
        return false;
    }
    let path = Path::new(file);
    let path = path.strip_prefix(top).unwrap_or(path);
    let parts: Vec<Component<'_>> =
        path.components().filter(|part| *part != Component::CurDir).collect();
    let is_plain = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    let [first, _, ..] = parts.as_slice() else { return false };
    if !is_plain {
        return false;
    }
    let is_folder = top.join(first).symlink_metadata().is_ok_and(|found| found.is_dir());
    is_folder
        && top.join(path).symlink_metadata().is_err_and(|error| {
            use std::io::ErrorKind::{NotADirectory, NotFound};
            matches!(error.kind(), NotFound | NotADirectory)
        })
}

/// A path without the line numbers that tools write behind it.
fn without_line(file: &str) -> &str {
    let numbers = |c: char| c.is_ascii_digit() || c == ':' || c == '-';
    let bare = file.trim_end_matches(numbers);
    match file.get(bare.len()..) {
        Some(rest) if rest.starts_with(':') => bare,
        _ => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-CONTEXT-5
    #[test]
    fn only_a_file_that_is_known_to_be_gone_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        std::fs::create_dir_all(top.join("src/lib")).unwrap();
        std::fs::write(top.join("src/lib/a.rs"), "").unwrap();
        for gone in [
            "src/b.rs",
            "./src/b.rs",
            "src/lib/b.rs:12",
            "src/b.rs:3:4",
            "src/lib/a.rs/x",
            "src/v-2",
        ] {
            assert!(is_gone(top, gone), "{gone}");
        }
        assert!(is_gone(top, top.join("src/b.rs").to_str().unwrap()));
        for unknown in [
            "",
            "src",
            "src/lib",
            "src/lib/a.rs",
            "src/lib/a.rs:12",
            "b.rs",
            "lib/b.rs",
            "/etc/nothing",
            "../src/b.rs",
            "src/../b.rs",
            "src/*.rs",
            "src\\b.rs",
            "https://example.org/src/b.rs",
        ] {
            assert!(!is_gone(top, unknown), "{unknown}");
        }
        assert!(!is_gone(top, &format!("src/{}", "x".repeat(2_000))));
    }
}
