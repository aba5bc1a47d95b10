//! How many expensive calls a client may make: those that look at all memories or check the machine, instead of asking an index.
//! Not here: which calls are expensive (`requests::verbs`).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use event::Timestamp;

/// Expensive calls that a client may make at once. A dashboard that somebody types in asks for some a second, a script over a
/// hundred repositories for a hundred in a row.
const BURST: i64 = 240;

/// The time that one call takes up after that, in milliseconds: four a second. An agent asks a few times a minute.
const EACH_MS: i64 = 250;

/// Clients that are known at once. Those that have their whole burst are forgotten first: nothing is lost with them.
const CLIENTS_MAX: usize = 1_024;

/// Who pays for a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Payer {
    /// Whoever shows the server's token, or none where none is needed, from one address.
    Address(IpAddr),
    /// A named token.
    Token(Arc<str>),
    /// A session of the page, by its hash.
    Session(String),
}

/// The expensive calls of all clients: for each the moment, in milliseconds, until which its calls take up its time.
#[derive(Default)]
pub struct ExpensiveCalls(Mutex<BTreeMap<Payer, i64>>);

impl ExpensiveCalls {
    /// Counts a call.
    ///
    /// # Errors
    /// The seconds after which the next one is possible.
    pub fn count(&self, payer: &Payer, now: Timestamp) -> Result<(), i64> {
        // No code panics while holding the lock, so the state is valid.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now.as_millisecond();
        if !all.contains_key(payer) && all.len() >= CLIENTS_MAX {
            all.retain(|_, until| *until > now);
            let first = all.iter().min_by_key(|(_, until)| **until).map(|(payer, _)| payer.clone());
            first.filter(|_| all.len() >= CLIENTS_MAX).map(|payer| all.remove(&payer));
        }
        let until = all.entry(payer.clone()).or_insert(now);
        // If the clock was set back, nobody waits for longer than a burst takes.
        *until = (*until).clamp(now, now + BURST * EACH_MS);
        let room = now + (BURST - 1) * EACH_MS - *until;
        if room < 0 {
            return Err((-room).div_euclid(1_000) + 1);
        }
        *until += EACH_MS;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_000 + ms).unwrap()
    }

    fn token(name: &str) -> Payer {
        Payer::Token(name.into())
    }

    // S-HTTP-9
    #[test]
    fn a_client_gets_its_burst_and_then_four_a_second() {
        let calls = ExpensiveCalls::default();
        let (one, other) = (token("one"), token("other"));
        for number in 0..BURST {
            assert_eq!(calls.count(&one, at(0)), Ok(()), "{number}");
        }
        assert_eq!(calls.count(&one, at(0)), Err(1));
        assert_eq!(calls.count(&one, at(EACH_MS - 1)), Err(1));
        assert_eq!(calls.count(&one, at(EACH_MS)), Ok(()));
        assert_eq!(calls.count(&one, at(EACH_MS)), Err(1));
        assert_eq!(calls.count(&other, at(0)), Ok(()), "another client has its own");
        let later = 2 * BURST * EACH_MS;
        assert!((0..BURST).all(|_| calls.count(&one, at(later)).is_ok()));
        assert_eq!(calls.count(&one, at(later)), Err(1));
    }

    // S-HTTP-9
    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let calls = ExpensiveCalls::default();
        let one = token("one");
        for _ in 0..BURST {
            calls.count(&one, at(1_000_000_000)).unwrap();
        }
        assert_eq!(calls.count(&one, at(0)), Err(1));
        assert_eq!(calls.count(&one, at(EACH_MS)), Ok(()));
    }

    #[test]
    fn so_many_clients_are_known() {
        let calls = ExpensiveCalls::default();
        for number in 0..2 * CLIENTS_MAX {
            calls.count(&token(&number.to_string()), at(0)).unwrap();
        }
        assert_eq!(calls.0.lock().unwrap().len(), CLIENTS_MAX);
        calls.count(&token("new"), at(EACH_MS)).unwrap();
        assert_eq!(calls.0.lock().unwrap().len(), 1, "all others have their whole burst");
    }
}
