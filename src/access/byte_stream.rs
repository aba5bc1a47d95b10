//! The bytes of a connection, with TLS around them or without. Not here: TLS (`tls`).

use tokio::io::{AsyncRead, AsyncWrite};

/// A connection.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

/// Either kind of connection, so that the code of HTTP is in the program once.
pub type BoxedStream = Box<dyn ByteStream>;
