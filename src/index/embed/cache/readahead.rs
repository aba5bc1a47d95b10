//! Advises the system which parts of a file will be read, so that it fetches them together instead of one after the
//! other. Only Linux takes the advice. Elsewhere reading takes longer and gives the same.
//!
//! What is not here: reading (`cache`).

use std::fs::File;

/// Advises that a file is read in random order.
pub(super) fn expect_scattered(file: &File) {
    #[cfg(target_os = "linux")]
    // Ignored advice costs only time.
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Advises that `bytes` from `offset` on will be read soon. Does not wait for them.
pub(super) fn expect(file: &File, offset: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    if let Some(bytes) = std::num::NonZeroU64::new(bytes) {
        // As above.
        let _ = rustix::fs::fadvise(file, offset, Some(bytes), rustix::fs::Advice::WillNeed);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, offset, bytes);
}
