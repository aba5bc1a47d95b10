//! Rewriting a file of a store, whatever it holds. Not here: how a log is rewritten (`rewrite`), how a segment
//! is (`archive`).

use std::path::Path;

use super::rewrite::rewrite_log;
use super::{Line, Store, StoreError};

/// Rewrites a file of a store: each line for which `change` returns other bytes is replaced by them,
/// everything else stays as it is. `change` is given what [`super::lines_of`] gives; it starts over with the
/// line at offset 0 when another program changed the file meanwhile.
///
/// # Errors
/// [`StoreError`]; the file is then as it was, or rewritten and perhaps not on the disk yet.
pub fn rewrite(
    store: &Store,
    file: &Path,
    change: &mut dyn FnMut(Line<'_>) -> Option<Vec<u8>>,
) -> Result<(), StoreError> {
    store.ensure()?;
    #[cfg(feature = "archive")]
    if super::archive::is_segment(file) {
        return super::archive::reseal(store, file, change);
    }
    rewrite_log(store, file, change)
}
