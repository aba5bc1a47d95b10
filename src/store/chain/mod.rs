//! Tamper evidence: for each log a chain of hashes over its lines, so that an edited, deleted or reordered line is told.
//!
//! Sealed entries stand in `.chain/<log>.chain`, one text line each. The open entry, which the next append extends,
//! stands in the file of the log's lock: an append has that file open anyway, so the chain costs it one read and one
//! write of some 300 bytes. Nothing here is needed to read or write memories. The chain is written after the lines, by
//! whoever holds the log's lock; lines that somebody else wrote meanwhile are taken in and marked `+`. The form of the
//! entries is in docs/operate/chain.md. Not here: when lines are appended (`append`), rewritten (`rewrite`), telling people
//! (`upkeep`).

mod accept;
mod audit;
mod chain_entry;
mod chain_file;
mod chain_hash;
mod chain_recovery;
mod chain_rewrite;
mod chain_state;
mod cover;
mod line_diff;
mod line_hashes;
mod open_entry;

pub use audit::{ChainAudit, ChainFault, ChainFaultKind, ChainHead};
pub use chain_entry::{ChainEvent, ChainEventKind};
pub use chain_hash::ChainHash;
pub(super) use chain_rewrite::{ChainRewrite, RewriteReason, RewrittenChain};
pub(super) use cover::{AppendedBytes, cover, forget};

#[cfg(test)]
mod tests;
