//! gRPC on a port of its own, for programs: the same calls as REST, from the same table, and streams. It listens on the
//! loopback interface alone and asks for the token of HTTP. There is no code for any one message: requests are read by
//! their description.
//!
//! In reading order: [`grpc_server`], [`rpc_field`], [`watch_kind`], [`contract`] (the rpcs and their messages), [`proto_text`] (the same as a file),
//! [`descriptors`] (the same for protobuf), [`wire`] (messages and arguments), [`grpc_guard`] (checks of a head), [`grpc_service`] (one call),
//! [`grpc_status`] (errors), [`watch`] (streams), [`rpc_event`], [`memory_watch`], [`stale_watch`]. Not here: the answers (`api`), accepting
//! connections (`access::accept`).

mod contract;
mod descriptors;
mod grpc_guard;
pub mod grpc_server;
mod grpc_service;
mod grpc_status;
mod memory_watch;
mod proto_text;
mod rpc_event;
mod rpc_field;
mod stale_watch;
mod watch_kind;
mod watch_stream;
mod wire;
