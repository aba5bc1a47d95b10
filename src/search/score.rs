//! How a hit was ranked, which `--explain` shows. Not here: computing it (`fuse`, `prior`, `relevance`).

/// The parts of a rank. Each depends on the query, the memory and the statistics of the corpus, never on the other
/// candidates; only `current` depends on whether the outdated note is a hit. `total` is the sum of `fit`, `repo`, `package`,
/// `recency`, `success`, `trust`, `outdated`, `current` and `branch`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// BM25; 0 where no word matches.
    pub lexical: f32,
    /// The share of the query that its words cover, 0 to 1.
    pub covered: f32,
    /// The sum of the inverse document frequencies of the words that it shares with the query.
    pub rarity: f32,
    /// The number of distinct terms of the query.
    pub terms: usize,
    /// Cosine of the meanings, -1 to 1; `None` without a vector.
    pub dense: Option<f32>,
    /// How near its tokens are to those of the query, each to its nearest, -1 to 1; `None` where that was not
    /// computed.
    pub late: Option<f32>,
    /// Words and meaning together, 0 to 1; with an exact phrase up to a third more.
    pub fit: f32,
    /// What the caller's repository adds.
    pub repo: f32,
    /// What the caller's package of that repository adds.
    pub package: f32,
    /// What its age adds or takes.
    pub recency: f32,
    /// What its success so far adds or takes.
    pub success: f32,
    /// What the trust in its source takes.
    pub trust: f32,
    /// What a newer or better proven note about the same subject takes.
    pub outdated: f32,
    /// What it adds that the note stands in the place of one that it outdates.
    pub current: f32,
    /// What it takes that its branch is not merged where the caller is.
    pub branch: f32,
    /// The sum, by which hits are sorted.
    pub total: f32,
    /// How likely it answers the query, 0 to 1.
    pub likelihood: f32,
    /// What a reranker says, in units of its own; `None` where none was asked. It is no part of the sum.
    pub reranker: Option<f32>,
}
