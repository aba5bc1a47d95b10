//! A team's server beside the own memory, for an agent in a container: both answer as one.
//!
//! In reading order: [`remote_team`], [`team_server`] (requests), [`believed_authorities`], [`team_questions`] and [`team_deeds`] (which request a call becomes),
//! [`per_memory`], [`named_there`] (what may be named), [`outage`]; then [`delivery`] (which request a line becomes), [`own_memories`] (what stays),
//! [`log_outbox`] (what waits in a log), [`delivered_logs`] (how far each is delivered) and [`outbox`] (the thread that delivers). Not here: how
//! replies are joined (`reply`), the server (`web`), the shared retriever of this machine (`daemon`).

mod believed_authorities;
mod delivered_logs;
mod delivery;
mod log_outbox;
mod memory_calls;
mod outage;
mod outbox;
mod own_memories;
pub mod remote_team;
mod shareable_names;
mod team_actions;
mod team_questions;
pub mod team_server;
