//! In place of TLS towards the team's server, in a build without it: nothing can be made of this type. Not here: TLS
//! (`server_tls`).

use std::path::Path;

use tokio::net::TcpStream;

use crate::http::BoxedStream;

/// What a connection needs.
pub(super) enum ServerTls {}

impl ServerTls {
    /// Fails.
    ///
    /// # Errors
    /// Says which build has it.
    pub(super) fn new(_: Option<&Path>) -> Result<Self, String> {
        Err("this program was built without TLS; cargo install --path . --features tls builds one with it".to_owned())
    }

    #[expect(clippy::unused_async, reason = "its counterpart waits")]
    pub(super) async fn connect(&self, _: &str, _: TcpStream) -> Result<BoxedStream, String> {
        match *self {}
    }
}
