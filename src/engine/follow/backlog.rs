//! What a follower left out in order to read the newest lines first, and the writes of this process. Not here: reading it
//! (`backlog_reading`).

use std::collections::VecDeque;
use std::path::PathBuf;

use store::{StoreError, Tail};

/// Unread bytes of one log above which its newest lines are read first: some 2,000 short lines. They take 25 ms of a
/// core, and several times as long where the writers keep all cores busy.
pub(super) const BACKLOG_BYTES_MAX: u64 = 384 * 1024;

/// The newest bytes that are read first then. What was written 50 ms ago by writers at 5 MB a second is among them. With
/// half of it a save is a third faster, and a quarter of the writes of other programs were found later instead of a tenth.
pub(super) const NEWEST_BYTES: u64 = 256 * 1024;

/// What is still to be read.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    pub(super) left_out: VecDeque<Tail>,
    /// The newest writes of this process.
    pub(super) own: VecDeque<OwnWrite>,
}

/// A write of this process, which every later answer holds.
#[derive(Debug)]
pub(super) struct OwnWrite {
    pub(super) log: PathBuf,
    pub(super) offset: u64,
    /// Whether it was read since the follower last started over.
    pub(super) was_read: bool,
}

impl Backlog {
    pub(super) fn is_empty(&self) -> bool {
        self.left_out.is_empty()
    }

    /// Forgets what was left out, because every log is read again from its beginning, or from its window on.
    pub(super) fn start_over(&mut self) {
        self.left_out.clear();
        self.own.iter_mut().for_each(|own| own.was_read = false);
    }

    /// Moves a tail ahead if too much is unread. Returns what is left out.
    pub(super) fn skip_ahead(tail: &mut Tail) -> Result<Option<Tail>, StoreError> {
        // A log that was never read is read from its beginning, by whoever reads all logs.
        if !tail.was_read() {
            return Ok(None);
        }
        tail.skip_ahead(BACKLOG_BYTES_MAX, NEWEST_BYTES)
    }

    /// Adds what was left out, if it is to be read at all.
    pub(super) fn push(&mut self, left_out: Tail, is_wanted: bool) {
        if is_wanted {
            self.left_out.push_back(left_out);
        }
    }
}
