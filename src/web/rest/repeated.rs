//! Actions that are sent twice with one `Idempotency-Key`: the second gets the answer of the first. The answers are kept in
//! memory, so a retriever that starts anew has forgotten them. Not here: what an action does (`api`).

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

/// Answers that are kept; the oldest goes first.
const KEPT_MAX: usize = 1_000;

/// The actions that were done with a key, each with an answer of type `A`.
#[derive(Debug)]
pub struct RepeatedDeeds<A>(Mutex<VecDeque<KeyedAction<A>>>);

#[derive(Debug)]
struct KeyedAction<A> {
    key: String,
    request: [u8; 32],
    /// Nothing while it is under way.
    answer: Option<A>,
}

/// What is known of an action.
pub enum Begun<'a, A> {
    /// It is new.
    First(Turn<'a, A>),
    /// It was done, with this answer.
    Done(A),
    /// Its key belongs to another one.
    Other,
    /// It is being done.
    UnderWay,
}

/// The right to do an action. If it is dropped without an answer, the action may be sent again.
pub struct Turn<'a, A> {
    actions: &'a RepeatedDeeds<A>,
    key: String,
}

impl<A> Default for RepeatedDeeds<A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<A: Clone> RepeatedDeeds<A> {
    /// Looks up a request, which is its path and its body, and notes that it is under way.
    pub fn begin(&self, key: &str, path: &str, body: &[u8]) -> Begun<'_, A> {
        let digest = Sha256::new().chain_update(path).chain_update([0]).chain_update(body);
        let request = digest.finalize().into();
        let mut actions = self.lock();
        if let Some(action) = actions.iter().find(|action| action.key == key) {
            return match &action.answer {
                _ if action.request != request => Begun::Other,
                Some(answer) => Begun::Done(answer.clone()),
                None => Begun::UnderWay,
            };
        }
        if actions.len() >= KEPT_MAX {
            actions.pop_front();
        }
        actions.push_back(KeyedAction { key: key.to_owned(), request, answer: None });
        Begun::First(Turn { actions: self, key: key.to_owned() })
    }
}

impl<A> RepeatedDeeds<A> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<KeyedAction<A>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Clone> Turn<'_, A> {
    /// Keeps the answer. One that says that the server failed, or does not know the memory, is not kept: the next attempt
    /// may succeed.
    pub fn done(self, answer: A, has_failed: bool) -> A {
        if !has_failed {
            let mut actions = self.actions.lock();
            if let Some(action) = actions.iter_mut().find(|action| action.key == self.key) {
                action.answer = Some(answer.clone());
            }
        }
        answer
    }
}

impl<A> Drop for Turn<'_, A> {
    fn drop(&mut self) {
        self.actions.lock().retain(|action| action.key != self.key || action.answer.is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_for_one_deed() {
        let actions = RepeatedDeeds::<&str>::default();
        let (path, body) = ("/a", &b"{}"[..]);
        let Begun::First(turn) = actions.begin("k", path, body) else { panic!() };
        assert!(matches!(actions.begin("k", path, body), Begun::UnderWay));
        turn.done("done", false);
        assert!(matches!(actions.begin("k", path, body), Begun::Done("done")));
        assert!(matches!(actions.begin("k", "/b", b"{}"), Begun::Other));
        assert!(matches!(actions.begin("k", "/a", b"{ }"), Begun::Other));
    }

    #[test]
    fn a_deed_that_failed_may_be_sent_again() {
        let actions = RepeatedDeeds::<&str>::default();
        let (path, body) = ("/a", &b"{}"[..]);
        let Begun::First(turn) = actions.begin("k", path, body) else { panic!() };
        turn.done("failed", true);
        assert!(matches!(actions.begin("k", path, body), Begun::First(_)));
        assert!(matches!(actions.begin("k", path, body), Begun::First(_)), "a turn was dropped");
    }

    #[test]
    fn the_oldest_answer_goes_first() {
        let actions = RepeatedDeeds::<&str>::default();
        for number in 0..=KEPT_MAX {
            let Begun::First(turn) = actions.begin(&number.to_string(), "/", b"") else { panic!() };
            turn.done("done", false);
        }
        assert!(matches!(actions.begin("0", "/", b""), Begun::First(_)));
        assert!(matches!(actions.begin("1000", "/", b""), Begun::Done("done")));
    }
}
