//! Sharing a team's lines without a server.
//!
//! Each store has an origin, and publishes its own lines under that name; nobody else writes there, so nothing can
//! conflict. What others published is kept in mirrors inside the store (`store::Mirror`), which are read like logs. A
//! [`Transport`] brings trees of files from and to a remote: [`GitRemote`] over a git repository, [`FolderRemote`] over a
//! folder that all can reach, and with the feature `nats` `NatsRemote` over a stream of JetStream. [`exchange`] does one round, and [`preview`] tells beforehand what would leave the machine.
//!
//! Not here: what a line of another origin may do (`memory`), and when a round is due (`retriever`).

#[cfg(feature = "nats")]
mod credentials;
mod error;
mod exchange;
mod folder_remote;
mod git_call;
mod git_remote;
mod git_repository;
mod incoming;
mod mirroring;
#[cfg(feature = "nats")]
mod nats_remote;
mod origin_tree;
mod outgoing;
mod publishing;
mod remote_address;
#[cfg(feature = "nats")]
mod stream_copy;
#[cfg(feature = "nats")]
mod stream_rules;
mod sync_record;
mod sync_report;
mod sync_state;
#[cfg(feature = "nats")]
mod team_address;
mod team_state;
#[cfg(feature = "nats")]
mod team_stream;
mod transport;
mod unambiguous;

pub use error::SyncError;
pub use exchange::{Consent, Exchange, exchange, preview};
pub use folder_remote::FolderRemote;
pub use git_remote::GitRemote;
#[cfg(feature = "nats")]
pub use nats_remote::NatsRemote;
pub use outgoing::{LeftOut, Outgoing, OwnLog, outgoing};
pub use remote_address::{RemoteAddress, RemoteKind};
pub use sync_report::{Preview, SyncReport, Waiting};
#[cfg(feature = "nats")]
pub use team_address::TeamAddress;
pub use team_state::TeamState;
pub use transport::{
    Brought, FilePart, History, Listed, Listing, NextTree, Published, Tip, Tips, Transport,
};
