//! Looking after what is there: is every line well ([`verify`]), is everything around the logs well
//! ([`doctor`]), and taking secrets out of logs that already hold some ([`scrub`]).
//!
//! Nothing here is needed to write or to recall a memory. Not here: opening and rewriting files
//! (`store`), the command line (`serve`).

pub mod archive;
pub mod doctor;
pub mod scrub;
mod secret_lines;
mod shown_path;
pub mod verify;

use reply::Reply;

pub use secret_lines::Recogniser;

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckVerdict {
    /// Nothing is wrong.
    Fine,
    /// Something is, and the answer says what.
    Wrong,
}

/// A verdict with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    /// What it came to.
    pub verdict: CheckVerdict,
    /// Why.
    pub reply: Reply,
}
