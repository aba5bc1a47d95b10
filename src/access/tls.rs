//! TLS of a server: the certificate it shows, read again when its files change, and the handshake. Not here: reading the files
//! (`tls_files`), what is spoken inside (`web`).

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::byte_stream::BoxedStream;
use crate::file_mark::{FileMark, file_mark};
use crate::http_bounds::HEAD_WAIT_MS;
use crate::tls_files::{ServerCertificate, TlsError};
use event::Timestamp;

/// The first byte of a handshake.
const HANDSHAKE: u8 = 0x16;

/// What a client is told that speaks HTTP without TLS.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 48\r\nConnection: close\r\n\r\nBad request: this port speaks https, not http.\r\n";

/// How this server shows who it is.
pub struct TlsIdentity {
    cert: PathBuf,
    key: PathBuf,
    held: Mutex<HeldIdentity>,
}

struct HeldIdentity {
    marks: Marks,
    identity: Arc<ServerCertificate>,
    problem: Option<String>,
}

/// The marks of both files.
type Marks = [Option<FileMark>; 2];

impl TlsIdentity {
    /// Reads the certificate and the key.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn load(cert: PathBuf, key: PathBuf, now: Timestamp) -> Result<Self, TlsError> {
        let marks = marks(&cert, &key);
        let identity = Arc::new(ServerCertificate::load(&cert, &key, now)?);
        let held = HeldIdentity { marks, identity, problem: None };
        Ok(Self { cert, key, held: Mutex::new(held) })
    }

    /// Returns why the files that changed are not used, if so.
    pub fn problem(&self) -> Option<String> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).problem.clone()
    }

    /// Tells whether the certificate is one for a name or an address.
    pub fn is_for(&self, host: &str) -> bool {
        let name = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = Arc::clone(&held.identity);
        drop(held);
        identity.is_for(name)
    }

    /// Shakes hands. `None` where the client cannot, or takes too long.
    pub async fn accept(&self, stream: TcpStream, now: Timestamp) -> Option<BoxedStream> {
        let identity = self.current(now);
        let handshake = async {
            let mut first = [0];
            stream.peek(&mut first).await.ok()?;
            if first != [HANDSHAKE] {
                refuse(stream).await;
                return None;
            }
            TlsAcceptor::from(Arc::clone(&identity.config)).accept(stream).await.ok()
        };
        let patience = Duration::from_millis(HEAD_WAIT_MS);
        let stream = tokio::time::timeout(patience, handshake).await.ok()??;
        Some(Box::new(stream))
    }

    /// Reads the files again if they changed. Those that cannot be used change nothing: a program that renews them writes one
    /// after the other.
    fn current(&self, now: Timestamp) -> Arc<ServerCertificate> {
        // No code panics while holding the lock, so the state is valid.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = marks(&self.cert, &self.key);
        if marks != held.marks {
            held.marks = marks;
            match ServerCertificate::load(&self.cert, &self.key, now) {
                Ok(identity) => {
                    held.identity = Arc::new(identity);
                    held.problem = None;
                }
                Err(error) => held.problem = Some(format!("failed to {error}")),
            }
        }
        Arc::clone(&held.identity)
    }
}

/// Tells a client that speaks without TLS what is wrong. What it sent is read, or it would lose the answer.
async fn refuse(mut stream: TcpStream) {
    let mut sent = [0; 4 * 1024];
    // A client that left needs no answer.
    let _ = stream.read(&mut sent).await;
    let _ = stream.write_all(PLAIN).await;
    let _ = stream.shutdown().await;
}

fn marks(cert: &PathBuf, key: &PathBuf) -> Marks {
    [cert, key].map(|path| path.metadata().ok().map(|found| file_mark(&found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_plain_http_is_whole() {
        let text = std::str::from_utf8(PLAIN).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{}", body.len());
    }
}
