//! Secrets known by the name of their provider. Not here: the names (`tables/providers.txt`), and other names (`named_secret`).

use super::binding::{BindingScan, scan_bindings, value_at, verb};
use super::bound_value::{Bond, BoundValue};
use super::charset::{Charset, DOTTED};
use super::context::{OF_COMMITS, begins_word, is_about, is_data_key, is_near, is_public};
use super::hit::{Hit, Rank};
use super::judge::{Hint, is_mixed, is_random};
use super::named_secret::{NOTHING, NameInText, PROMISE_BYTES_MAX, REFUSALS, is_harmless};
use super::prefixed::is_key_of;
use super::text::Text;

/// What a provider's name may continue with in one lower-case word, as in `githubtoken`.
const GLUED: [&str; 12] = [
    "token", "key", "api", "secret", "access", "auth", "client", "app", "pass", "oauth", "bot",
    "web",
];

/// Words that promise a secret after a provider's name.
const PROMISES: [&str; 4] = ["token", "key", "secret", "password"];

/// Names that mean a secret even before a digest or a UUID, which may be the key of a record.
const FULL_PROMISES: [&str; 9] = [
    "token",
    "secret",
    "password",
    "api key",
    "api_key",
    "api-key",
    "access key",
    "access_key",
    "access-key",
];

/// Providers whose digests name events, which people tell with the provider's name alone.
const TRACERS: [&str; 6] = [
    "sentry-token",
    "honeycomb-key",
    "rollbar-token",
    "bugsnag-key",
    "datadog-key",
    "mlflow-token",
];

impl NameInText<'_> {
    /// Looks for a provider's secret after its name.
    pub(super) fn scan_provider(&self) -> BindingScan<Hit> {
        let Self { text, start, end, .. } = *self;
        let (last, next) = (text.before(end), text.at(end));
        let hump = !last.is_ascii_lowercase() && text.at(end + 1).is_ascii_lowercase();
        let continues = next.is_ascii_lowercase() || (next.is_ascii_uppercase() && hump);
        let is_other_word = continues && !GLUED.iter().any(|word| text.is_at(end, word));
        // In the name of a resource of AWS it is the name of a service.
        let is_resource = start.checked_sub(4).is_some_and(|place| text.is_at(place, "arn:"));
        if !begins_word(text, start) || is_other_word || is_resource {
            return NOTHING;
        }
        let mut look = scan_bindings(text, start, end, |bound| self.provider_hit(&bound));
        if look.found.is_none() {
            look.found = self.promised_value().and_then(|bound| self.provider_hit(&bound));
        }
        look
    }

    fn provider_hit(&self, bound: &BoundValue<'_>) -> Option<Hit> {
        let value = bound.trimmed();
        let is_key = || is_key_of(&self.row, value);
        let is_known = is_key()
            && (self.is_promised(bound)
                || match bound.bond {
                    Bond::Operator | Bond::Flag => true,
                    Bond::Sentence => is_random(value, Hint::Weak),
                    Bond::Neighbour => is_mixed(value),
                    Bond::Identifier => is_random(value, Hint::Strong),
                });
        let is_likely = || bound.bond == Bond::Operator && !is_about(bound.tail) && is_mixed(value);
        let (rule, rank) =
            if is_known { (self.row.name, Rank::Provider) } else { ("key", Rank::Hint) };
        let is_secret = (is_known || is_likely()) && !is_harmless(bound) && !self.is_trace(bound);
        let (from, to) = (bound.from, bound.end(self.text, value.len()));
        is_secret.then_some(Hit { rule, from, to, rank })
    }

    /// Tells whether a word between a provider's name and a value promises that the value is a secret.
    fn is_promised(&self, bound: &BoundValue<'_>) -> bool {
        let Self { text, start, end, .. } = *self;
        let value = bound.trimmed();
        let said = verb(bound.tail).filter(|_| bound.bond == Bond::Sentence);
        let tail = bound.tail.get(..said.map_or(bound.tail.len(), |verb| verb.start));
        let tail = tail.unwrap_or_default().trim_ascii_end();
        let ends = |words: &[&str]| words.iter().any(|word| ends_in(tail, word));
        let is_secret = if value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-') {
            let is_refused =
                || is_near(text, start, &["reject", "revoke"]) || is_near(text, start, &REFUSALS);
            (ends(&FULL_PROMISES) || ends(&PROMISES) && is_refused())
                && !is_near(text, start, &OF_COMMITS)
                && !is_near(text, bound.to, &OF_COMMITS)
        } else {
            ends(&PROMISES) && is_random(value, Hint::Strong)
        };
        is_secret && !is_of_data(text, (end + tail.len()).saturating_sub("key".len()))
    }

    /// Returns the value after the last word that promises one, a few words after a provider's name.
    fn promised_value(&self) -> Option<BoundValue<'_>> {
        const TAIL: Charset = DOTTED.and(" ");
        let Self { text, end, .. } = *self;
        let tail = text.slice(end, text.run(end, TAIL, PROMISE_BYTES_MAX));
        let behind = |word: &&str| {
            let place = tail.windows(word.len()).rposition(|part| part == word.as_bytes())?;
            (tail.get(place + word.len()) == Some(&b' ')).then_some((place, place + word.len() + 1))
        };
        let (place, length) = PROMISES.iter().filter_map(behind).max()?;
        let is_key = !is_of_data(text, end + place);
        is_key.then(|| value_at(text, end + length, Bond::Neighbour, tail.get(..length)?))?
    }

    /// Tells whether a value is the id of an event rather than a key.
    fn is_trace(&self, bound: &BoundValue<'_>) -> bool {
        let is_digest = bound.value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
        let is_bare = bound.tail.trim_ascii().is_empty() && !bound.is_quoted;
        let is_event = || is_near(self.text, self.start, &["trace", "event", "issue", "span"]);
        is_digest && TRACERS.contains(&self.row.name) && (is_bare || is_event())
    }
}

/// Tells whether `key` stands at a place, and is that of a record or a public one.
fn is_of_data(text: Text<'_>, place: usize) -> bool {
    text.is_at(place, "key") && (is_data_key(text, place) || is_public(text, place))
}

fn ends_in(tail: &[u8], word: &str) -> bool {
    let end = tail.len().checked_sub(word.len()).and_then(|start| tail.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
}
