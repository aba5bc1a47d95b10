//! An external model that orders likely hits, where the settings name one. Not here: reaching it and what it may see (the retriever), what
//! its scores do (`local::reranked`).

use std::sync::Arc;

use engine::ModelAccess;
use guard::secrets::RedactedText;

/// Returns the reranker that the settings name at this moment; `None` for none.
pub type RerankerSource = Arc<dyn Fn() -> Option<Arc<dyn Reranker>> + Send + Sync>;

/// A reranker. It answers within the wait that the settings allow, four seconds at most, or says why it does not.
pub trait Reranker: Send + Sync {
    /// Returns its model and where that is, for people.
    fn name(&self) -> String;

    /// Returns who gets what, for people.
    fn what_is_sent(&self) -> String;

    /// Decides what it may see.
    fn may_see(&self) -> &ModelAccess;

    /// Tells whether it failed a moment ago and is left alone.
    fn is_resting(&self) -> bool;

    /// Returns a finite score for each text, the higher the better.
    ///
    /// # Errors
    /// A note for the reader why there are none, once an outage; `None` where that was said before.
    fn scores(
        &self,
        query: &RedactedText,
        texts: &[RedactedText],
    ) -> Result<Vec<f64>, Option<String>>;
}
