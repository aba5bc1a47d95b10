//! From ranked memories to text for agents and people, and JSON for programs, with the same content. Every memory
//! is one neutralised line, within a budget of tokens. Not here: which memories (`search`).

mod analysis;
mod answer;
mod briefing;
mod bulk_change;
mod change_answer;
mod completions;
mod context_answer;
mod direction;
mod doctor_answer;
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
mod listed_answers;
mod log_events;
mod matched_words;
mod memory_fields;
mod merged;
mod near_misses;
mod neutral_json;
mod node_text;
mod note_parts;
mod outline;
mod program_lists;
mod reader;
mod related;
mod reply;
mod review;
mod score_parts;
mod search_answer;
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
mod shown_likelihood;
mod stale;
mod standing;
mod status;
mod status_answer;
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
pub use briefing::{Briefing, LogState, briefing};
pub use bulk_change::{BulkChange, BulkChangeAnswer, ChangeSubject, bulk_change};
pub use change_answer::{
    ChangeAnswer, ChangedMemory, EndedOriginAnswer, LinkAnswer, LinkResult, LinksAnswer, SaveAnswer,
};
pub use completions::CompletionsAnswer;
pub use context_answer::{BriefingSections, ContextAnswer, LastSessionFields};
pub use doctor_answer::{DoctorAnswer, DoctorCheck};
pub use excerpt::{Excerpt, Interest, excerpt};
pub use export::export;
pub use hits::{SearchReply, search};
pub use home::{Home, HomeAnswer};
pub use item::{
    ListAnswer, MemoryList, PageAnswer, ShownMemories, ShownMemory, items_with_state, list,
};
pub use journal_pages::{InjectedAnswer, InjectedEntry, SavingsAnswer, SavingsOfDay};
pub use knowledge_brief::{ActiveRepo, BriefAnswer, LoneMemory, ReflectAnswer};
pub use line::operands;
pub use listed_answers::{DigestAnswer, SuggestedTag, SuggestedTagsAnswer};
pub use log_events::{
    AuditAnswer, AuditRow, DayCounts, EventLink, EventLinkEnd, EventRow, HistoryAnswer,
    LoggedAction, LoggedEvent, NamedMemories, TimelineAnswer, audit, memory_history, timeline,
};
pub use matched_words::with_matched_words;
pub use memory_fields::{EventFields, EventOfStore, GivenVerdicts, MemoryFields};
pub use merged::{merge_briefing, merge_search, with_notice};
pub use near_misses::{HeldBackMemory, MissedMemory, NearMissFields};
pub use node_text::node_text;
pub use outline::{OutlineAnswer, OutlineLine, outline};
pub use program_lists::{
    ExportAnswer, ImportedAnswer, ImportedMemory, KnownAnswer, KnownMemory, RecordsAnswer,
};
pub use reader::{ReplyReader, next_page_of_command};
pub use related::{CodeFields, Related, RelatedAnswer, RelatedEnd, RelatedStep, related};
pub use reply::{Explain, Reply, Shape};
pub use review::{MemoryPair, ReviewAnswer, SimilarMemory, review, similar};
pub use score_parts::ScoreParts;
pub use search_answer::{
    FilesById, LinkedTitle, MemoryHit, PossibleMemory, SearchAnswer, SearchOrShown,
};
pub use session_candidates::{
    CandidateItem, CandidateKind, CandidateSighting, CandidatesAnswer, RefusedPairItem,
    candidate_text, candidates_listed, draft_text, short_fingerprint,
};
pub use session_disclosure::{
    DisclosedSessions, FoundSession, LeftOutSession, LeftOutSessions, ShownExchange, ShownPart,
    sessions_left_out,
};
pub use session_exchanges::{
    ChosenExchanges, SessionAnswer, SessionExchangesAnswer, SessionsForSearch, session_exchanges,
};
pub use session_fixes::{FixFields, KnownFixAnswer, known_fix};
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
    CommitTitle, ReplayStep, SessionSummary, SessionTranscript, SummaryEntry, TranscriptView,
    replay_steps, session_summary, session_transcript,
};
pub use stale::{
    CheckedRepo, CheckedTree, StaleAnswer, StaleEverywhere, StaleFields, StaleMemories, StaleTree,
    StaleTreesAnswer, SymbolEvidence, stale, stale_by_tree,
};
pub use standing::{
    LinkEnd, MemoryLink, MemoryState, StandingFields, StandingLink, TitledId, VerdictCounts,
    WrittenBy,
};
pub use status::{ModelPlace, ModelReport, NextModelState, status, with_model};
pub use status_answer::{
    AttachedClient, ClientsStatus, GrpcStatus, HttpStatus, LogTrouble, ModelStatus,
    NextModelStatus, RemoteStatus, RerankerStatus, RetrieverStatus, SkippedLine, StatusAnswer,
};
pub use suggested_patterns::{
    PatternDraft, PatternPreview, PatternRow, PatternsAnswer, SavedPattern, pattern, patterns,
};
pub use tokens::{REPLY_TOKENS_MAX, tokens};
pub use whoami::{Whoami, WhoamiAnswer, whoami};
