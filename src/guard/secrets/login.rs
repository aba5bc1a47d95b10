//! Passwords among the arguments of programs: `mysql -pPASSWORD`, `echo PASSWORD | docker login --password-stdin`. Not here:
//! options that say what they hold, such as `--password` (`named_secret`), pairs with a user (`login_pair`), and addresses (`user_info`).

use super::bound_value::is_quote;
use super::context::mentions;
use super::hit::Hit;
use super::known_word::names_secret;
use super::login_pair;
use super::text::{Text, count};
use super::typed_word::{
    ARGUMENT_BYTES_MAX, COMMAND_BYTES_MAX, WORDS_MAX, command_before, hit, is_typed, nth_word,
    word_at,
};
use crate::prefilter::TableRow;

/// Bytes before a command that tell what was asked.
const ASKED_BYTES_MAX: usize = 96;

/// Beginnings of statements that set a password, in which it stands without quotes too.
const STATEMENTS: [&str; 7] = [
    "create user ",
    "alter user ",
    "create role ",
    "alter role ",
    "grant ",
    "set role ",
    "connect to ",
];

/// Checks the arguments of a program of the table; its name stands from `start` to `end`.
pub(super) fn password_in_command(
    text: Text<'_>,
    start: usize,
    end: usize,
    row: &TableRow,
) -> Option<Hit> {
    let before = text.before(start);
    let is_member = !text.at(start).is_ascii_alphanumeric();
    // --src-creds jane:PASSWORD
    let is_part = !is_member && before.is_ascii_alphanumeric()
        || matches!(before, b'_' | b'.')
        || before == b'-' && row.fields[1] != "login";
    // A call may be that of a member, or of a longer name.
    if is_part && row.fields[1] != "argument" {
        return None;
    }
    // mysqldump, mysql.exe
    let is_word = text.before(end).is_ascii_alphanumeric();
    let suffix = |byte: u8| is_word && (byte.is_ascii_lowercase() || byte == b'.');
    let begin = text.run_while(end, 16, suffix);
    let line = rest_of(text, begin);
    let [option, shape, _] = row.fields;
    let command = Command { text, start, end, begin, line };
    if let "glued" | "apart" | "both" | "pair" = shape {
        return command.option(option, shape);
    }
    command.shaped(row)
}

/// A command of the table in a text.
struct Command<'a> {
    text: Text<'a>,
    /// Where its name stands in the table's spelling, and where its arguments begin.
    start: usize,
    end: usize,
    begin: usize,
    /// Its arguments.
    line: &'a [u8],
}

impl Command<'_> {
    /// Reads the arguments of a command whose password has a place of its own.
    fn shaped(&self, row: &TableRow) -> Option<Hit> {
        let Self { text, start, end, begin, line } = *self;
        let nth = |number| nth_word(text, begin, number, row.name);
        let after = |option: &[u8]| line.windows(option.len()).position(|part| part == option);
        let option = row.fields[0];
        match row.fields[1] {
            "first" => nth(0),
            "second" => nth(1),
            "third" => nth(2),
            "quoted" => self.statement(row),
            "directive" => self.directive(row),
            "picture" => self.picture(row),
            "login" => login_pair::password_after_slash(text, start, begin),
            "described" => {
                let describes = |part: &[u8]| matches!(part, b": " | b"- " | b"> ");
                let place = line.windows(2).position(describes)?;
                login_pair::password_after_slash(text, start, begin + place + 1)
            }
            "initials" => login_pair::initials(text, end),
            "admin" => login_pair::admin_password(text, start, end),
            "added" => login_pair::added_user_password(text, begin, row.name),
            "oracle" => login_pair::user_and_password(text, begin, row.name),
            "mailbox" => login_pair::mailbox(text, start, end, row.name),
            "set" => {
                let equals = after(b"=")?;
                argument(text, begin + equals + 1, "both").filter(|_| line.contains(&b'\''))
            }
            "last" if text.at(end) != b' ' => None,
            "last" => {
                let last = line.iter().rposition(|byte| *byte == b' ')?;
                nth_word(text, begin + last, 0, row.name)
            }
            "after" => nth_word(text, begin + after(option.as_bytes())?, 1, row.name),
            "upper" => {
                let is_command = text.slice(start, end).iter().all(u8::is_ascii_uppercase)
                    && matches!(text.before(start), 0 | b'\n');
                nth(0).filter(|_| is_command)
            }
            "argument" => {
                quoted_argument(text, end, option).or_else(|| argument_before(text, end, option))
            }
            "encoded" => login_pair::encoded(text, end),
            "expect" => sent(text, start, begin),
            _ => None,
        }
    }

    /// Reads the password of a statement, which may be quoted.
    fn statement(&self, row: &TableRow) -> Option<Hit> {
        let Self { text, start, begin, .. } = *self;
        let (from, to, is_quoted) = word_at(text, begin + 1);
        let told = command_before(text, start, b"\n;");
        let words = if is_quoted { &["user", "grant ", "role "][..] } else { &STATEMENTS };
        let value = text.slice(from, to);
        let value = if is_quoted { value } else { value.strip_suffix(b";").unwrap_or(value) };
        let is_variable = !is_quoted && names_secret(value);
        let is_statement = is_quoted && text.slice(start, start + 10) == b"IDENTIFIED";
        let is_secret =
            (is_statement || mentions(told, words)) && is_typed(value, is_quoted) && !is_variable;
        is_secret.then(|| hit(row.name, from, from + value.len()))?
    }

    /// Reads the last word of a line that the name begins, behind an option.
    fn directive(&self, row: &TableRow) -> Option<Hit> {
        let Self { text, start, begin, line, .. } = *self;
        let begins_line = matches!(text.before(start), 0 | b'\n');
        let place =
            line.windows(row.fields[0].len()).position(|part| part == row.fields[0].as_bytes());
        let last = line.iter().rposition(|byte| *byte == b' ');
        let (place, last) = (place.filter(|_| begins_line)?, last?);
        (last > place).then(|| nth_word(text, begin + last, 0, row.name))?
    }

    /// Reads the password of a picture of a wireless network, whose fields `;` ends.
    fn picture(&self, row: &TableRow) -> Option<Hit> {
        let Self { text, begin, .. } = *self;
        let fields = text.slice(begin, begin + COMMAND_BYTES_MAX);
        let place = fields.windows(3).position(|part| part.eq_ignore_ascii_case(b";p:"))?;
        let from = begin + place + 3;
        let to = text.run_while(from, ARGUMENT_BYTES_MAX, |byte| byte > b' ' && byte != b';');
        is_typed(text.slice(from, to), true).then(|| hit(row.name, from, to))?
    }

    /// Reads the argument of an option.
    fn option(&self, option: &str, shape: &str) -> Option<Hit> {
        let Self { text, begin, line, .. } = *self;
        if option == " " && !line.starts_with(b" ") {
            return None;
        }
        let mut places =
            line.windows(option.len()).enumerate().filter(|(_, part)| *part == option.as_bytes());
        places.find_map(|(place, _)| argument(text, begin + place + option.len(), shape))
    }
}

/// Reads an argument of a call that takes a user and a password, if it is quoted: the one of this number.
fn quoted_argument(text: Text<'_>, place: usize, number: &str) -> Option<Hit> {
    let mut comma = place - 1;
    for _ in 0..number.trim().parse().unwrap_or(1) {
        // "jane".into() is an argument.
        let mut last = 0;
        comma = text.run_while(comma + 1, ARGUMENT_BYTES_MAX, |byte| {
            let is_end = matches!(byte, b',' | b'\n') || byte == b')' && last != b'(';
            last = byte;
            !is_end
        });
        if text.at(comma) != b',' {
            return None;
        }
    }
    let quote = text.run_while(comma + 1, 4, |byte| byte == b' ');
    // b"…", Some("…")
    let call =
        text.run_while(quote, 24, |byte| byte.is_ascii_alphanumeric() || b"_:.".contains(&byte));
    let is_wrapped = call > quote && text.at(call) == b'(' && is_quote(text.at(call + 1));
    let is_marked = call == quote + 1 && is_quote(text.at(call));
    let opening = match () {
        () if is_wrapped => call + 1,
        () if is_marked => call,
        () => quote,
    };
    let (from, to, is_quoted) = word_at(text, opening);
    let is_secret = is_quoted && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("call-password", from, to))?
}

/// Reads the argument before the one of this number, which is missing or no password, if it cannot be anything else.
fn argument_before(text: Text<'_>, place: usize, number: &str) -> Option<Hit> {
    let number =
        number.trim().parse::<usize>().ok()?.checked_sub(1).filter(|number| *number > 0)?;
    quoted_argument(text, place, &number.to_string())
        .filter(|hit| login_pair::is_sure(text.slice(hit.from, hit.to)))
}

/// Reads what a script of `expect` sends after it was asked for a password.
fn sent(text: Text<'_>, start: usize, place: usize) -> Option<Hit> {
    let asked = text.slice(start.saturating_sub(ASKED_BYTES_MAX), start);
    count(asked.len());
    let opening = text.run_while(place, 8, |byte| b" -\\(b".contains(&byte));
    let (from, to, is_quoted) = word_at(text, opening);
    let value = text.slice(from, to);
    // sendline("…") adds the end of the line.
    let is_line = text.is_at(place.saturating_sub("sendline(".len()), "sendline(");
    let value = value
        .strip_suffix(b"\\r")
        .or_else(|| value.strip_suffix(b"\\n"))
        .or_else(|| is_line.then_some(value))?;
    let is_secret =
        is_quoted && mentions(asked, &["assword", "assphrase"]) && is_typed(value, true);
    is_secret.then(|| hit("command-password", from, from + value.len()))?
}

fn rest_of(text: Text<'_>, place: usize) -> &[u8] {
    let ends = |byte: u8| matches!(byte, b'\n' | b'|' | b';');
    text.slice(place, text.run_while(place, COMMAND_BYTES_MAX, |byte| !ends(byte)))
}

/// Reads the value of an option: `glued` to it, `apart`, or both.
fn argument(text: Text<'_>, place: usize, shape: &str) -> Option<Hit> {
    let gap = text.run_while(place, 4, |byte| matches!(byte, b' ' | b'='));
    let fits = match shape {
        "glued" => gap == place,
        "apart" => gap > place,
        _ => true,
    };
    let (mut from, to, is_quoted) = word_at(text, gap);
    if shape == "pair" {
        from += text.slice(from, to).iter().position(|byte| b"%,/".contains(byte))? + 1;
    }
    let is_secret = fits && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("command-password", from, to))?
}

/// Words of commands that read a password from a pipe.
const READERS: [&str; 16] = [
    "su -",
    "gpg",
    "secret",
    "pass",
    "ssh-add",
    "load-key",
    "token",
    "login",
    "sudo -s",
    "cred",
    " pw",
    "_key",
    "auth",
    "kinit",
    "luks",
    "cryptsetup",
];

/// Checks `echo PASSWORD | …`; the value begins after `end`.
pub(super) fn echoed_password(text: Text<'_>, end: usize) -> Option<Hit> {
    let place = text.run_while(end, 8, |byte| matches!(byte, b' ' | b'-' | b'n' | b'e'));
    let (from, to, is_quoted) = word_at(text, place);
    // printf '%s\n' PASSWORD
    let format_end = text.run_while(to, 4, |byte| b"\\n\n\"'".contains(&byte));
    let (from, to, is_quoted) = if text.at(from) == b'%' && text.at(format_end) == b' ' {
        word_at(text, format_end + 1)
    } else {
        (from, to, is_quoted)
    };
    // A password and its confirmation.
    let value = text.slice(from, to);
    let again = to + 1 + value.len();
    let is_again = is_quoted && text.at(to) == b'\n' && text.slice(to + 1, again) == value;
    let to = if is_again { again } else { to };
    let pipe = text.run_while(to, 4, |byte| b" \"'\\\n".contains(&byte));
    // A statement that is sent to a program has more words.
    let spaces = text.slice(from, to).iter().filter(|byte| **byte == b' ').count();
    let reader = (spaces < WORDS_MAX && text.at(pipe) == b'|').then(|| rest_of(text, pipe + 1))?;
    let is_secret = mentions(reader, &READERS) && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("command-password", from, to))?
}

/// Checks `… <<< PASSWORD`; the value begins after `end`.
pub(super) fn here_string(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let reader = command_before(text, start, b"\n");
    let (from, to, is_quoted) = word_at(text, text.run_while(end, 4, |byte| byte == b' '));
    let is_secret = mentions(reader, &READERS) && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("command-password", from, to))?
}
