//! From ranked memories to text for agents and people, and JSON for programs, with the same content. Every memory
//! is one neutralised line, within a budget of tokens. Not here: which memories (`search`).

mod analysis;
mod briefing;
mod bulk_change;
mod completions;
mod excerpt;
mod export;
mod hits;
mod home;
mod inert;
mod item;
mod lifecycle;
mod line;
mod line_list;
mod log_events;
mod matched_words;
mod merged;
mod near_misses;
mod neutral_json;
mod node_text;
mod outline;
mod reader;
mod related;
mod reply;
mod review;
mod score_parts;
mod section_budget;
mod session_candidates;
mod session_disclosure;
mod session_exchanges;
mod session_hits;
mod session_line;
mod session_list;
mod session_mended;
mod session_reading;
mod session_state;
mod session_transcript;
mod stale;
mod standing;
mod status;
mod summary;
#[cfg(test)]
mod test_memories;
mod tokens;
mod whoami;

pub use analysis::{Findings, findings, pattern, patterns, searches, with_link_counts};
pub use briefing::{Briefing, briefing};
pub use bulk_change::{ChangeSubject, bulk_change};
pub use completions::completions;
pub use excerpt::{Excerpt, Interest, excerpt};
pub use export::export;
pub use hits::{SearchReply, search};
pub use home::Home;
pub use item::{items, items_with_state, list};
pub use line::operands;
pub use log_events::{
    DayCounts, LoggedAction, LoggedEvent, NamedMemories, audit, memory_history, timeline,
};
pub use matched_words::with_matched_words;
pub use merged::{merge_briefing, merge_search, with_notice};
pub use node_text::node_text;
pub use outline::outline;
pub use reader::{ReplyReader, next_page_of_command};
pub use related::{Related, related};
pub use reply::{Explain, Reply, Shape};
pub use review::{review, similar, similar_json};
pub use session_candidates::{
    candidate_text, candidates_listed, draft_json, draft_text, short_fingerprint,
};
pub use session_disclosure::{DisclosedSessions, FoundSession, sessions_left_out};
pub use session_exchanges::{
    ChosenExchanges, SessionAnswer, SessionsForSearch, session_exchanges, with_session,
};
pub use session_hits::{SessionsFound, session_answer, session_hits};
pub use session_list::{no_sessions_kept, session_list};
pub use session_mended::known_end;
pub use session_reading::{import_done, import_planned, import_question, sessions_checked};
pub use session_state::{SessionsState, StateNote};
pub use session_transcript::{
    ReplayStep, TranscriptView, replay_steps, session_summary, session_transcript,
};
pub use stale::{CheckedRepo, CheckedTree, stale, stale_by_tree};
pub use standing::{MemoryLink, MemoryState};
pub use status::{ModelPlace, ModelReport, NextModelState, status, with_model};
pub use summary::{reflect, summary};
pub use tokens::tokens;
pub use whoami::{Whoami, whoami};
