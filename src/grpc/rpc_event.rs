//! An event of a stream, and who looks for it. Not here: the stream (`watch_stream`).

use std::time::Duration;

use prost::Message;
use prost_types::Struct;
use tonic::Status;

use daemon::guests::Guests;

/// An event of any stream.
#[derive(Clone, PartialEq, Message)]
pub struct RpcEvent {
    /// Its sequence, or the memory.
    #[prost(string, tag = "1")]
    pub name: String,
    /// What happened.
    #[prost(string, tag = "2")]
    pub event: String,
    /// All of it.
    #[prost(message, optional, tag = "3")]
    pub json: Option<Struct>,
}

/// Looks for the events of one stream.
pub trait EventSource: Send + 'static {
    /// Returns the events since the last look. Blocks.
    ///
    /// # Errors
    /// The status with which the stream ends.
    fn poll(&mut self, guests: &Guests) -> Result<Vec<RpcEvent>, Status>;

    /// Returns the pause after a look that took this long.
    fn pause(&self, took: Duration) -> Duration;
}
