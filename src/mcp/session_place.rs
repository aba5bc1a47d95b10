//! Where a session works: the directory whose repository a call means unless it names one. Clients that start servers in a home
//! directory say it by roots. Not here: asking the client (`client_roots`), choosing among directories (`place`).

use std::path::PathBuf;

/// Where a session works, as far as the server knows.
pub trait SessionPlace: Send + Sync {
    /// Learns the roots that the client offers, as it writes them. This may read files.
    fn learn_roots(&self, roots: &[String]);

    /// Returns the directory; none where it is nobody's project, so that a call must name its repository.
    fn directory(&self) -> Option<PathBuf>;
}
