//! What every engine must do, shown on real collections: the engine in this process, and with the features `postgres` and
//! `qdrant` a server of each (`scripts/test-engine`). Not here: what one file of the crate does by itself, which is tested beside it.
#![cfg(test)]

// Lessons and dialogues in a snapshot of one machine, with their queries.
mod collections;
// The promises, for any engine.
mod promises;
// An engine in this process, and the promises as tests of it.
mod in_process;
mod memory_corpus;
// Engines that are slow, wrong, empty or gone.
mod ill_engines;
// The promises as tests of a server.
mod server_promises;
// Qdrant's shard engine behind its REST interface, or a cluster.
#[cfg(feature = "qdrant")]
mod qdrant_server;
// A connection to Qdrant that ends where a test wants it to.
#[cfg(feature = "qdrant")]
mod cut_connection;
// A real server of PostgreSQL.
mod postgres_server;
