//! A regex of a rule, matched at a place or searched for. Matching takes linear time and bounded memory; the
//! caller bounds the text. Not here: the rules.

use regex_automata::nfa::thompson::{Config, backtrack};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// Bytes that the matcher may use to remember where it was: enough for the longest secret.
const VISITED_BYTES_MAX: usize = 1 << 20;

/// A compiled regex over bytes. `\w`, `\d` and `\s` are ASCII.
#[derive(Debug)]
pub(crate) struct RuleRegex(Option<backtrack::BoundedBacktracker>);

/// Where a match, and its first group if it took part, begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuleMatch {
    pub(crate) whole: (usize, usize),
    pub(crate) group: Option<(usize, usize)>,
}

impl RuleRegex {
    /// Compiles a regex. One that does not compile matches nothing; a test compiles every rule.
    pub(crate) fn new(pattern: &str) -> Self {
        let built = backtrack::BoundedBacktracker::builder()
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .thompson(Config::new().utf8(false))
            .configure(backtrack::Config::new().visited_capacity(VISITED_BYTES_MAX))
            .build(pattern);
        Self(built.ok())
    }

    /// Tells whether the regex compiled.
    #[cfg(test)]
    pub(crate) fn is_valid(&self) -> bool {
        self.0.is_some()
    }

    /// Matches `text` from `from` on and not beyond `to`.
    pub(crate) fn matched(&self, text: &[u8], from: usize, to: usize) -> Option<RuleMatch> {
        let regex = self.0.as_ref()?;
        let to = to.min(text.len());
        let mut slots = [None; 4];
        let input = Input::new(text).range(from.min(to)..to).anchored(Anchored::Yes);
        regex.try_search_slots(&mut regex.create_cache(), &input, &mut slots).ok()??;
        let span = |slot: usize| {
            Some((slots.get(slot).copied()??.get(), slots.get(slot + 1).copied()??.get()))
        };
        Some(RuleMatch { whole: span(0)?, group: span(2) })
    }

    /// Returns where the first match between two places begins and ends.
    pub(crate) fn found(&self, text: &[u8], from: usize, to: usize) -> Option<(usize, usize)> {
        let regex = self.0.as_ref()?;
        let to = to.min(text.len());
        let input = Input::new(text).range(from.min(to)..to);
        let found = regex.try_find(&mut regex.create_cache(), input).ok()??;
        Some((found.start(), found.end()))
    }
}
