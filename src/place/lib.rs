//! The right place: from whatever is known (an argument, the input of a hook, a client's variable or root, the working directory, a
//! `.git` that leads nowhere) to the repository that a lesson belongs to, the folder in it, and the branch.
//!
//! It always answers, also where a directory is gone, unreadable or of another system; where nothing says a project, it says so.
//! It reads small files and starts no process, because an append must not cost one. In reading order: [`Place`] (the answer),
//! `locate` (from directories to a place), `git_repository` and `other_control` (what a repository is), `repository_key` and
//! `remote` (which URL counts). Not here: what the store knows of places (the caller answers [`StoredPlaces`]), and how
//! a key is spelled (`event::RepoKey`).

mod cargo_dependencies;
mod control_commit;
mod file_path;
mod folder_entries;
mod foreign_path;
mod git_head;
mod git_person;
mod git_repository;
mod git_settings;
mod gone_work_tree;
mod known_commit;
mod known_directory;
mod locate;
mod lost_pointer;
mod machine;
mod other_control;
mod package;
mod place;
mod place_by_files;
mod project_mark;
mod project_search;
mod remote;
mod repository_key;
mod repository_text;
mod repository_traces;
mod setting_text;
mod small_file;
mod ssh_hosts;
mod standing_directory;
mod steps;
mod stored_places;
mod url_rewrite;
mod wild_pattern;
mod work_tree;
mod workspace_file;
mod workspace_text;

pub use control_commit::{commit_of_control_files, control_files_have_commit};
pub use file_path::{FilePresence, FileViewpoint, KeptPath};
pub use foreign_path::{directory_of_text, is_absolute_somewhere, is_placeholder};
pub use git_person::git_person;
pub use gone_work_tree::custom_tree_name;
pub use known_commit::has_commit;
pub use known_directory::{DirectoryOrigin, KnownDirectory};
pub use locate::Locator;
pub use machine::Machine;
pub use place::{NameMatch, Place, PlaceSource, PlaceStrength};
pub use place_by_files::{place_by_files, remote_key};
pub use repository_key::{common_dir_key, folder_key};
pub use repository_text::{RepositoryWord, repository_directory};
pub use repository_traces::RepositoryTraces;
pub use steps::Steps;
pub use stored_places::{NothingStored, StoredPlaces};
pub use work_tree::{VersionControl, WorkTree};
