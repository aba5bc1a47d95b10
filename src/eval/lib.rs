//! How well it recalls, measured: any set of documents, queries and judgements is written through the
//! door into a store of its own, asked through the same interface that agents use, and judged.
//!
//! In reading order: [`set`] (what is measured with), `forms` (the ways such sets are written down),
//! [`corpus`] (documents become events in a scratch store), [`ask`] (queries become answers),
//! [`measure`] (answers become numbers), [`bootstrap`] (how sure a difference is), [`saved`] (answers kept
//! for a later comparison), [`misses`] (why a document was not found), [`economy`] (what an answer costs),
//! `report`. [`mod@run`] is the recipe.
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
mod forms;
pub mod measure;
pub mod misses;
pub mod program;
mod report;
pub mod request;
pub mod result;
pub mod run;
pub mod saved;
mod scratch;
pub mod set;
mod when;

pub use error::EvalError;
pub use forms::Form;
pub use request::{Needs, Opening, Request, Step, Surroundings};
pub use run::run;
pub use set::{Scope, Split};
