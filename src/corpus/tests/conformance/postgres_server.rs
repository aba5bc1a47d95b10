//! A real server of PostgreSQL keeps the promises. Each test has a database of its own. Not here: the promises; the server, which
//! `scripts/test-engine` starts and stops.

use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::postgres::{EngineAddress, PostgresCorpus};

use crate::server_promises::server_in;

/// The address of a server on which databases can be made.
const SERVER: &str = "AGENT_KNOWLEDGE_TEST_POSTGRES";

/// A new database. `None` where there is no server.
fn database() -> Option<PostgresCorpus> {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let server = server_in(SERVER)?;
    let server = server.to_str().unwrap();
    let name = format!("t{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    let admin = EngineAddress::parse(&format!("{server}/postgres"), None).unwrap();
    PostgresCorpus::at(admin).unwrap().make_database(&name).unwrap();
    let address = EngineAddress::parse(&format!("{server}/{name}"), None).unwrap();
    let engine = PostgresCorpus::at(address).unwrap();
    engine.make_tables().unwrap();
    Some(engine)
}

crate::server_promises::promises_of_a_server!(database);
