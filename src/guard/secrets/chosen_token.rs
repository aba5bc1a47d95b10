//! Tokens and secrets that somebody chose: where a value that could be a word is one all the same. Not here: drawn tokens
//! (`named`).

use super::bound_value::{Bond, BoundValue};
use super::context::{NAME_BYTES_MAX, is_in_identifier, name_start};
use super::named::{NameInText, NameKind};
use super::password::is_numbered_word;

/// Bytes of a token that could be a word. Shorter ones are kinds of things.
const TOKEN_BYTES_MIN: usize = 10;

impl NameInText<'_> {
    /// Tells whether a token stands where a program is sent it: in the query of an address, a header of its own, or an
    /// option.
    pub(super) fn is_sent(&self, kind: NameKind, bound: &BoundValue<'_>) -> bool {
        // `pullSecrets` lists names.
        let is_one = self.row.name == "secret" && self.text.at(self.end) != b's';
        if is_one && self.is_chosen_secret(bound) {
            return true;
        }
        let text = self.text;
        // A line of a file, a parameter of a connection.
        let is_setting = || {
            text.before(bound.from) == b'=' && matches!(text.at(bound.to), 0 | b'\n' | b'\r' | b';')
        };
        let is_plain = || bound.value.iter().all(u8::is_ascii_alphanumeric);
        let is_long = bound.value.len() >= TOKEN_BYTES_MIN;
        let is_value = kind == NameKind::Token
            && bound.bond == Bond::Operator
            && (bound.is_quoted && text.before(bound.from - 1) != b'(' || is_setting())
            && is_long
            && is_plain();
        let is_header =
            kind == NameKind::Header && bound.bond == Bond::Operator && is_long && is_plain();
        if is_header || is_value && is_in_identifier(text, self.start) {
            return true;
        }
        if kind != NameKind::Token || bound.bond != Bond::Operator {
            return kind == NameKind::Token
                && bound.bond == Bond::Flag
                && !bound.value.contains(&b'=');
        }
        let name = name_start(self.text, self.start);
        let is_query =
            matches!(self.text.before(name), b'?' | b'&') && self.text.at(self.end) == b'=';
        is_query || self.text.is_at(name, "x-")
    }

    /// Tells whether the value of a `secret` can be chosen: names of secrets, which stand there too, have dividers.
    fn is_chosen_secret(&self, bound: &BoundValue<'_>) -> bool {
        let core = bound.trimmed();
        let is_bound = match bound.bond {
            Bond::Operator => bound.is_quoted || bound.is_last,
            Bond::Sentence => bound.is_last,
            Bond::Identifier => bound.is_last && self.begins_line(),
            Bond::Flag => true,
            Bond::Neighbour => false,
        };
        is_bound
            && self.text.before(bound.from - 1) != b'('
            && core.len() >= TOKEN_BYTES_MIN
            && (core.len() == bound.value.len() || bound.bond == Bond::Sentence)
            && core.iter().all(u8::is_ascii_alphanumeric)
            || bound.bond != Bond::Neighbour && is_numbered_word(core)
    }

    /// Tells whether the name begins its line.
    fn begins_line(&self) -> bool {
        let name = name_start(self.text, self.start);
        let line = self.text.run_back_while(name, NAME_BYTES_MAX, |byte| byte == b' ');
        matches!(self.text.before(line), 0 | b'\n')
    }
}
