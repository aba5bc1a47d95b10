//! The files: where logs are, which log a repository has, appending to it and following it.
//!
//! Blocking I/O. This is the only room that opens logs. Not here: what a line means (`event`), and what may be
//! written (`writer`).

mod append;
mod archive;
mod certain_joins;
mod chain;
mod config_file;
mod config_source;
mod conflict_copy;
mod cursor;
mod directory_identity;
mod edit;
mod error;
mod file_system;
mod folder_owner;
mod foreign_folder;
mod former_repos;
mod given_repository;
mod joined_lines;
mod known_places;
mod layout;
mod line_mark;
mod lines;
mod lock;
mod log_file;
mod mirror_file;
mod missing_lines;
mod own_folder;
mod place_record;
mod position;
mod probe;
mod quarantine;
mod read_only;
mod remedy;
mod remembered_places;
mod repo_of_log;
mod rewrite;
mod served_directory;
mod shared_rights;
mod signal;
mod spool;
mod sync;
mod tail;
mod team;
mod trust;
mod typed_repo;

pub use append::{AppendOutcome, Destination, append};
#[cfg(feature = "archive")]
pub use archive::{DoubledLines, MoveRule, MovedLines, archive, take_out_doubled};
pub use chain::{
    ChainAudit, ChainEvent, ChainEventKind, ChainFault, ChainFaultKind, ChainHash, ChainHead,
};
pub use config_file::{
    ConfigTurn, config_text, project_config_file, read_config, read_project_config,
    read_user_config, user_config_file,
};
pub use cursor::{Cursor, FileChange};
pub use edit::rewrite;
pub use error::StoreError;
pub use folder_owner::{
    give_to_folder_owner, give_tree, make_private_dir, open_private, private_dirs,
};
pub use former_repos::{FormerReason, FormerRepo, JOIN_COMMAND};
pub use layout::{FileId, Store, is_private_dir, user, write_private};
pub use line_mark::{LineMark, UnreadLines};
pub use lines::{line_count, lines_of, lines_of_long_log};
pub use lock::FileLock;
pub use log_file::Durability;
pub use mirror_file::{Mirror, TeamTurn};
pub use own_folder::{make_own_file, open_own_file, own_folder};
pub use place_record::PlaceRecord;
pub use probe::{LockState, create_probe_file};
pub use quarantine::{DamagedLine, Quarantine, QuarantineOutcome};
#[cfg(unix)]
pub use remedy::sharing_remedy;
pub use remedy::{Remedy, access_remedy};
#[cfg(unix)]
pub use shared_rights::{can_others_read, can_others_write, is_home_owner};
#[cfg(unix)]
pub use signal::set_on_first_end_signal;
pub use signal::{on_stop_signal, survive_the_file_size_limit};
pub use tail::{LogLine, Tail};
pub use team::origin_of;
pub use trust::trusted;
