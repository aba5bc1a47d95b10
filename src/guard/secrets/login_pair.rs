//! A user and a password side by side among the arguments of programs and in notes: `login: bob / PASSWORD`,
//! `-u bob -p PASSWORD`, `conn bob/PASSWORD`. Not here: which words stand before them (`tables/commands.txt`).

use super::charset::WORD;
use super::hit::Hit;
use super::password::{is_compound, is_marked, is_numbered_word, is_phrase, is_underived};
use super::text::Text;
use super::typed_word::{ARGUMENT_BYTES_MAX, command_before, hit, is_typed, nth_word, word_at};
use super::value_statistics::ValueStatistics;

/// Bytes of a word that is a password though nothing else says so.
const ALONE_BYTES_MIN: usize = 8;

/// Reads the password after a user name and a slash.
pub(super) fn password_after_slash(text: Text<'_>, start: usize, place: usize) -> Option<Hit> {
    let is_gap = |byte: u8| matches!(byte, b' ' | b'`' | b'*');
    let name = text.run_while(place, 4, is_gap);
    let name_end = text.run_while(name, 64, |byte| byte > b' ' && !b"/:`(<".contains(&byte));
    let slash = text.run_while(name_end, 3, is_gap);
    let value = text.run_while(slash + 1, 3, is_gap);
    // log in as jane with VALUE, the credentials are jane and VALUE
    let parting = [" with ", " and "].into_iter().find(|word| text.is_at(name_end, word));
    let is_with = parting.is_some();
    let value = parting.map_or(value, |word| name_end + word.len());
    let is_pair = is_with
        || text.at(slash) == b'/'
            && (value > slash + 1 || text.at(place) == b' ' || text.before(place) == b' ')
        || text.at(slash) == b':' && value == slash + 1 && slash == name_end;
    let (from, to, is_quoted) = word_at(text, value);
    let make = ValueStatistics::count(text.slice(from, to));
    let is_told = is_numbered_word(text.slice(from, to)) || is_phrase(text.slice(from, to));
    // Two words that fill the rest of the line are a user and a password; `fix/frontend` is a branch.
    // `user/password:` says what follows.
    let is_told = is_told || text.slice(start, place).contains(&b'/');
    let is_path = text.at(slash) == b'/' && value == slash + 1 && make.lower == to - from;
    let is_alone = !is_path
        && to - from >= ALONE_BYTES_MIN
        && (matches!(text.at(to), 0 | b'\n' | b'`' | b'"')
            || text.at(slash) == b':' && text.at(to) == b' ')
        && text.slice(from, to).iter().all(u8::is_ascii_alphanumeric);
    let is_chosen = is_quoted
        || is_told
        || is_alone
        || make.is_strong()
        || make.is_unlike_words(50)
        || is_with && (is_compound(text.slice(from, to)) || is_underived(text.slice(from, to)));
    let is_secret = name_end > name
        && text.at(name) != b'-'
        && is_pair
        && (parting != Some(" and ") || is_sure(text.slice(from, to)))
        && is_chosen
        && is_typed(text.slice(from, to), is_quoted);
    is_secret.then(|| hit("login-password", from, to))?
}

/// Tells whether a value beside a user is a password though nothing else says so.
pub(super) fn is_sure(value: &[u8]) -> bool {
    let make = ValueStatistics::count(value);
    let is_number = make.digits == value.len() && (9..=11).contains(&value.len());
    make.is_drawn()
        || is_number
        || is_underived(value)
        || is_compound(value)
        || is_numbered_word(value)
        || is_marked(value)
}

/// Reads the password after the name of an administrator, as in `root:PASSWORD` and `admin / PASSWORD`.
pub(super) fn admin_password(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let place = text.run_while(end, 1, |byte| byte == b' ');
    let is_ended = |byte: u8| byte <= b' ' || b"\"'`,;)<|".contains(&byte);
    let to = text.run_while(place, ARGUMENT_BYTES_MAX, |byte| !is_ended(byte));
    let value = text.slice(place, to);
    // `admin: value` is a line of YAML, and `/admin/value` a path.
    let is_glued = text.before(end) == b':';
    let is_secret = is_glued == (place == end)
        && text.before(start) != b'/'
        && !value.iter().any(|byte| matches!(byte, b':' | b'/'))
        && is_sure(value)
        && is_typed(value, false);
    is_secret.then(|| hit("login-password", place, to))?
}

/// Reads a user and a password that code encodes as one text: `btoa("jane:PASSWORD")`.
pub(super) fn encoded(text: Text<'_>, place: usize) -> Option<Hit> {
    let quote = text.run_while(place, 1, |byte| matches!(byte, b'b' | b'f'));
    let (from, to, is_quoted) = word_at(text, quote);
    let user = text.run_while(from, ARGUMENT_BYTES_MAX, |byte| {
        byte.is_ascii_alphanumeric() || b"._@-".contains(&byte)
    });
    let value = text.slice(user + 1, to);
    let is_pair = is_quoted && user > from && text.at(user) == b':' && !value.contains(&b' ');
    let is_secret = is_pair && !value.contains(&b'/') && value.len() > 5 && is_typed(value, true);
    is_secret.then(|| hit("call-password", user + 1, to))?
}

/// Reads the password behind the name of a user that is added: `users add jane PASSWORD`.
pub(super) fn added_user_password(text: Text<'_>, place: usize, rule: &'static str) -> Option<Hit> {
    nth_word(text, place, 1, rule).filter(|hit| is_sure(text.slice(hit.from, hit.to)))
}

/// Reads the password after a user and a slash, as programs of Oracle take them, before a service or the end.
pub(super) fn user_and_password(text: Text<'_>, place: usize, rule: &'static str) -> Option<Hit> {
    let user = text.run_while(place, 4, |byte| byte == b' ');
    let slash = text.run(user, WORD, ARGUMENT_BYTES_MAX);
    let to = text.run_while(slash + 1, ARGUMENT_BYTES_MAX, |byte| {
        byte > b' ' && !b"@/\"'`,;)".contains(&byte)
    });
    let value = text.slice(slash + 1, to);
    let is_chosen = text.at(to) == b'@'
        || is_underived(value)
        || is_compound(value)
        || ValueStatistics::count(value).digits > 0;
    let is_secret = slash > user
        && text.at(slash) == b'/'
        && text.at(to) != b'/'
        && is_chosen
        && is_typed(value, false);
    is_secret.then(|| hit(rule, slash + 1, to))?
}

/// Reads the password in `u: jane p: PASSWORD`, also on the next line.
pub(super) fn initials(text: Text<'_>, place: usize) -> Option<Hit> {
    let user = text.run_while(place, 4, |byte| byte == b' ');
    let user_end = text.run_while(user, 64, |byte| byte > b' ' && !b",;|".contains(&byte));
    let next = text.run_while(user_end, 4, |byte| b" ,;|/\n\r".contains(&byte));
    let is_initial = user_end > user && next > user_end && text.is_at(next, "p:");
    is_initial.then(|| nth_word(text, next + "p:".len(), 0, "login-password"))?
}

/// Reads the password of the command of a mailbox (RFC 3501): a tag, `LOGIN`, a user and the password.
pub(super) fn mailbox(text: Text<'_>, start: usize, end: usize, rule: &'static str) -> Option<Hit> {
    let is_tag = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
    let tag = text.run_back_while(start.saturating_sub(1), 8, is_tag);
    let is_tagged = text.before(start) == b' '
        && text.slice(tag, start).iter().any(u8::is_ascii_digit)
        && matches!(text.before(tag), 0 | b'\n' | b' ' | b'"');
    let is_command = text.slice(start, end) == b"LOGIN" && is_tagged;
    is_command.then(|| nth_word(text, end, 1, rule))?
}

/// Checks a line of the secrets of PPP: a client, a server, a secret and addresses, of which `*` means any.
pub(super) fn ppp_secret(text: Text<'_>, place: usize) -> Option<Hit> {
    let line = text.run_back_while(place, ARGUMENT_BYTES_MAX, |byte| byte != b'\n');
    let end = text.run_while(place, ARGUMENT_BYTES_MAX, |byte| byte != b'\n');
    let mut words =
        text.slice(line, end).split(|byte| b" \t".contains(byte)).filter(|word| !word.is_empty());
    let [client, server, secret, addresses] =
        [words.next()?, words.next()?, words.next()?, words.next()?];
    let bare = |word| -> &[u8] {
        let inner: Option<&[u8]> = <[u8]>::strip_prefix(word, b"\"");
        inner.and_then(|word| word.strip_suffix(b"\"")).unwrap_or(word)
    };
    let is_address = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let is_any = addresses == b"*" || addresses.len() > 6 && addresses.iter().all(is_address);
    let names = |word: &[u8]| {
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._@-".contains(byte);
        word.len() > 1 && word.iter().all(is_name)
    };
    let is_line = words.next().is_none()
        && is_any
        && (server == b"*" || names(bare(server)) && addresses == b"*")
        && names(bare(client))
        && is_typed(bare(secret), true);
    let from = text.slice(line, end).windows(secret.len()).rposition(|part| part == secret)?;
    let from = line + from + usize::from(bare(secret).len() < secret.len());
    is_line.then(|| hit("command-password", from, from + bare(secret).len()))?
}

/// Options that name the user of a program, and how many pairs of options may stand between two.
const USER_OPTIONS: [&[u8]; 9] =
    [b"-l", b"-u", b"-U", b"--user", b"--username", b"-user", b"-username", b"--login", b"-login"];
const PAIRS_MAX: usize = 4;

/// Checks `-p PASSWORD` of any program that was told a user before it: `-u jane -h db1 -p PASSWORD`.
pub(super) fn option_password(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let command = command_before(text, start, b"\n|;");
    let words = || command.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let mut pairs = words().rev();
    let is_user_told = (0..PAIRS_MAX).find_map(|_| {
        let (value, option) = (pairs.next()?, pairs.next()?);
        let is_pair = option.starts_with(b"-") && !value.starts_with(b"-");
        (!is_pair || USER_OPTIONS.contains(&option)).then_some(is_pair)
    });
    // tool login host jane -p PASSWORD
    let logs_in = || {
        words().skip(1).take(PAIRS_MAX).any(|word| matches!(word, b"login" | b"logon" | b"signin"))
    };
    let is_told = is_user_told == Some(true) || logs_in();
    let gap = text.run_while(end, 4, |byte| byte == b' ');
    let (from, to, is_quoted) = word_at(text, gap);
    let value = text.slice(from, to);
    // -p 8080:80, -p src/main
    let is_port = value.iter().all(|byte| byte.is_ascii_digit() || b".:-/".contains(byte));
    let is_path = value.contains(&b'/') && !is_quoted;
    let is_option = gap > end && text.at(start + 1) == b'-';
    let is_secret = is_told
        && is_option
        && (!is_port || value.iter().all(u8::is_ascii_digit))
        && !is_path
        && is_typed(value, is_quoted);
    is_secret.then(|| hit("command-password", from, to))?
}

#[cfg(test)]
mod tests {
    use super::super::redacted;

    // S-WRITE-8
    #[test]
    fn passwords_beside_a_user_go() {
        let secret = ["copper", "lantern"].concat();
        for text in [
            format!("root:{secret}"),
            format!("admin / {secret}"),
            format!("the credentials are jane and {secret}"),
            format!("users add jane {secret}"),
            format!("conan remote login corp jane -p {secret}"),
            format!("btoa(\"jane:{secret}\")"),
            format!("db.connect('scott', '{secret}', 'db')"),
            format!("composer config http-basic.corp jane {secret}"),
        ] {
            assert!(!redacted(&text).contains(&secret), "{}", redacted(&text));
        }
    }

    #[test]
    fn words_beside_a_user_stay() {
        for text in [
            "chown root:www-data x",
            "admin / settings / users",
            "admin and superuser",
            "root:x:0:0:root:/root:/bin/bash",
            "user add members to a group",
            "mkdir -p login/session",
            "Buffer.from('data:text/plain,hello')",
            "db.connect('localhost', 'sales', 5432)",
            "log in with mail and telephone",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
