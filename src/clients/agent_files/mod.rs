//! The rules that people write down for agents, in files such as CLAUDE.md, as memories; and a block of ours in such
//! a file, for what memories have proven.
//!
//! `source` reads a file, `markdown` cuts it into items, `plan` compares them with what was imported before and
//! carries that out, `block` is our own part of a file, which is never imported. Not here: proving (`retriever`).

mod block;
mod import_plan;
mod markdown;
mod source;

pub use block::{AgentsBlock, BlockSettings};
pub use import_plan::{ImportPlan, ImportedRule, PlannedItem, RefusedItem};
pub use source::{AgentFile, UnreadableFile, is_below, path_below};

/// The files that agents read, from the top of a work tree on.
pub const FOUND: [&str; 5] =
    ["CLAUDE.md", "AGENTS.md", ".cursorrules", "GEMINI.md", ".github/copilot-instructions.md"];
