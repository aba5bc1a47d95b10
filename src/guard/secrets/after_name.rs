//! Values after their name with words between the two: in the comment of a command, after a user, in a here-document, and
//! where somebody is told to type one. Not here: values that an operator, a verb or a space binds (`binding`).

use super::binding::value_at;
use super::bound_value::{Bond, BoundValue};
use super::charset::URL;
use super::context::{NAME_BYTES_MAX, ends_line, is_flag, is_identifier, name_start};
use super::text::{Text, count, words};

/// Bytes from a name to the end of its line.
const LINE_BYTES_MAX: usize = 120;

/// Bytes of words between a name and the verb that tells to type its value.
const INSTRUCTION_BYTES_MAX: usize = 48;

/// Bytes of a user between a name and its value, and of the spaces around one.
const USER_BYTES_MAX: usize = 32;
const GAP_BYTES_MAX: usize = 8;

/// Words of network devices that tell how a password is written.
const TYPES: &str =
    "cipher simple plain plaintext cleartext irreversible-cipher unencrypted-password";

/// Looks for a value after the name that stands between two places.
type ValuePlace = fn(Text<'_>, usize, usize) -> Option<BoundValue<'_>>;

/// Every place of a value that words part from its name.
pub(super) const PLACES: [ValuePlace; 4] =
    [value_in_comment, value_to_type, after_user, in_here_document];

/// A value that is a whole comment, or that a program names at last: `adduser jane --password  # VALUE`.
fn value_in_comment(text: Text<'_>, _start: usize, end: usize) -> Option<BoundValue<'_>> {
    const MARKS: [&[u8]; 4] = [b" # ", b" // ", b" -- ", b" value: "];
    let rest = line_after(text, end);
    let place = MARKS.iter().find_map(|mark| {
        Some(rest.windows(mark.len()).rposition(|part| part == *mark)? + mark.len())
    })?;
    last_word(text, end + place)
}

/// A value that somebody is told to type: `it asks for a password, enter VALUE`.
fn value_to_type(text: Text<'_>, _start: usize, end: usize) -> Option<BoundValue<'_>> {
    const VERBS: [&[u8]; 7] =
        [b" enter ", b" type ", b" use ", b" try ", b" say ", b" answer ", b" expected "];
    let instruction = text.slice(end, end + INSTRUCTION_BYTES_MAX);
    count(instruction.len());
    let place = VERBS.iter().find_map(|verb| {
        Some(instruction.windows(verb.len()).position(|part| part == *verb)? + verb.len())
    })?;
    let is_near = instruction
        .get(..place)?
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b',' | b':'));
    last_word(text, end + place).filter(|_| is_near)
}

/// A value after a user whose password it is: `set_password jane VALUE`. In prose the name would begin a sentence.
fn after_user(text: Text<'_>, start: usize, end: usize) -> Option<BoundValue<'_>> {
    let (name, name_end) = (name_start(text, start), text.run(end, URL, NAME_BYTES_MAX));
    let whole = text.slice(name, name_end);
    let is_command =
        is_identifier(whole) || is_flag(text, start) || matches!(text.before(name), 0 | b'\n');
    // PasswordError extends RuntimeException
    let is_command = is_command && !text.at(name).is_ascii_uppercase() || !whole.is_ascii();
    let is_gap = |byte: u8| byte == b' ';
    let user = text.run_while(name_end, GAP_BYTES_MAX, is_gap);
    let user_end = text.run_while(user, USER_BYTES_MAX, |byte| byte > b' ');
    let value = text.run_while(user_end, GAP_BYTES_MAX, is_gap);
    let is_user = user > name_end
        && value > user_end
        && text
            .slice(user, user_end)
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.@:/".contains(byte));
    // password cipher VALUE
    let is_typed = || words(TYPES).any(|word| word == text.slice(user, user_end));
    last_word(text, value).filter(|_| is_user && (is_command || is_typed()))
}

/// A value that is the first line of a here-document: `passwd jane <<END`, then the value.
fn in_here_document(text: Text<'_>, _start: usize, end: usize) -> Option<BoundValue<'_>> {
    let rest = line_after(text, end);
    let place = rest.windows(2).position(|pair| pair == b"<<")?;
    let is_document = rest.get(place + 2).is_some_and(|byte| *byte != b'<');
    let line = end + rest.len() + 1;
    last_word(text, text.run_while(line, GAP_BYTES_MAX, |byte| byte == b' '))
        .filter(|_| is_document)
}

fn line_after(text: Text<'_>, place: usize) -> &[u8] {
    text.slice(place, text.run_while(place, LINE_BYTES_MAX, |byte| byte != b'\n'))
}

/// Reads a value that fills the rest of its line.
fn last_word(text: Text<'_>, place: usize) -> Option<BoundValue<'_>> {
    let mut bound = value_at(text, place, Bond::Neighbour, b"")?;
    let end = bound.to + usize::from(bound.is_quoted);
    bound.is_last = true;
    ends_line(text, end).then_some(bound)
}

#[cfg(test)]
mod tests {
    use super::super::redacted;

    // S-WRITE-8
    #[test]
    fn words_may_part_a_name_from_its_value() {
        let secret = ["copper", "lantern"].concat();
        for text in [
            format!("smbpasswd -a jane  # {secret}"),
            format!("it asks for a password, enter {secret}"),
            format!("password mismatch: expected {secret}"),
            format!("shadow.set_password jane {secret}"),
            format!("local-user jane password cipher {secret}"),
            format!("the password that worked in the end was {secret}."),
            format!("cat > ~/.vault_pass <<END\n{secret}\nEND"),
            format!("passwd jane <<END\n{secret}\n{secret}\nEND"),
            format!("restic --password-command 'echo {secret}'"),
            format!("passwords: [{secret}]"),
            format!("set SMBPass {secret}"),
            format!("mit dem Passwort {secret} geht es"),
        ] {
            assert!(!redacted(&text).contains(&secret), "{}", redacted(&text));
        }
    }

    #[test]
    fn words_behind_a_name_stay() {
        for text in [
            "PasswordError extends RuntimeException",
            "the password dialog of KeePassXC",
            "password_hash: str  # noqa: S105",
            "ask for the password, use environment variables",
            "password: value  # deprecated",
            "mysql --password <<END\nselect 1;\nEND",
            "the password that is required",
            "password: [string]",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
