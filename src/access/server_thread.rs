//! Accepts connections within their limit until the server closes, and then waits for those that are left. Not here: what
//! is spoken on a connection (`http`, `grpc`).

use std::io;
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tokio::net::TcpStream;

use crate::connection_limit::{CONNECTIONS_MAX, Connection, ConnectionLimit};
use crate::disconnect::Disconnect;

/// How long finished answers may take to reach their clients at shutdown, in milliseconds.
const LAST_BYTES_MS: u64 = 200;

/// The pause after the system could not accept a connection, in milliseconds.
const ACCEPT_WAIT_MS: u64 = 20;

/// When a server ends.
#[derive(Debug, Clone, Default)]
pub struct ShutdownSignals {
    /// No more connections are accepted.
    pub closing: Disconnect,
    /// Those that are left are no longer waited for.
    pub stop_waiting: Disconnect,
}

/// The thread of a server.
pub struct ServerThread {
    ending: ShutdownSignals,
    ended: Receiver<()>,
}

impl ServerThread {
    /// Runs a server on a thread of its own.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn start<R>(
        name: &str,
        ending: ShutdownSignals,
        calls_max: usize,
        run: R,
    ) -> io::Result<Self>
    where
        R: AsyncFnOnce(&ShutdownSignals) -> io::Result<()> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(calls_max)
            .enable_all()
            .build()?;
        let (done, ended) = channel();
        let running = Self { ending: ending.clone(), ended };
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            // This fails only in a runtime without a reactor, and this one has one.
            let _ = runtime.block_on(run(&ending));
            runtime.shutdown_background();
            // The receiver may have stopped waiting.
            let _ = done.send(());
        })?;
        Ok(running)
    }

    /// Returns a function that stops accepting connections, from any thread and without waiting.
    pub fn closer(&self) -> impl FnOnce() + Send + 'static {
        let closing = self.ending.closing.clone();
        move || closing.signal()
    }

    /// Stops it, once the calls under way have ended. This takes at most a fifth of a second.
    pub fn end(self) {
        self.ending.closing.signal();
        self.ending.stop_waiting.signal();
        // A timeout is fine: the process ends next.
        let _ = self.ended.recv_timeout(Duration::from_millis(2 * LAST_BYTES_MS));
    }
}

/// Serves each connection until the server closes. Then waits for those that are left; once that takes too long, `cancel`
/// ends their calls.
///
/// # Errors
/// An error of the operating system, where there is no reactor.
pub async fn accept<S>(
    listener: TcpListener,
    ending: &ShutdownSignals,
    serve: impl Fn(TcpStream, Connection) -> S,
    cancel: impl FnOnce(),
) -> io::Result<()>
where
    S: Future<Output = ()> + Send + 'static,
{
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let limit = ConnectionLimit::new(CONNECTIONS_MAX);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ending.closing.wait() => break,
        };
        match accepted {
            Ok((stream, _)) => {
                // If all connections are in a call, which is rare, this one is closed.
                let Some(connection) = limit.admit() else { continue };
                // An answer is one small packet, so there is nothing to wait for.
                let _ = stream.set_nodelay(true);
                tokio::spawn(serve(stream, connection));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(ACCEPT_WAIT_MS)).await,
        }
    }
    drop(listener);
    tokio::select! {
        () = limit.is_empty() => {}
        () = ending.stop_waiting.wait() => {
            cancel();
            let last = Duration::from_millis(LAST_BYTES_MS);
            // A client that does not read its answer loses it.
            let _ = tokio::time::timeout(last, limit.is_empty()).await;
        }
    }
    Ok(())
}
