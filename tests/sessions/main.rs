//! What past sessions teach and where they answer, measured on the sessions of the evaluation, which are in `shared/data` beside
//! the project. Where they are missing, nothing is measured, except in CI. Not here: the rules' own tests (`src/sessions`).
//!
//! Prints its tables: `cargo test -p sessions --test measured -- --nocapture`.
#![cfg(test)]

mod eval_data;
// Candidates, ends of failures and remarks.
mod lessons_eval;
// Which session answers a question.
mod recall_eval;
