//! Looks at one thing: a memory with all that is known of it, what is related to it (from `link_ends`), the memories that a work tree
//! contradicts, and the state of the store. Not here: searches (`find`).

mod former_repos;
pub(super) mod link_ends;
mod related;
mod show;
mod staleness;
mod status;

pub(super) use former_repos::first_briefing_sentences;
pub(super) use related::related;
pub(super) use show::show;
pub(super) use staleness::{changed_files, gone_files, is_renamed, stale, unmerged_memories};
pub(super) use status::{digest, doctor, status, whoami};
