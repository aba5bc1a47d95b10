//! Which of the memories that need a vector is embedded next: those of the repository that somebody asked from last, then the newest.
//! Not here: handing them to the model (`embedding_queue`).

use std::path::{Path, PathBuf};

use crate::follow::{EmbeddingRequest, Follower};
use store::Store;

/// What decides which memory is urgent.
#[derive(Default)]
pub(super) struct EmbeddingOrder {
    /// The log of the repository that somebody asked from last.
    home: Option<PathBuf>,
    is_sorted: bool,
}

impl EmbeddingOrder {
    /// Notes from which repository somebody asks.
    pub(super) fn record_home(&mut self, home: &Path) {
        if self.home.as_deref() != Some(home) {
            self.home = Some(home.to_owned());
            self.is_sorted = false;
        }
    }

    /// Notes that more memories need a vector.
    pub(super) fn record_news(&mut self) {
        self.is_sorted = false;
    }

    /// Sorts them, the most urgent last, unless they are sorted.
    pub(super) fn sort(&mut self, follower: &Follower, requests: &mut [EmbeddingRequest]) {
        if !self.is_sorted {
            let here = self.home.as_deref().map(Store::repo_of);
            follower.sort_by_urgency(requests, here.as_ref());
            self.is_sorted = true;
        }
    }
}
