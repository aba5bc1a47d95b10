//! From ranked memories to text for agents and people, and JSON for programs, with the same content. Every memory
//! is one neutralised line, within a budget of tokens. Not here: which memories (`search`).

mod analysis;
mod answer;
mod briefing;
mod bulk_change;
mod completions;
mod excerpt;
mod export;
mod hits;
mod home;
mod inert;
mod item;
mod journal_pages;
mod knowledge_brief;
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
mod program_lists;
mod reader;
mod related;
mod reply;
mod review;
mod score_parts;
mod section_budget;
mod session_candidates;
mod session_disclosure;
mod session_exchanges;
mod session_fixes;
mod session_hits;
mod session_line;
mod session_list;
mod session_reading;
mod session_state;
mod session_transcript;
mod stale;
mod standing;
mod status;
mod suggested_patterns;
#[cfg(test)]
mod test_memories;
mod tokens;
mod whoami;

pub use analysis::{
    AnalysisAnswer, FailedSearch, FailedSearches, FindingList, FindingReason, Findings,
    FoundMemory, LinkStats, findings, knowledge_brief, link_stats, reflect, searches,
};
pub use answer::{Answer, TextView};
pub use briefing::{Briefing, briefing};
pub use bulk_change::{Subject, bulk_change};
pub use completions::CompletionsAnswer;
pub use excerpt::{Excerpt, Interest, excerpt};
pub use export::export;
pub use hits::{SearchReply, search};
pub use home::Home;
pub use item::{items, items_with_standing, list};
pub use journal_pages::{InjectedAnswer, InjectedEntry, SavingsAnswer, SavingsOfDay};
pub use knowledge_brief::{ActiveRepo, BriefAnswer, LoneMemory, ReflectAnswer};
pub use line::operands;
pub use log_events::{
    AuditAnswer, AuditRow, DayCounts, Deed, EventLink, EventLinkEnd, EventRow, HistoryAnswer,
    LoggedEvent, NamedMemories, TimelineAnswer, audit, memory_history, timeline,
};
pub use matched_words::with_matched_words;
pub use merged::{merge_briefing, merge_search, with_notice};
pub use node_text::node_text;
pub use outline::outline;
pub use program_lists::{
    ExportAnswer, ImportedAnswer, ImportedMemory, KnownAnswer, KnownMemory, RecordsAnswer,
};
pub use reader::{ReplyReader, next_page_of_command};
pub use related::{Related, related};
pub use reply::{Explain, Reply, Shape};
pub use review::{review, similar, similar_json};
pub use session_candidates::{
    CandidateItem, CandidateKind, CandidateSighting, CandidatesAnswer, RefusedPairItem,
    candidate_text, candidates_listed, draft_text, short_fingerprint,
};
pub use session_disclosure::{
    DisclosedSessions, FoundSession, LeftOutSession, LeftOutSessions, ShownExchange, ShownPart,
    sessions_left_out,
};
pub use session_exchanges::{
    ChosenExchanges, SessionAnswer, SessionExchangesAnswer, SessionsBeside, session_exchanges,
    with_session,
};
pub use session_fixes::{KnownFix, KnownFixAnswer, known_fix};
pub use session_hits::{
    SessionHitItem, SessionHitsAnswer, SessionsAnswer, SessionsFound, session_answer, session_hits,
};
pub use session_list::{SessionItem, SessionListAnswer, no_sessions_kept, session_list};
pub use session_reading::{
    CheckedTool, ImportDone, ImportPlanned, SessionsChecked, ToolTranscripts, import_done,
    import_planned, import_question, sessions_checked,
};
pub use session_state::{PastSessionsStatus, SessionsState, StateNote};
pub use session_transcript::{
    CommitTitle, ReplayStep, SessionSummary, SessionTranscript, Shown, SummaryEntry, replay_steps,
    session_summary, session_transcript,
};
pub use stale::{Checked, CheckedTree, stale, stale_by_tree};
pub use standing::{MemoryLink, Standing};
pub use status::{Model, ModelPlace, NextModelState, status, with_model};
pub use suggested_patterns::{
    PatternDraft, PatternPreview, PatternRow, PatternsAnswer, SavedPattern, pattern, patterns,
};
pub use tokens::tokens;
pub use whoami::{Whoami, whoami};
