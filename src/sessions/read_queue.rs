//! Which file of an import is read next, so that reading never runs far ahead of writing: what was read waits in memory until all
//! files before it are written, and one large file may take as long as a thousand small ones. Not here: reading and writing
//! (`session_import`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a thread that waits looks whether the import was stopped from outside, in milliseconds.
const LOOK_MS: u64 = 50;

/// Files in the order in which they are written.
pub(super) struct ReadQueue<'a, T> {
    files: &'a [T],
    /// How many files may be read beyond those that are written.
    ahead: usize,
    stop: &'a AtomicBool,
    places: Mutex<Places>,
    moved: Condvar,
}

#[derive(Default)]
struct Places {
    /// The file that is read next.
    next: usize,
    /// The file that is written next.
    due: usize,
    is_over: bool,
}

impl<'a, T> ReadQueue<'a, T> {
    /// Queues files, of which at most `ahead` are read beyond those that are written. It ends once `stop` is set.
    pub(super) fn new(files: &'a [T], ahead: usize, stop: &'a AtomicBool) -> Self {
        Self { files, ahead, stop, places: Mutex::default(), moved: Condvar::new() }
    }

    /// Returns a file and its place, once it may be read; `None` where none is left, or the import is over.
    pub(super) fn next(&self) -> Option<(usize, &'a T)> {
        let mut places = self.places();
        loop {
            let file = self.files.get(places.next)?;
            if places.is_over || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if places.next < places.due.saturating_add(self.ahead) {
                places.next += 1;
                return Some((places.next - 1, file));
            }
            let waited = self.moved.wait_timeout(places, Duration::from_millis(LOOK_MS));
            places = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Returns the file of a place.
    pub(super) fn file(&self, place: usize) -> Option<&'a T> {
        self.files.get(place)
    }

    /// Says that all files before a place are written.
    pub(super) fn advance(&self, due: usize) {
        self.places().due = due;
        self.moved.notify_all();
    }

    /// Ends it when the answer is dropped: nothing more is read. A thread that reads or writes leaves when all is done, or with a
    /// panic, after which the others would wait for ever.
    pub(super) fn end_guard(&self) -> QueueEnd<'_, 'a, T> {
        QueueEnd(self)
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a queue when it is dropped.
pub(super) struct QueueEnd<'q, 'a, T>(&'q ReadQueue<'a, T>);

impl<T> Drop for QueueEnd<'_, '_, T> {
    fn drop(&mut self) {
        self.0.places().is_over = true;
        self.0.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_waits_for_what_is_written() {
        let (files, stop) = ([10, 11, 12, 13], AtomicBool::new(false));
        let queue = ReadQueue::new(&files, 2, &stop);
        assert_eq!((queue.next(), queue.next()), (Some((0, &10)), Some((1, &11))));
        std::thread::scope(|scope| {
            let third = scope.spawn(|| queue.next());
            queue.advance(1);
            assert_eq!(third.join().unwrap(), Some((2, &12)));
        });
        stop.store(true, Ordering::Relaxed);
        assert_eq!(queue.next(), None, "it is stopped, and does not wait");
        stop.store(false, Ordering::Relaxed);
        queue.advance(3);
        assert_eq!((queue.next(), queue.next()), (Some((3, &13)), None));
    }

    #[test]
    fn a_reader_that_panics_ends_the_others() {
        let (files, stop) = ([10, 11], AtomicBool::new(false));
        let queue = ReadQueue::new(&files, 1, &stop);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let _end = queue.end_guard();
                let (_, file) = queue.next().unwrap();
                panic!("this file is odd on purpose: {file}");
            });
            assert!(reader.join().is_err());
        });
        assert_eq!(queue.next(), None);
    }
}
