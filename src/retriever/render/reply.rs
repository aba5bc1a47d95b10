//! An answer, in both of its forms. Not here: what it says.

use serde_json::Value;

/// An answer; text and JSON say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// For agents and people.
    pub text: String,
    /// For programs.
    pub json: Value,
}

/// Whether a reply shows how each score came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Explain {
    /// No.
    #[default]
    Silent,
    /// Each component beside its hit.
    Components,
}
