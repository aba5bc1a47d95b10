//! Sharing a team's lines without a server.
//!
//! Each store has an origin, and publishes its own lines under that name; nobody else writes there, so nothing can
//! conflict. What others published is kept in mirrors inside the store (`store::Mirror`), which are read like logs. A
//! [`Transport`] brings trees of files from and to a remote: [`GitRemote`] over a git repository, [`FolderRemote`] over a
//! folder that all can reach, and `NatsRemote` over a stream of JetStream. [`sync_round`] does one round,
//! and [`preview`] shows beforehand what would leave the machine.
//!
//! Not here: what a line of another origin may do (`memory`), and when a round is due (`retriever`).

mod accepted_key;
mod commit_seal;
mod content_sum;
mod credentials;
mod error;
mod flagged_line;
mod folder_remote;
mod git_output;
mod git_remote;
mod git_repository;
mod line_permission;
mod log_arrival;
mod mirror_update;
mod nats_remote;
mod origin_tree;
mod outgoing_lines;
mod own_signature;
mod published_tree;
mod remote_address;
mod seal_check;
mod signatures;
mod stream_copy;
mod stream_rules;
mod sync_answer;
mod sync_preview;
mod sync_record;
mod sync_report;
mod sync_request;
mod sync_state;
mod team_address;
mod team_round;
mod team_state;
mod team_stream;
mod transport;
mod unambiguous;
mod waiting_lines;

pub use accepted_key::{AcceptedKey, accept_key};
pub use error::SyncError;
pub use flagged_line::{AllowedLines, FlaggedLine, HeldLine};
pub use folder_remote::FolderRemote;
pub use git_remote::GitRemote;
pub use line_permission::{allow_lines, held_lines};
pub use nats_remote::NatsRemote;
pub use outgoing_lines::{LeftOutLines, OutgoingLines, OwnLog, collect_outgoing};
pub use remote_address::{RemoteAddress, RemoteKind};
pub use signatures::{Seal, UnverifiedOrigin};
pub use sync_answer::{PreviewAnswer, SyncAnswer, TeamStatus, allow_command};
pub use sync_preview::preview;
pub use sync_report::{Preview, SyncReport, WaitingLines, counted};
pub use sync_request::{Consent, SyncRequest};
pub use team_address::TeamAddress;
pub use team_round::sync_round;
pub use team_state::TeamState;
pub use transport::{
    FetchedTips, FilePart, Listing, NextTree, PublishOutcome, RemoteHistory, Signatures, Tip, Tips,
    Transport, TreeFile,
};
