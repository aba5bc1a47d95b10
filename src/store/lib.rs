//! The files: where logs are, which log a repository has, appending to it and following it.
//!
//! Blocking I/O. This is the only room that opens logs. Not here: what a line means (`event`), and what may be
//! written (`writer`).

mod append;
mod archive;
mod as_of;
mod chain;
mod config;
mod config_fault;
mod config_finding;
mod config_table;
mod cursor;
mod edit;
mod embedding_provider;
mod engine_setting;
mod error;
mod foreign_folder;
mod git_config;
mod git_person;
mod judge;
mod kept;
mod layout;
mod line_mark;
mod lines;
mod lock;
mod log_file;
mod memory_mib;
mod mirror_file;
mod own;
mod probe;
mod project_config;
mod provider_rules;
mod quarantine;
mod read_only;
mod repo;
mod repo_of_log;
mod rerank_provider;
mod rewrite;
mod section_budgets;
mod session_policy;
mod setting;
mod signal;
mod spool;
mod sync;
mod sync_policy;
mod tail;
mod team;
mod tilde;
mod trust;
mod typed_repo;

pub use append::{Appended, Destination, append};
#[cfg(feature = "archive")]
pub use archive::{Doubled, Moved, Moves, archive, take_out_doubled};
pub use as_of::AsOf;
pub use chain::{
    ChainAudit, ChainEvent, ChainEventKind, ChainFault, ChainFaultKind, ChainHash, ChainHead,
};
pub use config::{ArchivePolicy, Config, PlatformDirs, Switch};
pub use config_fault::ConfigFault;
pub use config_finding::ConfigFinding;
pub use config_table::{ConfigTable, UnknownRule};
pub use cursor::{Cursor, FileChange};
pub use edit::rewrite;
pub use embedding_provider::{EmbeddingPrecision, EmbeddingProvider, ProviderForm};
pub use engine_setting::EngineSetting;
pub use error::StoreError;
pub use git_person::git_person;
pub use judge::Judge;
pub use layout::{
    FileId, Store, is_private_dir, make_private_dir, private, private_dirs, user, write_private,
};
pub use line_mark::{LineMark, Unread};
pub use lines::{line_count, lines_of, lines_of_long_log};
pub use lock::FileLock;
pub use log_file::Durability;
pub use memory_mib::MemoryMib;
pub use mirror_file::{Mirror, TeamTurn};
pub use own::{make_own_file, open_own_file, own_folder};
pub use probe::{LockState, make_a_file_in};
pub use project_config::ProjectConfig;
pub use quarantine::{Damaged, Quarantine, QuarantineOutcome};
pub use repo::{Called, DetectedRepo, RepoAt, RepoSource};
pub use rerank_provider::{RerankForm, RerankProvider};
pub use section_budgets::BRIEFING_SECTIONS;
pub use session_policy::SessionPolicy;
pub use setting::{SETTINGS, Setting, SettingForm};
#[cfg(unix)]
pub use signal::first_end_sets;
pub use signal::{survive_the_file_size_limit, when_asked_to_stop};
pub use sync_policy::{SignatureRule, SyncPause, SyncPolicy, Trust};
pub use tail::{LogLine, Tail};
pub use team::origin_of;
pub use trust::trusted;
