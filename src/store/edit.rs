//! Rewriting any file of a store. Not here: how a log is rewritten (`rewrite`), how a segment is rewritten
//! (`archive`).

use std::path::Path;

use super::rewrite::rewrite_log;
use super::{LogLine, Store, StoreError};

/// Rewrites a file of a store. Each line for which `change` returns other bytes is replaced by them; everything
/// else is unchanged. `change` receives the lines of [`super::lines_of`]. If another program changed the file,
/// the rewrite starts over at the line at offset 0.
///
/// # Errors
/// [`StoreError`]. The file is then unchanged, or rewritten and perhaps not synced.
pub fn rewrite(
    store: &Store,
    file: &Path,
    change: &mut dyn FnMut(LogLine<'_>) -> Option<Vec<u8>>,
) -> Result<(), StoreError> {
    store.ensure()?;
    #[cfg(feature = "archive")]
    if super::archive::is_segment(file) {
        return super::archive::reseal(store, file, change);
    }
    #[cfg(feature = "archive")]
    let turn = super::archive::SettledTurn::acquire(store, file)?;
    #[cfg(not(feature = "archive"))]
    let turn = super::rewrite::RewriteTurn::acquire(store, file)?;
    rewrite_log(&turn, file, change)
}
