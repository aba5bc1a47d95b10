//! How a hit was ranked, which `--explain` shows. Not here: computing it (`fuse`, `prior`).

/// The parts of a rank, and their product.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// BM25; 0 where no word matches.
    pub lexical: f32,
    /// Cosine of the meanings, -1 to 1; `None` without a vector.
    pub dense: Option<f32>,
    /// How near its tokens are to those of the query, each to its nearest, -1 to 1; `None` where that was not computed.
    pub late: Option<f32>,
    /// Words and meaning together, on a scale from the worst candidate, 0, to the best, 1.
    pub fused: f32,
    /// The factor for the caller's repository.
    pub repo: f32,
    /// The factor for its age.
    pub recency: f32,
    /// The factor for its success so far.
    pub success: f32,
    /// The factor for the trust in its source.
    pub trust: f32,
    /// The product: what hits are sorted by.
    pub total: f32,
}
