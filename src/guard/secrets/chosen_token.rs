//! Tokens and secrets that somebody chose: where a value that could be a word is one all the same, and what the words
//! before a name tell of it. Not here: drawn tokens
//! (`named_secret`).

use super::bound_value::{Bond, BoundValue};
use super::context::{NAME_BYTES_MAX, is_in_identifier, mentions, name_start, precedes};
use super::named_secret::{NameInText, NameKind};
use super::password::{is_compound, is_numbered_word, is_short_token, is_underived};
use super::text::count;

/// Bytes of a token that could be a word. Shorter ones are kinds of things.
const TOKEN_BYTES_MIN: usize = 10;

/// Words before a name after which its value follows, and how far before.
const TELLING: [&str; 33] = [
    "use ",
    "using",
    "usa ",
    "connect",
    " mit ",
    "wifi",
    "wlan",
    "ssh",
    "login",
    "chang",
    "set ",
    "set the",
    "rotat",
    "updat",
    "reset",
    "wrong",
    "invalid",
    "incorrect",
    "tried",
    "used ",
    "got ",
    "sent ",
    "old ",
    "typed",
    "with ",
    "needs",
    "gave",
    "given",
    "remember",
    "avec ",
    "con la",
    "com a ",
    "mit de",
];
const TOLD_BYTES_MAX: usize = 24;

/// Tells whether a value is a word that no language and no program derived from another one, or a long number.
fn is_long_word(core: &[u8]) -> bool {
    core.iter().all(u8::is_ascii_digit) || is_underived(core) || is_compound(core)
}

impl NameInText<'_> {
    /// Tells whether the words before a name say that a value follows: it was changed to it, or was tried. In other
    /// languages `to` is a verb.
    pub(super) fn announces_value(&self, bound: &BoundValue<'_>) -> bool {
        // Only a word needs them, and only in a sentence.
        let is_asked = matches!(bound.bond, Bond::Sentence | Bond::Neighbour)
            && matches!(self.row.fields[0], "password" | "pass" | "word" | "stem")
            && bound.value.len() >= TOKEN_BYTES_MIN;
        if !is_asked {
            return false;
        }
        let is_verb = self.row.fields[0] == "stem" && bound.tail.ends_with(b" to ");
        let before = self.text.slice(self.start.saturating_sub(TOLD_BYTES_MAX), self.start);
        is_verb || {
            count(before.len());
            mentions(before, &TELLING)
        }
    }

    /// Tells whether a token stands where a program is sent it: in the query of an address, a header of its own, or an
    /// option.
    pub(super) fn is_request_token(&self, kind: NameKind, bound: &BoundValue<'_>) -> bool {
        // `pullSecrets` lists names.
        let is_one = self.row.name == "secret" && self.text.at(self.end) != b's';
        if is_one && self.is_chosen_secret(bound) {
            return true;
        }
        let text = self.text;
        // A line of a file, a parameter of a connection.
        let is_setting = || {
            let is_line = text.before(bound.from) == b'='
                || text.slice(bound.from.saturating_sub(2), bound.from) == b": ";
            is_line && (bound.is_last || matches!(text.at(bound.to), 0 | b'\n' | b'\r' | b';'))
        };
        let core = bound.trimmed();
        let is_plain = || core.iter().all(u8::is_ascii_alphanumeric);
        let is_long = core.len() >= TOKEN_BYTES_MIN || is_numbered_word(core);
        let is_named = || is_in_identifier(text, self.start) || self.is_compound_name();
        let is_value = kind == NameKind::Token
            && bound.bond == Bond::Operator
            && (bound.is_quoted && text.before(bound.from - 1) != b'(' || is_setting())
            && is_long
            && is_plain();
        let is_header =
            kind == NameKind::Header && bound.bond == Bond::Operator && is_long && is_plain();
        let is_said = kind == NameKind::Token
            && bound.bond == Bond::Sentence
            && bound.is_last
            && is_long
            && is_plain()
            && self.is_compound_name();
        let is_list = text.at(self.end) == b's';
        // token = "value", the token is value
        let is_word = kind == NameKind::Token
            && match bound.bond {
                Bond::Operator => {
                    bound.is_quoted && text.before(bound.from - 1) != b'('
                        || is_setting()
                        || is_named() && self.fills_line(bound)
                }
                Bond::Sentence => bound.is_last,
                _ => false,
            }
            && !is_list
            && is_long
            && is_long_word(core);
        // PHPSESSID=value
        let is_session = kind == NameKind::Session
            && bound.bond == Bond::Operator
            && text.before(bound.from) == b'='
            && is_long
            && is_plain();
        if is_word || is_session || is_header || is_said || is_value && is_named() && !is_list {
            return true;
        }
        if kind != NameKind::Token || bound.bond != Bond::Operator {
            return kind == NameKind::Token
                && bound.bond == Bond::Flag
                && !bound.value.contains(&b'=');
        }
        let name = name_start(self.text, self.start);
        let is_query =
            matches!(self.text.before(name), b'?' | b'&' | b'=') && self.text.at(self.end) == b'=';
        is_query || self.text.is_at(name, "x-")
    }

    /// Tells whether the name is of several words, so that it means nothing but a secret: `api key`, `access token`.
    fn is_compound_name(&self) -> bool {
        const FIRST: [&[u8]; 7] =
            [b"access", b"api", b"auth", b"bearer", b"refresh", b"bot", b"client"];
        self.anchor.contains('^') || FIRST.iter().any(|word| precedes(self.text, self.start, word))
    }

    /// Tells whether the value of a `secret` can be chosen: names of secrets, which stand there too, have dividers.
    fn is_chosen_secret(&self, bound: &BoundValue<'_>) -> bool {
        let core = bound.trimmed();
        let is_bound = match bound.bond {
            Bond::Operator => bound.is_quoted || bound.is_last,
            Bond::Sentence => bound.is_last,
            Bond::Identifier => bound.is_last && self.begins_line(),
            Bond::Flag => true,
            // secret "value";
            Bond::Neighbour => bound.is_quoted && self.text.at(bound.to + 1) == b';',
        } || bound.is_last
            && matches!(bound.bond, Bond::Identifier | Bond::Neighbour)
            && (is_long_word(core) || is_short_token(core));
        is_bound
            && self.text.before(bound.from - 1) != b'('
            && core.len() >= TOKEN_BYTES_MIN
            && (core.len() == bound.value.len() || bound.bond == Bond::Sentence)
            && core.iter().all(u8::is_ascii_alphanumeric)
            || bound.bond != Bond::Neighbour && is_numbered_word(core)
    }

    /// Tells whether the name begins a line that its value ends, as in `api_key = value`.
    fn fills_line(&self, bound: &BoundValue<'_>) -> bool {
        self.begins_line() && matches!(self.text.at(bound.to), 0 | b'\n' | b'\r')
    }

    /// Tells whether the name begins its line.
    fn begins_line(&self) -> bool {
        let name = name_start(self.text, self.start);
        let line = self.text.run_back_while(name, NAME_BYTES_MAX, |byte| byte == b' ');
        matches!(self.text.before(line), 0 | b'\n')
    }
}
