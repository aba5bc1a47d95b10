//! What a client and a server of REST must write alike: where the calls are, and the content types by which a client knows an
//! answer of this program from one of anything between. Not here: the server (`web`), the client (`remote`).

/// What all paths begin with.
pub const PREFIX: &str = "/api/v1/";

/// The form of an answer that holds its text and its JSON.
pub const BOTH_FORMS: &str = "application/vnd.agent-knowledge.reply+json";

/// The form of an answer that says what is wrong.
pub const PROBLEM_JSON: &str = "application/problem+json";
