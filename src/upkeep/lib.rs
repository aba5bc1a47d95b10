//! Maintenance: checking every line ([`verify`]), checking everything around the logs ([`doctor`]), removing
//! secrets from existing logs and from our other files ([`scrub`], [`surfaces`]), and archiving old lines ([`archive`]).
//!
//! Nothing here is needed to write or to recall a memory. Not here: opening and rewriting files (`store`), the
//! command line (`retriever`).

pub mod archive;
mod counted_noun;
mod display_path;
pub mod doctor;
pub mod joined_log;
mod own_files;
pub mod scrub;
mod secret_lines;
pub mod surfaces;
pub mod verify;

use reply::Reply;

pub use secret_lines::SecretRecogniser;

/// The verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckVerdict {
    /// Nothing is wrong.
    Fine,
    /// Something is wrong, and the reply says what.
    Wrong,
}

/// A verdict with its explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    /// The verdict.
    pub verdict: CheckVerdict,
    /// The explanation.
    pub reply: Reply,
}
