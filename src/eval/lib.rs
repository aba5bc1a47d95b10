//! Measures how well the retriever recalls. Any set of documents, queries and judgements is written into a
//! temporary store through the normal write path, queried through the same interface that agents use, and
//! judged.
//!
//! In reading order: [`test_set`] (documents, queries and judgements), `forms` (the formats of sets), [`corpus`]
//! (documents become events in a temporary store), [`asker`] (queries become answers), [`measure`] (answers
//! become numbers), [`bootstrap`] (how certain a difference is), [`saved_run`] (answers saved for a later
//! comparison), [`misses`] (why a document was not found), [`economy`] (what an answer costs), `eval_report`.
//! [`mod@run`] has the steps.
//!
//! Not here: ranking, rendering and embedding, which are the engine's own. Only the program that runs the
//! command imports this room.

pub mod args;
pub mod asker;
pub mod bootstrap;
pub mod cli;
pub mod corpus;
pub mod economy;
mod error;
mod eval_report;
mod features;
mod forms;
pub mod measure;
pub mod measurement;
pub mod misses;
pub mod real_tokens;
pub mod request;
pub mod run;
pub mod saved_run;
mod scratch_folder;
pub mod set_result;
mod set_time;
pub mod test_set;

pub use error::EvalError;
pub use forms::SetFormat;
pub use request::{
    EngineNeeds, EngineOptions, EvalEnvironment, EvalOutput, EvalRequest, RunProgress,
};
pub use run::run;
pub use test_set::{QueryScope, Split};
