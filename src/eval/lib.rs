//! How well it recalls, measured: any set of documents, queries and judgements is written through the
//! door into a store of its own, asked through the same interface that agents use, and judged.
//!
//! In reading order: [`set`] (what is measured with), `forms` (the ways such sets are written down),
//! [`corpus`] (documents become events in a scratch store), [`ask`] (queries become answers),
//! [`measure`] (answers become numbers), [`bootstrap`] (how sure a difference is), [`saved_run`] (answers kept
//! for a later comparison), [`misses`] (why a document was not found), [`economy`] (what an answer costs),
//! `eval_report`. [`mod@run`] is the recipe.
//!
//! Not here: ranking, rendering, embedding: those are the engine's own, which this room only asks. Nothing
//! but the program that dispatches the command imports it.

pub mod args;
pub mod ask;
pub mod bootstrap;
pub mod cli;
pub mod corpus;
pub mod economy;
mod error;
mod eval_report;
mod forms;
pub mod measure;
pub mod measurement;
pub mod misses;
pub mod request;
pub mod result;
pub mod run;
pub mod saved_run;
mod scratch;
pub mod set;
mod when;

pub use error::EvalError;
pub use forms::SetFormat;
pub use request::{EngineOptions, EvalEnvironment, EvalRequest, Needs, RunProgress};
pub use run::run;
pub use set::{QueryScope, Split};
