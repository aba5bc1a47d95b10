//! Deeds that are sent twice with one `Idempotency-Key`: the second gets the answer of the first. The answers are kept in
//! memory, so a retriever that starts anew has forgotten them. Not here: what a deed does (`api`).

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::Content;

/// Answers that are kept; the oldest goes first.
const KEPT_MAX: usize = 1_000;

/// The deeds that were done with a key.
#[derive(Debug, Default)]
pub(super) struct RepeatedDeeds(Mutex<VecDeque<Deed>>);

#[derive(Debug)]
struct Deed {
    key: String,
    request: [u8; 32],
    /// Nothing while it is under way.
    answer: Option<Content>,
}

/// What is known of a deed.
pub(super) enum Begun<'a> {
    /// It is new.
    First(Turn<'a>),
    /// It was done, with this answer.
    Done(Content),
    /// Its key belongs to another one.
    Other,
    /// It is being done.
    UnderWay,
}

/// The right to do a deed. If it is dropped without an answer, the deed may be sent again.
pub(super) struct Turn<'a> {
    deeds: &'a RepeatedDeeds,
    key: String,
}

impl RepeatedDeeds {
    /// Looks up a request, which is its path and its body, and notes that it is under way.
    pub(super) fn begin(&self, key: &str, (path, body): (&str, &[u8])) -> Begun<'_> {
        let digest = Sha256::new().chain_update(path).chain_update([0]).chain_update(body);
        let request = digest.finalize().into();
        let mut deeds = self.lock();
        if let Some(deed) = deeds.iter().find(|deed| deed.key == key) {
            return match &deed.answer {
                _ if deed.request != request => Begun::Other,
                Some(answer) => Begun::Done(answer.clone()),
                None => Begun::UnderWay,
            };
        }
        if deeds.len() >= KEPT_MAX {
            deeds.pop_front();
        }
        deeds.push_back(Deed { key: key.to_owned(), request, answer: None });
        Begun::First(Turn { deeds: self, key: key.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Deed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Keeps the answer. One that says that the server failed is not kept: the next attempt may succeed.
    pub(super) fn done(self, content: Content) -> Content {
        if !content.status.is_server_error() {
            let mut deeds = self.deeds.lock();
            if let Some(deed) = deeds.iter_mut().find(|deed| deed.key == self.key) {
                deed.answer = Some(content.clone());
            }
        }
        content
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.deeds.lock().retain(|deed| deed.key != self.key || deed.answer.is_some());
    }
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use hyper::body::Bytes;

    use super::*;

    fn content(status: StatusCode) -> Content {
        Content { status, content_type: "text/plain", body: Bytes::from("done"), tag: None }
    }

    #[test]
    fn a_key_stands_for_one_deed() {
        let deeds = RepeatedDeeds::default();
        let request = ("/a", &b"{}"[..]);
        let Begun::First(turn) = deeds.begin("k", request) else { panic!() };
        assert!(matches!(deeds.begin("k", request), Begun::UnderWay));
        turn.done(content(StatusCode::OK));
        assert!(matches!(deeds.begin("k", request), Begun::Done(_)));
        assert!(matches!(deeds.begin("k", ("/b", b"{}")), Begun::Other));
        assert!(matches!(deeds.begin("k", ("/a", b"{ }")), Begun::Other));
    }

    #[test]
    fn a_deed_that_failed_may_be_sent_again() {
        let deeds = RepeatedDeeds::default();
        let request = ("/a", &b"{}"[..]);
        let Begun::First(turn) = deeds.begin("k", request) else { panic!() };
        turn.done(content(StatusCode::SERVICE_UNAVAILABLE));
        assert!(matches!(deeds.begin("k", request), Begun::First(_)));
        assert!(matches!(deeds.begin("k", request), Begun::First(_)), "a turn was dropped");
    }

    #[test]
    fn the_oldest_answer_goes_first() {
        let deeds = RepeatedDeeds::default();
        for number in 0..=KEPT_MAX {
            let Begun::First(turn) = deeds.begin(&number.to_string(), ("/", b"")) else { panic!() };
            turn.done(content(StatusCode::OK));
        }
        assert!(matches!(deeds.begin("0", ("/", b"")), Begun::First(_)));
        assert!(matches!(deeds.begin("1000", ("/", b"")), Begun::Done(_)));
    }
}
