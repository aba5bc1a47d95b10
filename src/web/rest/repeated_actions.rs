//! Actions that are sent twice with one `Idempotency-Key`: the second gets the answer of the first. The answers are kept in
//! memory, so a retriever that starts anew has forgotten them. Not here: what an action does (`api`).

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

/// Answers that are kept; the oldest goes first.
const KEPT_MAX: usize = 1_000;

/// The actions that were done with a key, each with an answer of type `A`.
#[derive(Debug)]
pub struct RepeatedActions<A>(Mutex<VecDeque<KeyedAction<A>>>);

#[derive(Debug)]
struct KeyedAction<A> {
    key: String,
    request: [u8; 32],
    /// Nothing while it is under way.
    answer: Option<A>,
}

/// What is known of an action.
pub enum ActionStart<'a, A> {
    /// It is new.
    New(ActionTurn<'a, A>),
    /// It was done, with this answer.
    Done(A),
    /// Its key belongs to another one.
    OtherRequest,
    /// It is being done.
    InProgress,
}

/// The right to do an action. If it is dropped without an answer, the action may be sent again.
pub struct ActionTurn<'a, A> {
    actions: &'a RepeatedActions<A>,
    key: String,
}

impl<A> Default for RepeatedActions<A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<A: Clone> RepeatedActions<A> {
    /// Looks up a request, which is its path and its body, and notes that it is under way.
    pub fn begin(&self, key: &str, path: &str, body: &[u8]) -> ActionStart<'_, A> {
        let digest = Sha256::new().chain_update(path).chain_update([0]).chain_update(body);
        let request = digest.finalize().into();
        let mut actions = self.lock();
        if let Some(action) = actions.iter().find(|action| action.key == key) {
            return match &action.answer {
                _ if action.request != request => ActionStart::OtherRequest,
                Some(answer) => ActionStart::Done(answer.clone()),
                None => ActionStart::InProgress,
            };
        }
        if actions.len() >= KEPT_MAX {
            actions.pop_front();
        }
        actions.push_back(KeyedAction { key: key.to_owned(), request, answer: None });
        ActionStart::New(ActionTurn { actions: self, key: key.to_owned() })
    }
}

impl<A> RepeatedActions<A> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<KeyedAction<A>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Clone> ActionTurn<'_, A> {
    /// Keeps the answer. One that says that the server failed, or does not know the memory, is not kept: the next attempt
    /// may succeed.
    pub fn finish(self, answer: A, has_failed: bool) -> A {
        if !has_failed {
            let mut actions = self.actions.lock();
            if let Some(action) = actions.iter_mut().find(|action| action.key == self.key) {
                action.answer = Some(answer.clone());
            }
        }
        answer
    }
}

impl<A> Drop for ActionTurn<'_, A> {
    fn drop(&mut self) {
        self.actions.lock().retain(|action| action.key != self.key || action.answer.is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_for_one_deed() {
        let actions = RepeatedActions::<&str>::default();
        let (path, body) = ("/a", &b"{}"[..]);
        let ActionStart::New(turn) = actions.begin("k", path, body) else { panic!() };
        assert!(matches!(actions.begin("k", path, body), ActionStart::InProgress));
        turn.finish("done", false);
        assert!(matches!(actions.begin("k", path, body), ActionStart::Done("done")));
        assert!(matches!(actions.begin("k", "/b", b"{}"), ActionStart::OtherRequest));
        assert!(matches!(actions.begin("k", "/a", b"{ }"), ActionStart::OtherRequest));
    }

    #[test]
    fn a_deed_that_failed_may_be_sent_again() {
        let actions = RepeatedActions::<&str>::default();
        let (path, body) = ("/a", &b"{}"[..]);
        let ActionStart::New(turn) = actions.begin("k", path, body) else { panic!() };
        turn.finish("failed", true);
        assert!(matches!(actions.begin("k", path, body), ActionStart::New(_)));
        assert!(
            matches!(actions.begin("k", path, body), ActionStart::New(_)),
            "a turn was dropped"
        );
    }

    #[test]
    fn the_oldest_answer_goes_first() {
        let actions = RepeatedActions::<&str>::default();
        for number in 0..=KEPT_MAX {
            let ActionStart::New(turn) = actions.begin(&number.to_string(), "/", b"") else {
                panic!()
            };
            turn.finish("done", false);
        }
        assert!(matches!(actions.begin("0", "/", b""), ActionStart::New(_)));
        assert!(matches!(actions.begin("1000", "/", b""), ActionStart::Done("done")));
    }
}
