//! Makes a session ready to be kept: whether it may be, its repository, and its texts without secrets. Not here: reading it
//! (`readers`), writing it (`session_writes`).

use std::path::Path;

use super::call_paths::CallPaths;
use super::import_scope::ImportScope;
use super::repo_of_session::{SessionRepo, SessionRepos};
use super::row_text::CleanFacts;
use super::session_writes::PackedSession;
use super::stored_exchange::pack;
use event::RepoKey;
use guard::secrets::RedactedText;
use transcripts::exchange::{Exchange, PartKind, SessionRead};
use transcripts::prompt_text;
use transcripts::transcript::SessionExtent;

/// Longest opening of a session, in characters: it stands for a missing title.
const OPENING_CHARACTERS: usize = 100;

/// Makes a session ready to be kept, unless it is to be left out.
pub(super) fn kept_session(
    tool: &str,
    session: SessionRead,
    scope: &ImportScope,
    repos: &mut SessionRepos<'_>,
) -> Option<PackedSession> {
    let SessionRead { native_id, extent, facts, exchanges, is_cut_off, .. } = session;
    let directory = facts.directory.as_deref().map(Path::new);
    let found = repos.repo_at_reading(&facts, &CallPaths::of_exchanges(&exchanges));
    // What goes on with a session that is kept says less about it than its beginning.
    let is_continued = extent == SessionExtent::Continued;
    let is_private = found.is_none() && !scope.is_with_private && !is_continued;
    let (repo, guessed) = match found {
        Some(SessionRepo::Known(key)) => (Some(key), None),
        Some(SessionRepo::Guessed(own, guessed)) => (Some(own), guessed),
        None => (None, None),
    };
    let has_name =
        |key: &RepoKey| scope.without_repos.iter().any(|without| without == key.as_str());
    let is_excluded = repo.iter().chain(&guessed).any(has_name);
    let repo = repo.map(|key| key.to_string());
    if is_private || is_excluded || directory.is_some_and(|path| !scope.has_path(path)) {
        return None;
    }
    let opening = exchanges.iter().find_map(opening_of).unwrap_or_default();
    // The directory is looked at on the disk before its secrets go.
    let (native_id, facts) = (RedactedText::stamp(&native_id), CleanFacts::from_facts(facts));
    let repo = repo.map(|repo| RedactedText::redact(&repo));
    let exchanges = exchanges.into_iter().filter_map(|exchange| pack(tool, exchange)).collect();
    Some(PackedSession { native_id, extent, facts, repo, exchanges, opening, is_cut_off })
}

/// The first question of an exchange in one short line, which is cut after its secrets are gone: the rules know only whole
/// ones.
fn opening_of(exchange: &Exchange) -> Option<RedactedText> {
    let asked = exchange.parts.iter().find_map(|part| match &part.kind {
        PartKind::Asked(text) => Some(prompt_text::without_own_answers(text)),
        _ => None,
    })?;
    Some(RedactedText::redact(&asked).line().cut_to_characters(OPENING_CHARACTERS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcripts::exchange::{ExchangePart, SessionFacts};
    use transcripts::transcript::{SessionFact, TitleSource};

    // S-SESS-3
    #[test]
    fn no_secret_is_cut_in_two_by_an_opening() {
        let secret = ["gh", "p_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
        for before in 0..OPENING_CHARACTERS / 5 {
            let text = format!("{}{secret} and more", "word ".repeat(before));
            let mut facts = SessionFacts::default();
            facts.add_fact(SessionFact::Title(TitleSource::Person, text.clone()));
            let kind = PartKind::Asked(text);
            let parts = vec![ExchangePart { at_ms: None, kind }];
            let read = SessionRead {
                native_id: "s".to_owned(),
                extent: SessionExtent::Whole,
                facts,
                exchanges: vec![Exchange { ordinal: 0, message_id: None, parts }],
                last_offset: None,
                is_cut_off: false,
            };
            let scope = ImportScope { is_with_private: true, ..<_>::default() };
            let kept = kept_session("codex", read, &scope, &mut SessionRepos::new(&scope)).unwrap();
            let shown = format!("{} {:?}", kept.opening, kept.facts);
            for piece in secret.as_bytes().windows(12) {
                assert!(!shown.contains(str::from_utf8(piece).unwrap()), "{shown}");
            }
        }
    }
}
