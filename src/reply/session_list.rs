//! A list of past sessions, one line each. Not here: what was said in them (`session_transcript`).

use serde_json::{Value, json};

use super::reader::ReplyReader;
use super::reply::Reply;
use super::session_disclosure::{
    LeftOutSession, disclosure, left_out_json, marked, sessions_left_out,
};
use super::session_line::{
    BRANCH_CHARACTERS, MINUTE, NOTICE, counted, line, place, shown_id, time, tool_title,
};
use guard::disclosure::{Disclosure, DisclosureOccasion};
use sessions::session_judgement::session_suspicion;
use sessions::session_rows::KeptSession;

/// Longest title of a session, in characters.
const TITLE_CHARACTERS: usize = 100;

/// Says that nothing is kept.
#[must_use]
pub fn no_sessions_kept() -> Reply {
    let text =
        "No past sessions are kept. agent-knowledge sessions import shows what is on this disk.";
    Reply::new(text.to_owned(), json!({ "sessions": [], "more": false }))
}

/// Writes the list. `skipped` sessions come before it; `is_more` tells whether others come after it.
#[must_use]
pub fn session_list(sessions: &[KeptSession], skipped: usize, is_more: bool) -> Reply {
    let (mut shown, mut left_out, mut listed) = (Vec::new(), Vec::new(), Vec::new());
    for session in sessions {
        let why = session_suspicion(session);
        match disclosure(DisclosureOccasion::Listed, why) {
            Disclosure::LeftOut(why) => {
                left_out.push(LeftOutSession { id: shown_id(session), why });
            }
            Disclosure::Plain | Disclosure::Marked(_) => {
                shown.push(session);
                listed.push(marked(session_json(session), why));
            }
        }
    }
    let json = json!({ "sessions": listed, "more": is_more, "left_out": left_out_json(&left_out) });
    if sessions.is_empty() {
        let text = match skipped {
            0 => "No past session fits. agent-knowledge sessions list shows all that are kept.",
            _ => "No more sessions.",
        };
        return Reply::new(text.to_owned(), json);
    }
    let mut text = format!("**Past sessions:** {NOTICE}\n");
    for (number, session) in (skipped + 1..).zip(shown) {
        text.push_str(&format!("\n{number}. {}", session_line(session)));
    }
    if !left_out.is_empty() {
        text.push_str(&format!("\n\n{}", sessions_left_out(&left_out, ReplyReader::CommandLine)));
    }
    text.push_str("\n\nOpen one: agent-knowledge sessions show ID");
    if is_more {
        // Every page before the last one is full.
        text.push_str(&format!(". More: --page {}", skipped / sessions.len() + 2));
    }
    Reply::new(text, json)
}

/// Returns a session as one line.
pub(super) fn session_line(session: &KeptSession) -> String {
    let when = time(session.span_ms.map(|(_, last)| last), MINUTE);
    let gone = if session.is_source_gone { " · transcript deleted" } else { "" };
    format!(
        "[{when}] {}, {}: {} · {}{gone} · {}",
        tool_title(&session.tool),
        place(session, BRANCH_CHARACTERS),
        line(&session.title, TITLE_CHARACTERS),
        counted(u64::from(session.exchanges), "exchange"),
        shown_id(session),
    )
}

/// Returns what is known about a session.
pub(super) fn session_json(session: &KeptSession) -> Value {
    let (first, last) = session.span_ms.unzip();
    json!({
        "tool": session.tool,
        "id": session.native_id,
        "uri": format!("session://{}/{}", session.tool, session.native_id),
        "repo": session.repo,
        "branch": session.facts.branch,
        "directory": session.facts.directory,
        "title": session.title,
        "first_ms": first,
        "last_ms": last,
        "exchanges": session.exchanges,
        "parent": session.facts.parent,
        "by_program": session.facts.is_by_program,
        "transcript_deleted": session.is_source_gone,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcripts::exchange::SessionFacts;

    #[test]
    fn a_page_names_the_next_one() {
        let session = KeptSession {
            row: 1,
            tool: "codex".to_owned(),
            native_id: "11112222".to_owned(),
            repo: None,
            title: String::new(),
            opening: String::new(),
            question: String::new(),
            cited: "11112222".to_owned(),
            span_ms: None,
            exchanges: 1,
            facts: SessionFacts::default(),
            is_source_gone: false,
        };
        let page = |skipped, is_more| {
            session_list(&[session.clone(), session.clone()], skipped, is_more).text
        };
        assert!(page(0, true).ends_with("More: --page 2"), "{}", page(0, true));
        assert!(page(2, true).ends_with("More: --page 3"), "{}", page(2, true));
        assert!(!page(4, false).contains("--page"), "{}", page(4, false));
    }
}
