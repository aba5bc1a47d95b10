//! Tells the system which parts of a file will be read, so that it fetches them all at once, and nothing beside them.
//! Whoever reads them one by one waits for the disk each time. Only Linux is told; elsewhere, and where it does not
//! listen, reading takes longer and gives the same.
//!
//! What is not here: reading (`cache`).

use std::fs::File;

/// Tells that a file is read here and there, and not in its order.
pub(super) fn expect_scattered(file: &File) {
    #[cfg(target_os = "linux")]
    // Advice that is not taken costs time only.
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Tells that so many bytes from `offset` on will be read soon; does not wait for them.
pub(super) fn expect(file: &File, offset: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    if let Some(bytes) = std::num::NonZeroU64::new(bytes) {
        // As above.
        let _ = rustix::fs::fadvise(file, offset, Some(bytes), rustix::fs::Advice::WillNeed);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, offset, bytes);
}
