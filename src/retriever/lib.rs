//! The shared process of a store: opens its memory from the settings, is elected, follows its logs, listens to clients, and serves others.
//! A command without such a process opens the memory in its own.
//!
//! In reading order: [`startup`] (what the process gives), [`options`], [`resolved_settings`], [`memory_opening`] (a memory in this process), [`shared_retriever`]
//! (elect, serve, connect), [`listening_sockets`] with [`http_socket`] and [`grpc_socket`], [`stopping`], [`replica`], [`team_link`] and [`team_rounds`] (a team without a
//! server), [`team_member`] and [`session_memory`] (MCP, and a team's server), [`session_rounds`], [`model_plan`], [`model_watch`], [`provider_model`] and [`reranking`] (models), [`engine_feeding`]
//! (an engine). Not here: the commands (`cli`), the protocol between processes (`daemon`).

mod as_of;
pub mod background_fetch;
mod directory_notice;
mod engine_feeding;
mod engine_source;
pub mod failure;
mod followed_config;
mod grpc_socket;
pub mod http_socket;
mod listening_sockets;
pub mod memory_opening;
pub mod model_plan;
mod model_watch;
pub mod options;
mod order_checks;
mod place_notes;
mod preconditions;
pub mod provider_model;
mod provider_switch;
mod replica;
pub mod reranking;
pub mod resolved_settings;
pub mod serve_options;
mod session_memory;
pub mod session_permission;
pub mod session_rounds;
mod shared_retriever;
pub mod startup;
mod stopping;
pub mod team_link;
pub mod team_member;
mod team_rounds;
mod unused_checkpoints;
