//! Deeds that are sent twice with one `Idempotency-Key`: the second gets the answer of the first. The answers are kept in
//! memory, so a retriever that starts anew has forgotten them. Not here: what a deed does (`api`).

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

/// Answers that are kept; the oldest goes first.
const KEPT_MAX: usize = 1_000;

/// The deeds that were done with a key, each with an answer of type `A`.
#[derive(Debug)]
pub struct RepeatedActions<A>(Mutex<VecDeque<Deed<A>>>);

#[derive(Debug)]
struct Deed<A> {
    key: String,
    request: [u8; 32],
    /// Nothing while it is under way.
    answer: Option<A>,
}

/// What is known of a deed.
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

/// The right to do a deed. If it is dropped without an answer, the deed may be sent again.
pub struct ActionTurn<'a, A> {
    deeds: &'a RepeatedActions<A>,
    key: String,
}

impl<A> Default for RepeatedActions<A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<A: Clone> RepeatedActions<A> {
    /// Looks up a request, which is its path and its body, and notes that it is under way.
    pub fn begin(&self, key: &str, (path, body): (&str, &[u8])) -> ActionStart<'_, A> {
        let digest = Sha256::new().chain_update(path).chain_update([0]).chain_update(body);
        let request = digest.finalize().into();
        let mut deeds = self.lock();
        if let Some(deed) = deeds.iter().find(|deed| deed.key == key) {
            return match &deed.answer {
                _ if deed.request != request => ActionStart::OtherRequest,
                Some(answer) => ActionStart::Done(answer.clone()),
                None => ActionStart::InProgress,
            };
        }
        if deeds.len() >= KEPT_MAX {
            deeds.pop_front();
        }
        deeds.push_back(Deed { key: key.to_owned(), request, answer: None });
        ActionStart::New(ActionTurn { deeds: self, key: key.to_owned() })
    }
}

impl<A> RepeatedActions<A> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Deed<A>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Clone> ActionTurn<'_, A> {
    /// Keeps the answer. One that says that the server failed, or does not know the memory, is not kept: the next attempt
    /// may succeed.
    pub fn finish(self, answer: A, has_failed: bool) -> A {
        if !has_failed {
            let mut deeds = self.deeds.lock();
            if let Some(deed) = deeds.iter_mut().find(|deed| deed.key == self.key) {
                deed.answer = Some(answer.clone());
            }
        }
        answer
    }
}

impl<A> Drop for ActionTurn<'_, A> {
    fn drop(&mut self) {
        self.deeds.lock().retain(|deed| deed.key != self.key || deed.answer.is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_for_one_deed() {
        let deeds = RepeatedActions::<&str>::default();
        let request = ("/a", &b"{}"[..]);
        let ActionStart::New(turn) = deeds.begin("k", request) else { panic!() };
        assert!(matches!(deeds.begin("k", request), ActionStart::InProgress));
        turn.finish("done", false);
        assert!(matches!(deeds.begin("k", request), ActionStart::Done("done")));
        assert!(matches!(deeds.begin("k", ("/b", b"{}")), ActionStart::OtherRequest));
        assert!(matches!(deeds.begin("k", ("/a", b"{ }")), ActionStart::OtherRequest));
    }

    #[test]
    fn a_deed_that_failed_may_be_sent_again() {
        let deeds = RepeatedActions::<&str>::default();
        let request = ("/a", &b"{}"[..]);
        let ActionStart::New(turn) = deeds.begin("k", request) else { panic!() };
        turn.finish("failed", true);
        assert!(matches!(deeds.begin("k", request), ActionStart::New(_)));
        assert!(matches!(deeds.begin("k", request), ActionStart::New(_)), "a turn was dropped");
    }

    #[test]
    fn the_oldest_answer_goes_first() {
        let deeds = RepeatedActions::<&str>::default();
        for number in 0..=KEPT_MAX {
            let ActionStart::New(turn) = deeds.begin(&number.to_string(), ("/", b"")) else {
                panic!()
            };
            turn.finish("done", false);
        }
        assert!(matches!(deeds.begin("0", ("/", b"")), ActionStart::New(_)));
        assert!(matches!(deeds.begin("1000", ("/", b"")), ActionStart::Done("done")));
    }
}
