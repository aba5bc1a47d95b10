//! What a verb is as a tool of MCP: its name, its place, and when a model calls it. Every session pays for every word, so a test of `mcp`
//! counts them. Not here: the schema of its arguments (`mcp::schema`).

use crate::api_error::ApiError;
use crate::fields::CallArguments;
use crate::parameter::Parameter;
use crate::request::Request;

/// Finds memories.
pub const SEARCH: &str = "memory_search";
/// Makes the briefing at the start of work.
pub const CONTEXT: &str = "memory_context";
/// Writes a memory.
pub const SAVE: &str = "memory_save";

/// Reports whether a memory worked.
pub const FEEDBACK: &str = "memory_feedback";
/// Removes a memory, replaces it, or brings it back.
pub const FORGET: &str = "memory_forget";
/// Lists what is related to a memory or a file.
pub const RELATED: &str = "memory_related";

/// Searches past sessions of other tools.
pub const SESSIONS: &str = "session_search";

/// Links two memories or files.
pub const LINK: &str = "memory_link";
/// Ends a link.
pub const UNLINK: &str = "memory_unlink";
/// Lists memories that the work tree or git contradict.
pub const STALE: &str = "memory_stale";
/// Analyzes the whole memory.
pub const ANALYZE: &str = "memory_analyze";

pub(crate) const SEARCH_WHEN: &str = "Find lessons from earlier work. Call before debugging an error, running an \
    unfamiliar command or choosing an approach. Unsure ones come as titles: open with ids.";

pub(crate) const CONTEXT_WHEN: &str = "Briefing on this repo. Call once when starting a task.";

pub(crate) const SAVE_WHEN: &str = "Save one lesson for later sessions. Call after solving an error, or when \
    you learn what the next agent must know. No secrets.";

pub(crate) const RELATED_WHEN: &str =
    "List memories linked to a memory, or to a file. Call before changing a file.";

pub(crate) const FEEDBACK_WHEN: &str = "Report whether a memory worked. Call after following it.";

pub(crate) const FORGET_WHEN: &str =
    "Remove or replace a memory. Call when it is wrong or outdated. Can be undone.";

pub(crate) const LINK_WHEN: &str =
    "Link two memories or files. Call when one explains, causes or needs the other.";

pub(crate) const UNLINK_WHEN: &str = "End a link. Call when it does not hold any more.";

pub(crate) const STALE_WHEN: &str = "List memories of this repo that its files or git contradict. Call after a refactoring, then \
    confirm or forget each.";

pub(crate) const ANALYZE_WHEN: &str =
    "Analyze the whole memory. Call to find what is missing, doubled or central.";

pub(crate) const SESSIONS_WHEN: &str = "Find what was asked, run and decided in past sessions of any tool on this machine. Call when \
    memories do not answer.";

/// Which tools a server lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolSet {
    /// What agents need in their work.
    #[default]
    Usual,
    /// Also what links, checks and analyzes the memory, for a client that cannot run commands.
    Full,
}

impl ToolSet {
    /// Returns the set with this name; any other name is the usual set.
    #[must_use]
    pub fn named(name: &str) -> Self {
        if name == "full" { Self::Full } else { Self::Usual }
    }
}

/// A tool.
#[derive(Clone, Copy)]
pub struct VerbTool {
    /// Its name.
    pub name: &'static str,
    /// What a client shows to people.
    pub title: &'static str,
    /// What it does, and when a model calls it.
    pub when: &'static str,
    /// The smallest set that has it.
    pub set: ToolSet,
    /// Its place in the list of tools, which clients cache.
    pub place: usize,
    /// Its parameters; a model is told fewer than a program.
    pub parameters: fn() -> Vec<Parameter>,
    /// Reads its arguments, and forgives what models get wrong.
    pub request: fn(CallArguments) -> Result<Request, ApiError>,
}
