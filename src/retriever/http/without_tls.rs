//! In place of TLS in a build without it: nothing can be made of these types. Not here: TLS (`tls`).

use std::path::PathBuf;

use thiserror::Error;
use tokio::net::TcpStream;

use super::byte_stream::BoxedStream;
use event::Timestamp;

/// How a server shows who it is.
pub enum TlsIdentity {}

/// Why a server cannot speak TLS.
#[derive(Debug, Error)]
#[error(
    "speak TLS: this program was built without it; cargo install --path . --features tls builds one with it"
)]
pub struct TlsError;

impl TlsIdentity {
    /// Fails.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn load(_: PathBuf, _: PathBuf, _: Timestamp) -> Result<Self, TlsError> {
        Err(TlsError)
    }

    pub(super) fn problem(&self) -> Option<String> {
        match *self {}
    }

    pub(super) fn is_for(&self, _: &str) -> bool {
        match *self {}
    }

    #[expect(clippy::unused_async, reason = "its counterpart waits")]
    pub(super) async fn accept(&self, _: TcpStream, _: Timestamp) -> Option<BoxedStream> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-HTTP-7
    #[test]
    fn a_build_without_tls_says_which_has_it() {
        let none = TlsIdentity::load(PathBuf::new(), PathBuf::new(), Timestamp::UNIX_EPOCH);
        assert!(none.err().unwrap().to_string().contains("--features tls"));
    }
}
