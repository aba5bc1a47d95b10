//! Rules that people write for agents in files such as CLAUDE.md, imported as memories; and our block in such a file,
//! with proven lessons.
//!
//! In reading order: `rule_sources` (which paths clients read), `found_files` (which of them a work tree has), `source` (reads one),
//! `at_imports` and `followed_imports` (`@path` in it), `rule_scope` (what it is about), `visible_lines` and
//! `markdown` (cut it into items), `layout`
//! (what of it is no lesson), `rule_kind` (what an item is), `import_plan` (compares items with earlier imports and saves the changes),
//! `import_files` (which files an import reads), `loaded_rules` (what a client loads by itself).
//! `block` is our own part of a file, which is never imported. Not here: which lessons are proven (`memory`).

mod at_imports;
mod block;
mod followed_imports;
mod found_files;
mod import_files;
mod import_plan;
mod layout;
mod loaded_rules;
mod markdown;
mod rule_kind;
mod rule_scope;
mod rule_sources;
mod source;
mod visible_lines;

pub use block::{AgentsBlock, BlockSettings};
pub use followed_imports::FollowedImports;
pub use found_files::{FoundFiles, UnreadPath};
pub use import_files::{ImportReason, NamedFiles, SourceRead, files_to_import};
pub use import_plan::{ImportPlan, ImportedRule, PlannedItem, RefusedItem};
pub(crate) use loaded_rules::{LoadedRules, imports_loaded_with, rules_loaded_from};
pub use rule_sources::is_rule_path;
pub use source::{AgentFile, UnreadableFile, is_below, path_below};
