//! Secrets known by the name before them: which value after which kind of name is one. Not here: the names
//! (`tables/names.txt`, `tables/providers.txt`), and how a value is bound to its name (`binding`).

use super::after_name;
use super::before_name::{typed_for, used_as};
use super::binding::{BindingScan, scan_bindings};
use super::bound_value::{Bond, BoundValue, list_end, replaced_end};
use super::charset::Charset;
use super::context::{
    OF_COMMITS, begins_word, follows_owner, is_about, is_data_key, is_flag, is_in_identifier,
    is_login, is_near, is_public, is_public_name, mentions, name_start,
};
use super::hit::{Hit, Rank};
use super::ids::{is_ulid, is_uuid};
use super::judge::{Hint, is_header, is_login_pair, is_mixed, is_random};
use super::password::{
    is_compound, is_numbered_word, is_password, is_phrase, is_short_token, is_underived, is_wild,
};
use super::placeholder::is_placeholder;
use super::text::{Text, count};
use super::value_statistics::ValueStatistics;
use crate::prefilter::TableRow;

/// The forms that may follow a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A random value; the name may be part of a longer one.
    Token,
    /// The same under the name of a session, which most programs give a plain id.
    Session,
    /// The same, or a user name and a password.
    Login,
    /// A random value, but the name means other things as well.
    Key,
    /// A chosen value.
    Password,
    /// The same, but the name means other things as well.
    Pass,
    /// The value of an HTTP header.
    Header,
    /// A few digits.
    Pin,
}

impl NameKind {
    fn from_row(row: &TableRow) -> Self {
        match row.fields[0] {
            "session" => Self::Session,
            "login" => Self::Login,
            "key" => Self::Key,
            "password" | "stem" | "word" => Self::Password,
            "pass" => Self::Pass,
            "header" => Self::Header,
            "pin" => Self::Pin,
            _ => Self::Token,
        }
    }
}

/// A name that stands in a text.
pub(super) struct NameInText<'a> {
    pub(super) text: Text<'a>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The name as the table writes it.
    pub(super) anchor: &'static str,
    pub(super) row: TableRow,
}

/// Bytes between a provider's name and the word that promises its secret.
pub(super) const PROMISE_BYTES_MAX: usize = 40;

/// Words that tell that a key was refused, which nobody says of keys of records.
pub(super) const REFUSALS: [&str; 7] = [
    "unauthorized",
    "http 401",
    "error 401",
    "error: 401",
    "status 401",
    "leaked key",
    "revoked key",
];

/// Words near a PIN that opens something.
const OF_PINS: [&str; 16] = [
    "card", "bank", "unlock", "sim ", "sim-", "door", "alarm", "login", "log in", "user",
    "account", "phone", "my ", "your ", "atm", "safe",
];

/// Bytes of stems that are part of other words as well.
const SHORT_STEM_BYTES_MAX: usize = 5;

pub(super) const NOTHING: BindingScan<Hit> = BindingScan { found: None, values: 0..0 };

impl NameInText<'_> {
    /// Looks for a secret after a name such as `token`.
    pub(super) fn scan_secret(&self) -> BindingScan<Hit> {
        let Self { text, start, end, .. } = *self;
        let kind = NameKind::from_row(&self.row);
        let next = text.at(end);
        let is_large = text.slice(start, end).iter().all(u8::is_ascii_uppercase);
        let continues =
            (next.is_ascii_lowercase() && next != b's') || (is_large && next.is_ascii_uppercase());
        let is_free = || begins_word(text, start);
        let stands = match kind {
            NameKind::Key => !continues && is_free() && !is_data_key(text, start),
            NameKind::Pass => {
                // -deststorepass, but no --bypass
                let is_flagged = || is_flag(text, start) && text.before(start) != b'y';
                !continues && (is_free() || follows_owner(text, start) || is_flagged())
            }
            // A short stem may stand in another word.
            NameKind::Password if self.row.fields[0] == "stem" => {
                self.anchor.len() > SHORT_STEM_BYTES_MAX || is_free()
            }
            NameKind::Password if self.row.fields[0] == "word" => !continues && is_free(),
            NameKind::Pin => is_free() && text.slice(start, end) == b"PIN",
            // `authorization_code` is no header.
            NameKind::Header => !continues && next != b'_',
            NameKind::Token | NameKind::Session | NameKind::Login | NameKind::Password => {
                !continues
            }
        };
        if !stands || is_public(text, start) || self.stands_by_chance() {
            return NOTHING;
        }
        let mut look = scan_bindings(text, start, end, |bound| self.hit(kind, &bound));
        if look.found.is_none() && matches!(kind, NameKind::Password | NameKind::Pass) {
            look.found = used_as(text, start)
                .and_then(|bound| self.hit(kind, &bound))
                .or_else(|| typed_for(text, start).and_then(|bound| self.hit(kind, &bound)))
                .or_else(|| {
                    let places = after_name::PLACES.iter();
                    places
                        .filter_map(|at| at(text, start, end))
                        .find_map(|bound| self.hit(kind, &bound))
                });
        }
        look.found = look.found.filter(|_| !self.is_type());
        look
    }

    /// Tells whether the name is that of a type in a path, as in `aws::Secret`, or of a kind of resource, as in
    /// `arn:…:secret:name`.
    fn is_type(&self) -> bool {
        let name = name_start(self.text, self.start);
        let is_resource = self.text.before(name) == b':'
            && self.text.at(self.end) == b':'
            && self.text.at(self.end + 1) > b' ';
        is_resource || self.text.slice(name.saturating_sub(2), name) == b"::"
    }

    /// Tells whether drawn values near the name are secrets.
    pub(super) fn reaches(&self) -> bool {
        let Self { text, start, end, .. } = *self;
        if self.is_type() || is_public(text, start) || self.stands_by_chance() {
            return false;
        }
        match NameKind::from_row(&self.row) {
            NameKind::Password if self.row.fields[0] == "word" => {
                begins_word(text, start) && !text.at(end).is_ascii_lowercase()
            }
            NameKind::Password | NameKind::Login => true,
            NameKind::Pass => {
                (begins_word(text, start) || follows_owner(text, start))
                    && !text.at(end).is_ascii_lowercase()
            }
            NameKind::Token => self.row.name == "secret",
            _ => false,
        }
    }

    fn hit(&self, kind: NameKind, bound: &BoundValue<'_>) -> Option<Hit> {
        let mut told = *bound;
        told.is_told = self.announces_value(bound);
        let bound = &told;
        let value = accepted(kind, bound)
            .or_else(|| {
                self.is_request_token(kind, bound).then(|| is_password(bound, bound.bond))?
            })
            .filter(|value| kind != NameKind::Session || self.logs_in(value))
            .or_else(|| self.accepted_in_context(kind, bound))?;
        let is_option = bound.tail.windows(3).any(|part| part.starts_with(b" -") && part != b" - ");
        // if len(password) > limit
        let is_compared = !bound.is_quoted
            && self.text.slice(bound.from.saturating_sub(3), bound.from) == b" > "
            && matches!(kind, NameKind::Password | NameKind::Pass)
            && bound.value.iter().all(u8::is_ascii_lowercase);
        // password_hash("…"), pwd_context.verify("…")
        let is_argument = bound.is_quoted && self.text.before(bound.from - 1) == b'(';
        // if password: result = …
        let rest = self.text.run_while(bound.to, 2, |byte| byte == b' ');
        let is_name =
            !bound.is_quoted && self.text.at(rest) == b'=' && self.text.before(bound.from) == b' ';
        let is_other = !is_argument && is_harmless(bound) || is_about(bound.tail);
        if is_other || is_option || is_compared || is_name || self.is_remark_about_id(bound) {
            return None;
        }
        // The pairs of a cookie header are judged one by one (`cookie`).
        let is_cookie = self.anchor == "cookie" && is_pair_of(value);
        if is_cookie || self.is_other_thing(kind, bound) {
            return None;
        }
        let rank = if kind == NameKind::Key { Rank::Hint } else { Rank::Word };
        let end = bound.end(self.text, value.len());
        let to = list_end(self.text, bound, replaced_end(self.text, bound, end));
        // A value and its confirmation on the next line.
        let again = to + 1 + value.len();
        let is_again = self.text.at(to) == b'\n' && self.text.slice(to + 1, again) == value;
        let to = if is_again { again } else { to };
        Some(Hit { rule: self.row.name, from: bound.from, to, rank })
    }

    /// Returns a value that only the words around its name make a secret.
    fn accepted_in_context<'a>(&self, kind: NameKind, bound: &BoundValue<'a>) -> Option<&'a [u8]> {
        let Self { text, start, .. } = *self;
        let value = bound.trimmed();
        let is_beside = bound.bond == Bond::Neighbour;
        // user bob and password X
        if matches!(kind, NameKind::Password | NameKind::Pass) && is_beside && is_login(text, start)
        {
            return is_password(bound, Bond::Sentence);
        }
        // A UUID after an identifier: `heroku_token is …`.
        let is_uuid_told = kind == NameKind::Token
            && matches!(bound.bond, Bond::Sentence | Bond::Identifier)
            && is_uuid(value)
            && is_in_identifier(text, start);
        // Nothing else is called an API key.
        let is_api_key = matches!(self.row.name, "api-key" | "access-key")
            && is_beside
            && !is_ulid(value)
            && (self.row.name == "api-key" || !is_uuid(value))
            && is_random(value, Hint::Strong);
        // error: 401 for key 'X'
        let is_refused = kind == NameKind::Key
            && is_beside
            && bound.is_quoted
            && value.iter().all(u8::is_ascii_alphanumeric)
            && !value.iter().all(u8::is_ascii_hexdigit)
            && is_random(value, Hint::Strong)
            && is_near(text, start, &REFUSALS);
        (is_uuid_told || is_api_key || is_refused).then_some(value)
    }

    /// Tells whether the value of a session's name lets somebody in. UUIDs, what begins with the name itself,
    /// and a digest in a field `"sessionId":` are ids, unless a program is told to send them.
    fn logs_in(&self, value: &[u8]) -> bool {
        let Self { text, start, .. } = *self;
        let quote = text.run_back(start, Charset::new("\"' "), 3);
        let option = text.slice(quote.saturating_sub("--header".len()), quote);
        let is_sent = option.ends_with(b"-H") || option.ends_with(b"--header");
        let is_digest = || value.iter().all(u8::is_ascii_hexdigit) && self.is_session_field();
        let is_id = is_uuid(value)
            || value.starts_with(b"ses_")
            || value.starts_with(b"sess")
            || is_digest();
        is_sent || !is_id
    }

    /// Tells whether a session's name is that of a field of JSON, and not of one that is to be sent.
    fn is_session_field(&self) -> bool {
        let Self { text, start, .. } = *self;
        let end = start + "sessionId".len();
        let quote = text.before(start);
        let closing = end + usize::from(text.at(end) == b'\\');
        let colon = text.run_while(closing + 1, 2, |byte| byte == b' ');
        let before = text.slice(start.saturating_sub(PROMISE_BYTES_MAX), start);
        count(before.len());
        text.slice(start, end).starts_with(b"sessionI")
            && matches!(quote, b'"' | b'\'')
            && text.at(closing) == quote
            && text.at(colon) == b':'
            && !mentions(before, &["cookie", "header", " -b "])
    }

    /// Tells whether the words around a value make it something else: the pin of a chip, a commit, a pass of a
    /// compiler.
    fn is_other_thing(&self, kind: NameKind, bound: &BoundValue<'_>) -> bool {
        let Self { text, start, .. } = *self;
        let value = bound.value;
        let is_digest = matches!(value.len(), 40 | 64) && value.iter().all(u8::is_ascii_hexdigit);
        match kind {
            NameKind::Pin => {
                let is_bound = matches!(bound.bond, Bond::Operator | Bond::Sentence);
                let is_long = is_bound && value.len() > 5;
                !is_long && !is_near(text, start, &OF_PINS)
            }
            NameKind::Pass => {
                let make = ValueStatistics::count(value);
                // A compiler has passes, so that `pass: "inline"` is none, and pwd.getpwnam('nobody') is no assignment.
                let between = text.slice(self.end, bound.from);
                let has = |byte: u8| between.contains(&byte);
                let is_assigned = || {
                    let is_bound =
                        has(b'=') || has(b'|') || has(b'>') || has(b':') && self.anchor != "pass";
                    is_bound && !has(b'(') && !has(b',') && !has(b'.')
                };
                // A line of a note or a file: `pass: value`.
                let is_line = (has(b':') || bound.bond == Bond::Sentence)
                    && bound.is_last
                    && !bound.is_quoted
                    && (make.digits == 0 || make.digits == value.len())
                    && matches!(text.before(start), 0 | b'\n');
                // `pwd` means nothing else, but names a command in lists of them.
                let is_said = matches!(bound.bond, Bond::Sentence | Bond::Neighbour);
                let is_sure =
                    self.anchor == "pwd" && !is_said && !has(b'(') && !has(b',') && !has(b'.');
                // Pass VALUE, … pass: VALUE
                let is_told = has(b':') || bound.bond == Bond::Sentence;
                let is_ended = bound.is_last
                    && (is_told || text.at(start).is_ascii_uppercase())
                    && (is_underived(value) || is_compound(value));
                let is_owned =
                    || text.before(start) == b' ' && follows_owner(text, start.saturating_sub(1));
                let is_part =
                    || text.before(start).is_ascii_alphanumeric() || text.before(start) == b'_';
                !is_login(text, start)
                    && !make.is_strong()
                    && !is_wild(make)
                    && !bound.is_variable_set
                    && !is_assigned()
                    && !is_part()
                    && !is_owned()
                    && !is_line
                    && !is_sure
                    && !is_ended
                    && bound.bond != Bond::Flag
                    && !is_numbered_word(value)
                    && !is_phrase(value)
            }
            NameKind::Token | NameKind::Key if is_digest => {
                is_near(text, start, &OF_COMMITS) || is_near(text, bound.to, &OF_COMMITS)
            }
            _ => false,
        }
    }
}

/// Returns the part of a value that is a secret after a name of a kind.
fn accepted<'a>(kind: NameKind, bound: &BoundValue<'a>) -> Option<&'a [u8]> {
    let value = bound.trimmed();
    let is_loose = matches!(bound.bond, Bond::Sentence | Bond::Neighbour);
    let is_secret = match kind {
        NameKind::Password | NameKind::Pass => return is_password(bound, bound.bond),
        NameKind::Header => is_header(value),
        NameKind::Token | NameKind::Session if is_uuid(value) => !is_loose,
        NameKind::Token if bound.is_variable_set && is_set_secret(value) => true,
        NameKind::Token if bound.is_variable_set => return is_password(bound, bound.bond),
        NameKind::Token
            if !is_uuid(value) && bound.bond != Bond::Neighbour && is_short_token(value) =>
        {
            true
        }
        NameKind::Token if bound.bond == Bond::Identifier => is_random(value, Hint::Weak),
        NameKind::Token if bound.bond == Bond::Neighbour => {
            is_mixed(value) || (bound.is_quoted && is_random(value, Hint::Strong))
        }
        NameKind::Login if is_login_pair(value) => !is_loose,
        NameKind::Token | NameKind::Session | NameKind::Login => is_random(value, Hint::Strong),
        NameKind::Key if is_loose => is_mixed(value),
        NameKind::Key => !is_uuid(value) && is_random(value, Hint::Weak),
        NameKind::Pin if bound.is_last && matches!(bound.bond, Bond::Operator | Bond::Sentence) => {
            return is_password(bound, bound.bond).or_else(|| is_digits(value).then_some(value));
        }
        NameKind::Pin => {
            matches!(bound.bond, Bond::Operator | Bond::Flag | Bond::Sentence) && is_digits(value)
        }
    };
    is_secret.then_some(value)
}

/// Tells whether a value is as many digits as a PIN has.
fn is_digits(value: &[u8]) -> bool {
    (4..=12).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

/// Tells whether the value of a variable can be a secret: letters with digits or marks, and no reference.
fn is_set_secret(value: &[u8]) -> bool {
    let make = ValueStatistics::count(value);
    let refers = value.first().is_none_or(|byte| b"$<{[(*%/.".contains(byte));
    let is_place = value.windows(3).any(|part| part == b"://") || value.contains(&b'/');
    (8..=64).contains(&value.len())
        && make.letters() >= 3
        && (make.marks > 0
            || make.digits >= 2 && (make.upper > 0 && make.lower > 0 || make.switches >= 3))
        && !refers
        && !is_place
        && !is_placeholder(value)
}

/// Tells whether the rest of a name makes its value a digest or the like.
pub(super) fn is_harmless(bound: &BoundValue<'_>) -> bool {
    let is_digest = bound.value.iter().all(u8::is_ascii_hexdigit);
    is_public_name(bound.tail) || (is_digest && mentions(bound.tail, &["commit"]))
}

/// Tells whether a value is a name, `=`, and another value.
fn is_pair_of(value: &[u8]) -> bool {
    let equals = value.iter().position(|byte| *byte == b'=');
    equals.is_some_and(|place| place > 0 && value.get(place + 1).is_some_and(|byte| *byte != b'='))
}
