//! The embedding of a query. Not here: making it.

use crate::embed::embedder::SpaceId;
use crate::late::QueryToken;

/// The embedding of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryEmbedding {
    /// The vectors that it can be compared with.
    pub space: SpaceId,
    /// Of length one.
    pub vector: Vec<f32>,
    /// Its tokens, prepared for comparison with the signs of memories.
    pub tokens: Vec<QueryToken>,
}
