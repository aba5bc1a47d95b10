//! Connections to a server, and calls that end at a deadline. Not here: what is asked.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, NoTls};

use super::tables::{LAYOUT, MAKE, SETTINGS};
use crate::contract::Deadline;
use crate::corpus_error::CorpusError;

/// Connections that are kept for the next call.
const KEPT_MAX: usize = 4;
/// Threads that wait for the server.
const THREADS: usize = 1;
/// How long a batch may take. A thousand memories take a second.
const WRITING: Duration = Duration::from_secs(120);
/// How long making the tables may take.
const MAKING: Duration = Duration::from_secs(60);
/// How long the server may take to hear that nobody waits for an answer any longer.
const CANCELLING: Duration = Duration::from_secs(1);

/// The address of a server, and the user.
#[derive(Debug, Clone)]
pub struct EngineAddress(Config);

impl EngineAddress {
    /// Reads `postgres://user@host:port/database`. The password stands in no file: it is passed beside it.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(url: &str, password: Option<&str>) -> Result<Self, String> {
        let mut config: Config = url
            .parse()
            .map_err(|_| "must be like postgres://user@127.0.0.1:5432/database".to_owned())?;
        if config.get_password().is_some() {
            return Err("must have no password; name a variable that holds it".to_owned());
        }
        let is_near = |host: &Host| match host {
            Host::Tcp(name) => {
                name == "localhost"
                    || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
            #[cfg(unix)]
            Host::Unix(_) => true,
        };
        // A `hostaddr` is where the connection goes, whatever the host is called.
        let is_elsewhere = config.get_hostaddrs().iter().any(|address| !address.is_loopback());
        let is_here = !config.get_hosts().is_empty() && config.get_hosts().iter().all(is_near);
        if is_elsewhere || !is_here {
            return Err("must be on this machine, for this build has no TLS for it; use a tunnel"
                .to_owned());
        }
        if let Some(password) = password {
            config.password(password);
        }
        config.application_name("agent-knowledge");
        Ok(Self(config))
    }
}

/// An engine in PostgreSQL.
pub struct PostgresCorpus {
    config: Config,
    runtime: Runtime,
    idle: Mutex<Vec<Client>>,
}

impl std::fmt::Debug for PostgresCorpus {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("PostgresCorpus").finish_non_exhaustive()
    }
}

impl PostgresCorpus {
    /// Makes an engine of a server, which is not asked yet.
    ///
    /// # Errors
    /// The system refused a thread.
    pub fn at(EngineAddress(config): EngineAddress) -> std::io::Result<Self> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(THREADS).enable_all().thread_name("engine-postgres");
        Ok(Self { config, runtime: runtime.build()?, idle: Mutex::default() })
    }

    /// Makes the tables where they are missing. Only who feeds an engine needs the right to do that.
    ///
    /// # Errors
    /// [`CorpusError`].
    pub fn make_tables(&self) -> Result<(), CorpusError> {
        let until = Deadline::within(MAKING);
        let made = self.runtime.block_on(async {
            let make = async {
                let client = connected(&self.config).await?;
                client.batch_execute(MAKE).await.map_err(corpus_error)
            };
            tokio::time::timeout(until.time_left(), make).await
        });
        made.unwrap_or(Err(CorpusError::Late))
    }

    /// Makes a database on the same server, for a test.
    ///
    /// # Errors
    /// [`CorpusError`]; also for a name of other letters than `a-z 0-9 _`.
    pub fn make_database(&self, name: &str) -> Result<(), CorpusError> {
        if !name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')) {
            return Err(CorpusError::Unsupported("make a database of that name"));
        }
        let make = format!("create database {name}");
        self.runtime.block_on(async {
            connected(&self.config).await?.batch_execute(&make).await.map_err(corpus_error)
        })
    }

    async fn client(&self) -> Result<Client, CorpusError> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(client) = kept.filter(|client| !client.is_closed()) {
            return Ok(client);
        }
        let client = connected(&self.config).await?;
        client.batch_execute(SETTINGS).await.map_err(corpus_error)?;
        let layout = client.query_one("select layout from agent_knowledge.totals", &[]).await;
        match layout.map_err(corpus_error)?.try_get(0) {
            Ok(LAYOUT) => Ok(client),
            _ => Err(CorpusError::Wrong("its tables are of another version".to_owned())),
        }
    }
}

/// Connects, and lets the connection run until the client is dropped.
async fn connected(config: &Config) -> Result<Client, CorpusError> {
    let (client, connection) = config.connect(NoTls).await.map_err(corpus_error)?;
    tokio::spawn(async move {
        // When the connection ends, calls of the client fail.
        let _ = connection.await;
    });
    Ok(client)
}

/// Runs a call on a connection. One that failed or came late is closed: nobody knows what it would answer next.
pub(super) fn run<T>(
    corpus: &PostgresCorpus,
    until: Deadline,
    call: impl AsyncFnOnce(&mut Client) -> Result<T, CorpusError>,
) -> Result<T, CorpusError> {
    corpus.runtime.block_on(async {
        let client = tokio::time::timeout(until.time_left(), corpus.client()).await;
        let mut client = client.unwrap_or(Err(CorpusError::Late))?;
        let cancel = client.cancel_token();
        let Ok(answer) = tokio::time::timeout(until.time_left(), call(&mut client)).await else {
            // Without this the server would work on for nobody.
            tokio::spawn(tokio::time::timeout(CANCELLING, async move {
                let _ = cancel.cancel_query(NoTls).await;
            }));
            return Err(CorpusError::Late);
        };
        let answer = answer?;
        let mut idle = corpus.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT_MAX {
            idle.push(client);
        }
        Ok(answer)
    })
}

/// When a batch is given up.
pub(super) fn writing_deadline() -> Deadline {
    Deadline::within(WRITING)
}

/// Says what went wrong. A refusal is told by its code alone: the server's own words would stand in a reply to an agent.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub(super) fn corpus_error(error: tokio_postgres::Error) -> CorpusError {
    let code = |code: &str| code.chars().filter(char::is_ascii_alphanumeric).take(5).collect();
    let said = error.as_db_error().map(|said| {
        let code: String = code(said.code().code());
        format!("it refuses with code {code}")
    });
    CorpusError::Unreachable(said.unwrap_or_else(|| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        format!("{error}{}", cause.unwrap_or_default())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-CORPUS-8
    #[test]
    fn a_password_stands_in_no_address() {
        assert!(EngineAddress::parse("postgres://ak@127.0.0.1/ak", Some("x")).is_ok());
        assert!(EngineAddress::parse("postgres://ak@localhost:5433/ak", None).is_ok());
        for wrong in [
            "postgres://ak:secret@127.0.0.1/ak",
            "postgres://ak@db.example.org/ak",
            "postgres://ak@127.0.0.1/ak?hostaddr=203.0.113.9",
            "mysql://x",
            "",
        ] {
            assert!(EngineAddress::parse(wrong, None).is_err(), "{wrong}");
        }
    }
}
