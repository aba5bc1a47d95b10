//! Runs one function on many items in parallel, on as many threads as there are processors. Not here: the
//! function.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many items a thread takes at a time. Fewer items than this are done on the caller's thread. A batch
/// takes a few milliseconds, so the cost of starting a thread is negligible.
const AT_A_TIME: usize = 128;

/// Returns the result of `each` for every item, in order.
pub(super) fn side_by_side<T: Send, R: Send>(
    things: Vec<T>,
    each: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let shares = things.len().div_ceil(AT_A_TIME);
    // The number of processors is not queried for a single event, because the system reads files for it.
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = if shares < 2 { 1 } else { processors().min(shares) };
    if threads < 2 {
        return things.into_iter().map(each).collect();
    }
    let (waiting, each) = (Mutex::new(things.into_iter()), &each);
    let take = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let first = waiting.len();
        (first, waiting.by_ref().take(AT_A_TIME).collect::<Vec<T>>())
    };
    let work = || {
        let mut done: Vec<(usize, Vec<R>)> = Vec::new();
        loop {
            let (left, share) = take();
            if share.is_empty() {
                return done;
            }
            done.push((left, share.into_iter().map(each).collect()));
        }
    };
    let mut done = thread::scope(|scope| {
        // If no thread can be started, the others do more.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (1..threads).filter_map(spawn).collect();
        let mut done = work();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|why| std::panic::resume_unwind(why)));
        }
        done
    });
    // A batch was taken earlier if more was left at that moment.
    done.sort_unstable_by_key(|(left, _)| std::cmp::Reverse(*left));
    done.into_iter().flat_map(|(_, share)| share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_is_done_once_and_in_order() {
        for count in [0, 1, AT_A_TIME, AT_A_TIME + 1, 10 * AT_A_TIME + 7] {
            let expected: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            assert_eq!(side_by_side((0..count).collect(), |number| number.to_string()), expected);
        }
    }
}
