//! A list of past sessions, one line each. Not here: what was said in them (`session_transcript`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::reader::ReplyReader;
use super::reply::Reply;
use super::session_disclosure::{
    LeftOutSession, LeftOutSessions, disclosure, reason, sessions_left_out,
};
use super::session_line::{
    BRANCH_CHARACTERS, MINUTE, NOTICE, counted, line, place, shown_id, time, tool_title,
};
use guard::disclosure::{Disclosure, DisclosureOccasion};
use guard::injection::Suspicion;
use sessions::session_judgement::session_suspicion;
use sessions::session_rows::KeptSession;

/// Longest title of a session, in characters.
const TITLE_CHARACTERS: usize = 100;

/// A page of past sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionListAnswer {
    /// The sessions, the latest first.
    pub sessions: Vec<SessionItem>,
    /// Whether there are more.
    pub more: bool,
    /// Those of this page that are left out; absent where none are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOutSessions>,
}

impl Answer for SessionListAnswer {}

/// A past session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionItem {
    /// Why it reads like an order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flagged: Option<String>,
    /// The tool that held it, such as claude-code.
    pub tool: String,
    /// The id that the tool gave it.
    pub id: String,
    /// The address under which all of it can be read.
    pub uri: String,
    /// The repository in which it happened.
    pub repo: Option<String>,
    /// The branch on which it began.
    pub branch: Option<String>,
    /// The directory in which it began.
    pub directory: Option<String>,
    /// Its title.
    pub title: String,
    /// When it began, in milliseconds since 1970.
    pub first_ms: Option<i64>,
    /// When it ended.
    pub last_ms: Option<i64>,
    /// How many exchanges it has.
    pub exchanges: u32,
    /// The id of the session that started it.
    pub parent: Option<String>,
    /// Whether a program started it.
    pub by_program: bool,
    /// Whether the tool deleted its transcript.
    pub transcript_deleted: bool,
}

/// Says that nothing is kept.
#[must_use]
pub fn no_sessions_kept() -> Reply {
    let text =
        "No past sessions are kept. agent-knowledge sessions import shows what is on this disk.";
    Reply::with_text(text.to_owned(), &SessionListAnswer::default())
}

/// Writes the list. `skipped` sessions come before it; `is_more` tells whether others come after it.
#[must_use]
pub fn session_list(sessions: &[KeptSession], skipped: usize, is_more: bool) -> Reply {
    let (mut shown, mut left_out, mut listed) = (Vec::new(), Vec::new(), Vec::new());
    for session in sessions {
        let why = session_suspicion(session);
        match disclosure(DisclosureOccasion::Listed, why) {
            Disclosure::LeftOut(why) => {
                left_out.push(LeftOutSession::new(shown_id(session), why));
            }
            Disclosure::Plain | Disclosure::Marked(_) => {
                shown.push(session);
                listed.push(SessionItem::new(session, why));
            }
        }
    }
    let (left, more) = (Some(LeftOutSessions::from_sessions(&left_out)), is_more);
    let answer = SessionListAnswer { sessions: listed, more, left_out: left };
    if sessions.is_empty() {
        let text = match skipped {
            0 => "No past session fits. agent-knowledge sessions list shows all that are kept.",
            _ => "No more sessions.",
        };
        return Reply::with_text(text.to_owned(), &answer);
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
    Reply::with_text(text, &answer)
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

impl SessionItem {
    /// Returns what is known about a session, with the reason why it reads like an order.
    pub(super) fn new(session: &KeptSession, why: Option<Suspicion>) -> Self {
        let (first_ms, last_ms) = session.span_ms.unzip();
        let facts = &session.facts;
        Self {
            flagged: reason(why),
            tool: session.tool.clone(),
            id: session.native_id.clone(),
            uri: format!("session://{}/{}", session.tool, session.native_id),
            repo: session.repo.clone(),
            branch: facts.branch.clone(),
            directory: facts.directory.clone(),
            title: session.title.clone(),
            first_ms,
            last_ms,
            exchanges: session.exchanges,
            parent: facts.parent.clone(),
            by_program: facts.is_by_program,
            transcript_deleted: session.is_source_gone,
        }
    }
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
