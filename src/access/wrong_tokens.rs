//! Wrong tokens, counted by the address they come from. Nobody guesses 256 bits; this keeps trying from being cheap, and
//! makes it useless: an address that tried too many gets no answer that tells a right token from a wrong one. Not here:
//! wrong codes of the page (`rest::sign_in`).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use crate::peer::network_of;
use crate::token::Token;
use event::Timestamp;

/// Different wrong tokens of one address within [`WRONG_SECONDS`] after which no token that is new there is looked at. A
/// program that repeats one old token guesses nothing, and is counted once.
const WRONG_MAX: usize = 20;
/// Seconds for which a wrong token counts.
pub const WRONG_SECONDS: u64 = 60;

/// Addresses that are known at once; the one that was silent for longest goes first.
const ADDRESSES_MAX: usize = 1_024;

/// Right tokens of one address that go on working meanwhile: people and containers may share an address.
const RIGHT_MAX: usize = 64;

/// The wrong tokens of all addresses.
#[derive(Default)]
pub struct WrongTokens(Mutex<BTreeMap<IpAddr, Guesser>>);

/// What is known of one address.
#[derive(Default)]
struct Guesser {
    wrong: Vec<(Timestamp, Token)>,
    right: Vec<Token>,
    last: Timestamp,
}

/// How a token is to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenDisclosure {
    /// As what it is.
    Disclosed,
    /// Neither as right nor as wrong.
    Withheld,
}

impl WrongTokens {
    /// Notes that an address showed a token that is right or not, and says how to answer.
    pub fn record_token(
        &self,
        from: IpAddr,
        shown: &Token,
        is_right: bool,
        now: Timestamp,
    ) -> TokenDisclosure {
        // No code panics while holding the lock, so the state is valid.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = network_of(from);
        if !all.contains_key(&from) && all.len() >= ADDRESSES_MAX {
            let silent = all.iter().min_by_key(|(_, guesser)| guesser.last);
            let silent = silent.map(|(address, _)| *address);
            silent.map(|address| all.remove(&address));
        }
        let guesser = all.entry(from).or_default();
        guesser.last = now;
        guesser.wrong.retain(|(when, _)| is_recent(*when, now));
        let is_known = |known: &[Token]| known.iter().any(|known| known.is_same(shown));
        // On this machine any program could keep its owner out otherwise.
        if is_right && (is_known(&guesser.right) || from.is_loopback()) {
            return TokenDisclosure::Disclosed;
        }
        if guesser.wrong.len() >= WRONG_MAX {
            return TokenDisclosure::Withheld;
        }
        if is_right {
            if guesser.right.len() >= RIGHT_MAX {
                guesser.right.remove(0);
            }
            guesser.right.push(shown.clone());
        } else if !guesser.wrong.iter().any(|(_, known)| known.is_same(shown)) {
            guesser.wrong.push((now, shown.clone()));
        }
        TokenDisclosure::Disclosed
    }
}

/// Tells whether a moment still counts. One that lies in the future does not: the clock was set back.
fn is_recent(when: Timestamp, now: Timestamp) -> bool {
    let age = now.as_second() - when.as_second();
    u64::try_from(age).is_ok_and(|age| age < WRONG_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    // S-HTTP-8
    #[test]
    fn a_program_of_this_machine_keeps_nobody_out() {
        for here in ["127.0.0.1", "::1", "::ffff:127.0.0.1"].map(address) {
            let guesses = WrongTokens::default();
            for number in 0..2 * WRONG_MAX {
                guesses.record_token(
                    here,
                    &Token::hash_of(&format!("wrong {number}")),
                    false,
                    at(0),
                );
            }
            let noted =
                |text, is_right| guesses.record_token(here, &Token::hash_of(text), is_right, at(1));
            let told = (noted("right", true), noted("wrong", false));
            assert_eq!(told, (TokenDisclosure::Disclosed, TokenDisclosure::Withheld), "{here}");
        }
    }

    // S-HTTP-8
    #[test]
    fn guessing_tells_nothing_and_keeps_nobody_else_out() {
        let guesses = WrongTokens::default();
        let (guesser, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let (right, new) = (Token::hash_of("right"), Token::hash_of("another right one"));
        let noted = |from, shown: &Token, is_right, second| {
            guesses.record_token(from, shown, is_right, at(second))
        };
        assert_eq!(noted(guesser, &right, true, 0), TokenDisclosure::Disclosed);
        for number in 0..WRONG_MAX {
            let wrong = Token::hash_of(&number.to_string());
            assert_eq!(noted(guesser, &wrong, false, 0), TokenDisclosure::Disclosed, "{number}");
        }
        assert_eq!(noted(guesser, &Token::hash_of("x"), false, 1), TokenDisclosure::Withheld);
        assert_eq!(
            noted(guesser, &new, true, 1),
            TokenDisclosure::Withheld,
            "a guess that is right"
        );
        assert_eq!(
            noted(guesser, &right, true, 1),
            TokenDisclosure::Disclosed,
            "it was used before"
        );
        assert_eq!(noted(other, &new, true, 1), TokenDisclosure::Disclosed);
        assert_eq!(noted(guesser, &new, true, 60), TokenDisclosure::Disclosed, "a minute later");
    }

    // S-HTTP-8
    #[test]
    fn the_same_wrong_token_counts_once() {
        let guesses = WrongTokens::default();
        let (here, old) = (address("127.0.0.1"), Token::hash_of("of the last start"));
        for second in 0..100 {
            assert_eq!(
                guesses.record_token(here, &old, false, at(second / 10)),
                TokenDisclosure::Disclosed
            );
        }
        assert_eq!(
            guesses.record_token(here, &Token::hash_of("right"), true, at(10)),
            TokenDisclosure::Disclosed
        );
    }

    // S-HTTP-8
    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let guesses = WrongTokens::default();
        for number in 0..WRONG_MAX {
            let from = address(&format!("2001:db8::{number:x}"));
            guesses.record_token(from, &Token::hash_of(&number.to_string()), false, at(0));
        }
        let right = Token::hash_of("right");
        let told = |from: &str| guesses.record_token(address(from), &right, true, at(0));
        assert_eq!(told("2001:db8::ffff"), TokenDisclosure::Withheld);
        assert_eq!(told("2001:db8:0:1::1"), TokenDisclosure::Disclosed);
        for number in 0..2 * ADDRESSES_MAX {
            let from = std::net::Ipv4Addr::from(u32::try_from(number).unwrap());
            guesses.record_token(from.into(), &right, true, at(1));
        }
        assert!(guesses.0.lock().unwrap().len() <= ADDRESSES_MAX);
    }
}
