//! The MCP server on standard input and output, for the one client that started the process. Standard output carries
//! the protocol and nothing else; warnings go to standard error.
//!
//! The process ends when its client does: at the end of input, once what was asked is answered; when its parent is gone; or at a
//! signal to stop. It ends within a bounded time, whatever is still in flight. Not here: the answers (`mcp`).

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use crate::backpressure::{Backpressure, CallsInFlight};
use crate::line_transport::LineTransport;
use crate::mcp_server::McpServer;
use crate::server_options::McpOptions;
use access::disconnect::Disconnect;
use daemon::process::on_parent_exit;
use requests::Api;
use writer::exit::Exit;

/// Threads that may block at once. Calls take milliseconds; further calls wait in a queue.
const BLOCKING_THREADS_MAX: usize = 16;

/// How long the end may take once the client is gone, in milliseconds: the grace for calls in flight, and time to
/// write their answers to a client that may not be reading.
const END_MS: u64 = 1_000;

/// How often the end checks whether the calls in flight are done, in milliseconds.
const RELEASE_LOOK_MS: u64 = 2;

/// Serves one client on standard input and output until it leaves or a signal comes.
#[must_use]
pub fn serve_stdio(api: Arc<dyn Api>, options: McpOptions) -> Exit {
    // In a second server of one process the first one keeps receiving the warnings.
    let _ = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_max_level(tracing::Level::WARN)
        .try_init();
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("failed to start the server: {error}");
            return Exit::Internal;
        }
    };
    let keeper = Arc::clone(&api);
    let exit = runtime.block_on(async {
        let (reader, writer) = rmcp::transport::io::stdio_pipes();
        let orphaned = Arc::new(Notify::new());
        let tells = Arc::clone(&orphaned);
        on_parent_exit(move || tells.notify_one());
        let stop = async {
            tokio::select! {
                () = stop_signal() => {}
                () = orphaned.notified() => {}
            }
        };
        serve(api, options, reader, writer, stop).await
    });
    // A read of standard input cannot be interrupted, and a call whose client has left need not finish.
    runtime.shutdown_background();
    release(keeper);
    exit
}

/// Waits a bounded time for calls in flight, then releases the memory: its model must stop before the process unloads
/// the library.
fn release(keeper: Arc<dyn Api>) {
    let deadline = Instant::now() + Duration::from_millis(END_MS);
    while Arc::strong_count(&keeper) > 1 && Instant::now() < deadline {
        std::thread::park_timeout(Duration::from_millis(RELEASE_LOOK_MS));
    }
    drop(keeper);
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .enable_all()
        .build()
}

/// Serves one client on any pair of streams, until its end of input or until `stop` is ready.
pub async fn serve(
    api: Arc<dyn Api>,
    options: McpOptions,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
) -> Exit {
    let gone = Disconnect::new();
    let mut stop = pin!(stop);
    let load = CallsInFlight::none();
    let last_answers = options.last_answers;
    let server = McpServer::new(api, gone.clone(), load.clone())
        .with(McpOptions { pushes: true, ..options });
    let lines = LineTransport::new(reader, writer, last_answers);
    let opened = tokio::select! {
        opened = server.serve(Backpressure::new(lines, load, gone.clone())) => opened,
        () = &mut stop => return Exit::Done,
    };
    let running = match opened {
        Ok(running) => running,
        Err(error) => return exit_of(&error),
    };
    let cancel = running.cancellation_token();
    let mut ended = pin!(running.waiting());
    tokio::select! {
        _ = &mut ended => return Exit::Done,
        () = gone.wait() => {}
        () = &mut stop => {
            gone.signal();
            cancel.cancel();
        }
    }
    // The client is gone, so a late or failed end does not matter.
    let _ = tokio::time::timeout(Duration::from_millis(END_MS), ended).await;
    Exit::Done
}

/// A client that leaves before it sent anything did nothing wrong.
fn exit_of(error: &ServerInitializeError) -> Exit {
    match error {
        ServerInitializeError::ConnectionClosed(_)
        | ServerInitializeError::Cancelled
        | ServerInitializeError::TransportError { .. } => Exit::Done,
        error => {
            tracing::error!("failed to open the session: {error}");
            Exit::Invalid
        }
    }
}

/// Waits until the process is asked to stop.
async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // Where a signal cannot be watched, it ends the process as usual.
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = tokio::signal::ctrl_c() => return,
            }
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
