//! Passwords among the arguments of a program, which no name stands before: `mysql -pPASSWORD`,
//! `echo PASSWORD | docker login --password-stdin`. Not here: options that say what they hold, such as
//! `--password` (`named`), and `curl -u` (`form`).

use super::hit::{Hit, Rank};
use super::judge::{Make, is_stand_in};
use super::password::is_said_of_passwords;
use super::text::Text;

/// How the value of an option stands behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `-pVALUE`
    Glued,
    /// `-p VALUE`
    Apart,
    /// Either.
    Both,
}

/// An option of a program that takes a password.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command {
    /// How the program, or the program and what it is told to do, is written; three characters at least.
    pub(super) program: &'static str,
    /// The option, with the space before it.
    pub(super) option: &'static str,
    pub(super) shape: Shape,
}

const fn command(program: &'static str, option: &'static str, shape: Shape) -> Command {
    Command { program, option, shape }
}

/// Every option, after the programs' manuals.
pub(super) const COMMANDS: &[Command] = &[
    command("mysql", " -p", Shape::Glued),
    command("mariadb", " -p", Shape::Glued),
    command("sshpass", " -p", Shape::Both),
    command("docker login", " -p", Shape::Apart),
    command("podman login", " -p", Shape::Apart),
    command("nerdctl login", " -p", Shape::Apart),
    command("skopeo login", " -p", Shape::Apart),
    command("buildah login", " -p", Shape::Apart),
    command("registry login", " -p", Shape::Apart),
    command("auth login", " -p", Shape::Apart),
    command("oras login", " -p", Shape::Apart),
    command("oc login", " -p", Shape::Apart),
    command("cf login", " -p", Shape::Apart),
    command("az login", " -p", Shape::Apart),
    command("twine upload", " -p", Shape::Apart),
    command("evil-winrm", " -p", Shape::Apart),
    command("crackmapexec", " -p", Shape::Apart),
    command("psexec", " -p", Shape::Apart),
    command("rdesktop", " -p", Shape::Apart),
    command("xfreerdp", " /p:", Shape::Glued),
    command("cqlsh", " -p", Shape::Apart),
    command("mongo", " -p", Shape::Apart),
    command("mongosh", " -p", Shape::Apart),
    command("mongodump", " -p", Shape::Apart),
    command("mongorestore", " -p", Shape::Apart),
    command("mongoexport", " -p", Shape::Apart),
    command("mongoimport", " -p", Shape::Apart),
    command("redis-cli", " -a", Shape::Apart),
    command("valkey-cli", " -a", Shape::Apart),
    command("keydb-cli", " -a", Shape::Apart),
    command("openssl", " -k", Shape::Apart),
    command("openssl", " pass:", Shape::Glued),
    command("sqlcmd", " -P", Shape::Both),
    command("isql", " -P", Shape::Both),
    command("mosquitto_pub", " -P", Shape::Apart),
    command("mosquitto_sub", " -P", Shape::Apart),
    command("ldapsearch", " -w", Shape::Apart),
    command("ldapmodify", " -w", Shape::Apart),
    command("ldapadd", " -w", Shape::Apart),
    command("ldapdelete", " -w", Shape::Apart),
    command("ldapwhoami", " -w", Shape::Apart),
    command("ldappasswd", " -w", Shape::Apart),
    command("ldappasswd", " -s", Shape::Apart),
    command("ipmitool", " -P", Shape::Apart),
    command("snmpwalk", " -A", Shape::Apart),
    command("snmpwalk", " -X", Shape::Apart),
    command("snmpget", " -A", Shape::Apart),
    command("snmpget", " -X", Shape::Apart),
    command("zip", " -P", Shape::Apart),
    command("unzip", " -P", Shape::Apart),
    command("7z a", " -p", Shape::Glued),
    command("7z x", " -p", Shape::Glued),
    command("7za", " -p", Shape::Glued),
    command("unrar", " -p", Shape::Glued),
    command("plink", " -pw", Shape::Apart),
    command("pscp", " -pw", Shape::Apart),
    command("psftp", " -pw", Shape::Apart),
    command("keytool", " -storepass", Shape::Apart),
    command("keytool", " -keypass", Shape::Apart),
    command("jarsigner", " -storepass", Shape::Apart),
    command("jarsigner", " -keypass", Shape::Apart),
    command("rclone obscure", " ", Shape::Glued),
    command("vault login", " ", Shape::Glued),
    command("cargo login", " ", Shape::Glued),
    command("convertto-securestring", " ", Shape::Glued),
];

/// How far a command is read behind the name of its program.
const COMMAND_BYTES_MAX: usize = 256;

/// The longest password that is typed.
const ARGUMENT_BYTES_MAX: usize = 128;

/// Looks for the password of a command; its program stands from `start` to `end`.
pub(super) fn found(text: Text<'_>, start: usize, end: usize, command: &Command) -> Option<Hit> {
    let before = text.before(start);
    if before.is_ascii_alphanumeric() || matches!(before, b'_' | b'-' | b'.') {
        return None;
    }
    // mysqldump, mysql.exe
    let begin = text.run_while(end, 16, |byte| byte.is_ascii_lowercase() || byte == b'.');
    let line = rest_of(text, begin);
    let option = command.option.as_bytes();
    let mut places = line.windows(option.len()).enumerate().filter(|(_, part)| *part == option);
    places.find_map(|(place, _)| argument(text, begin + place + option.len(), command.shape))
}

fn rest_of(text: Text<'_>, place: usize) -> &[u8] {
    let ends = |byte: u8| matches!(byte, b'\n' | b'|' | b';');
    text.slice(place, text.run_while(place, COMMAND_BYTES_MAX, |byte| !ends(byte)))
}

fn argument(text: Text<'_>, place: usize, shape: Shape) -> Option<Hit> {
    let gap = text.run_while(place, 4, |byte| matches!(byte, b' ' | b'='));
    let fits = match shape {
        Shape::Glued => gap == place,
        Shape::Apart => gap > place,
        Shape::Both => true,
    };
    let (from, to, is_quoted) = word_at(text, gap);
    let value = text.slice(from, to);
    (fits && is_typed(value, is_quoted)).then_some(hit(from, to))
}

fn hit(from: usize, to: usize) -> Hit {
    Hit { rule: "command-password", from, to, rank: Rank::Form }
}

/// Reads one argument, behind its opening quote.
fn word_at(text: Text<'_>, place: usize) -> (usize, usize, bool) {
    let quote = text.at(place);
    let is_quoted = matches!(quote, b'"' | b'\'');
    let from = place + usize::from(is_quoted);
    let to = text.run_while(from, ARGUMENT_BYTES_MAX, |byte| match byte {
        _ if is_quoted => byte != quote && byte != b'\n',
        b'"' | b'\'' | b'`' | b'\\' | b')' => false,
        _ => byte > b' ',
    });
    (from, to, is_quoted)
}

/// Tells whether an argument can be a password: no reference, option, stand-in or word of a sentence.
fn is_typed(value: &[u8], is_quoted: bool) -> bool {
    let refers = value.first().is_none_or(|byte| b"$<{[(-*%/".contains(byte));
    let make = Make::of(value);
    let is_number = make.digits == value.len() && value.len() < 6;
    let letters = value.iter().filter(|byte| !b".,:!?".contains(byte)).count();
    let is_word = !is_quoted && make.lower == letters && letters < 6;
    value.len() >= 4
        && !refers
        && !is_number
        && !is_word
        && !is_stand_in(value)
        && !is_said_of_passwords(value)
}

/// What reads a password from the program before it.
const READERS: [&str; 10] = [
    "secret",
    "password",
    "passwd",
    "passphrase",
    "token",
    "login",
    "sudo -s",
    "credential",
    "_key",
    "auth",
];

/// Looks for `echo PASSWORD | …`; the value begins behind `end`.
pub(super) fn echoed(text: Text<'_>, end: usize) -> Option<Hit> {
    let place = text.run_while(end, 8, |byte| matches!(byte, b' ' | b'-' | b'n'));
    let (from, to, is_quoted) = word_at(text, place);
    let pipe = text.run_while(to, 4, |byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\'));
    let reader = (text.at(pipe) == b'|').then(|| rest_of(text, pipe + 1))?;
    let value = text.slice(from, to);
    (is_read(reader) && is_typed(value, is_quoted)).then_some(hit(from, to))
}

/// Looks for `… <<< PASSWORD`; the value begins behind `end`.
pub(super) fn here(text: Text<'_>, start: usize, end: usize) -> Option<Hit> {
    let is_line = |byte: &u8| *byte != b'\n';
    let before = text.slice(start.saturating_sub(ARGUMENT_BYTES_MAX), start);
    let line = before.iter().rev().take_while(|byte| is_line(byte)).count();
    let reader = text.slice(start - line, start);
    let (from, to, is_quoted) = word_at(text, text.run_while(end, 4, |byte| byte == b' '));
    (is_read(reader) && is_typed(text.slice(from, to), is_quoted)).then_some(hit(from, to))
}

/// Looks for the last field of a line of `.pgpass`, whose third begins at `place`.
pub(super) fn pgpass(text: Text<'_>, place: usize) -> Option<Hit> {
    let field = |from: usize| {
        let end = text.run_while(from, ARGUMENT_BYTES_MAX, |byte| byte > b' ' && byte != b':');
        (end > from && text.at(end) == b':').then_some(end + 1)
    };
    let (from, to, _) = word_at(text, field(field(place)?)?);
    is_typed(text.slice(from, to), true).then_some(hit(from, to))
}

fn is_read(reader: &[u8]) -> bool {
    READERS.iter().any(|word| {
        reader.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    })
}
