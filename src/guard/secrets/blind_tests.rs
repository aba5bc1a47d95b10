//! Secrets in forms that were written before any rule was tried on them, in contexts, and in a grid of names and forms. Ten
//! kinds of values go into each. Not here: forms that rules were made for (`daily`).

use super::charset::{ALNUM, BASE64, Charset};
use super::redacted;
use super::table::{TableKind, rows};
use super::tests::drawn;
use crate::prefilter::TableRow;

/// Rules may be made with the first half of the forms, and none with the second. 501 of 2,050 and 545 of 2,060 values
/// survived before.
const DEV: &str = include_str!("blind_dev.txt");
const TEST: &str = include_str!("blind_test.txt");
/// Forms of a day later, which rules were made with.
const MORE: &str = include_str!("blind_more.txt");
/// Forms of the same day in all kinds of programs, files and sentences.
const WIDE: &str = include_str!("blind_wide.txt");
/// Forms in which `N` is a name and `{}` its value.
const GRID: &str = include_str!("grid.txt");
/// Forms of assignments, keys and columns in which `N` is a name of the table.
const BOUND: &str = "N={}#N: {}#\"N\": \"{}\"#N = \"{}\"#--N={}#| host | N |\\n|---|---|\\n| h1 | {} |#host,N\\nh1,{}#N → {}";
/// What parts the words of a name.
const PARTINGS: [&str; 4] = ["_", "-", " ", ""];

/// What a form is put into.
#[derive(Clone, Copy, Debug)]
enum Context {
    Alone,
    Sentence,
    Log,
    ListItem,
    Json,
}

const CONTEXTS: [Context; 5] =
    [Context::Alone, Context::Sentence, Context::Log, Context::ListItem, Context::Json];

impl Context {
    fn around(self, text: &str) -> String {
        match self {
            Self::Alone => text.to_owned(),
            Self::Sentence => format!("While setting it up I noticed this: {text}"),
            Self::Log => format!("2026-03-04T10:11:12.345Z INFO [main] app: {text}"),
            Self::ListItem => format!("- {}", text.replace('\n', "\n  ")),
            Self::Json => format!("{{\"text\": {text:?}}}"),
        }
    }

    /// A value as the context writes it.
    fn written(self, value: &str) -> String {
        match self {
            Self::Json => value.escape_debug().to_string(),
            _ => value.to_owned(),
        }
    }
}

/// Names that mean a chosen secret.
const NAMES: &str = "password passwd passphrase db_password DB_PASSWORD dbPassword db-password \
    spring.mail.password adminPwd root_pass userpass SMTP_PASS psk Passwort contraseña пароль 密码";

/// A value of each kind.
fn values() -> [(&'static str, String); 10] {
    const MARKED: Charset = ALNUM.and("!@#$%^&*");
    const HEX: Charset = Charset::new("0123456789abcdef");
    const DIGITS: Charset = Charset::new("0123456789");
    [
        ("letters and digits", drawn(ALNUM, 15, 5)),
        ("with marks", format!("h{}W", drawn(MARKED, 13, 6))),
        ("two words", ["copper", "lantern"].concat()),
        ("capitalised words", ["Marble", "Harbor", "Kite"].concat()),
        ("digits", format!("7{}", drawn(DIGITS, 9, 7))),
        ("eight letters and digits", format!("{}7", drawn(ALNUM, 7, 8))),
        ("hexadecimal", drawn(HEX, 32, 9)),
        ("base64", format!("{}==", drawn(BASE64, 22, 10))),
        ("words and marks", ["Ra$ven", "#73&", "mea@dow"].concat()),
        ("word, year and mark", ["Meadow", "2031!"].concat()),
    ]
}

/// Writes a value as an address or markup would.
fn written(form: &str, value: &str) -> String {
    let is_address = form.contains("://") || form.contains("&pass") || form.contains("={}&");
    let escape = |letter: char| match letter {
        '/' | '+' | '#' | '&' | '@' | '$' | '%' | '?' | '=' | '^' | '!' | '*' if is_address => {
            format!("%{:02X}", u32::from(letter))
        }
        '&' if form.contains("</") || form.contains("/>") => "&amp;".to_owned(),
        _ => letter.to_string(),
    };
    value.chars().map(escape).collect()
}

/// Returns how many values there are in all forms, and those that survive, each with its form.
fn surviving<'a>(
    forms: impl Iterator<Item = String> + 'a,
    contexts: &[Context],
) -> (usize, Vec<String>) {
    let (mut all, mut alive) = (0, Vec::new());
    for form in forms {
        for (kind, value) in values() {
            let value = written(&form, &value);
            let text = form.replace("\\n", "\n").replace("\\t", "\t").replace("{}", &value);
            for context in contexts {
                all += 1;
                if leaks(&redacted(&context.around(&text)), &context.written(&value)) {
                    alive.push(format!("{form}  ({kind}, {context:?})"));
                }
            }
        }
    }
    (all, alive)
}

/// Whether eight characters on end of a value are left.
fn leaks(clean: &str, value: &str) -> bool {
    let runs = value.as_bytes().windows(value.len().min(8));
    runs.into_iter().any(|run| clean.as_bytes().windows(run.len()).any(|part| part == run))
}

fn forms(list: &str) -> impl Iterator<Item = String> {
    let is_comment = |line: &&str| line.starts_with("# ") && !line.contains("{}");
    list.lines().filter(move |line| !line.is_empty() && !is_comment(line)).map(str::to_owned)
}

// S-WRITE-8
#[test]
fn few_values_survive_in_forms_written_before_the_rules() {
    for (name, list, most_percent) in
        [("development", DEV, 1), ("wide", WIDE, 5), ("test", TEST, 3)]
    {
        let (all, alive) = surviving(forms(list), &CONTEXTS[..1]);
        println!("{name}: {} of {all} survive", alive.len());
        assert!(alive.len() * 100 <= all * most_percent, "{name}: {} of {all}", alive.len());
    }
}

// S-WRITE-8
#[test]
fn few_values_survive_in_any_context() {
    for (name, list, most_percent) in
        [("development", DEV, 1), ("later", MORE, 3), ("test", TEST, 3)]
    {
        let (all, alive) = surviving(forms(list), &CONTEXTS);
        for context in CONTEXTS {
            let here = format!(", {context:?})");
            let alive = alive.iter().filter(|line| line.ends_with(&here)).count();
            println!("{name}, {context:?}: {alive} of {} survive", all / CONTEXTS.len());
        }
        println!("{name}, all contexts: {} of {all} survive", alive.len());
        assert!(alive.len() * 100 <= all * most_percent, "{name}: {} of {all}", alive.len());
    }
}

// S-WRITE-8
#[test]
fn a_name_binds_whatever_parts_its_words() {
    let is_bound = |row: &TableRow| row.fields[0] == "stem" || row.fields[0] == "password";
    let anchors = rows(TableKind::Name).filter(is_bound).flat_map(|row| row.anchors.split(','));
    let names: Vec<String> = anchors
        .filter(|anchor| !anchor.starts_with([' ', '_', '-']) && !anchor.contains(' '))
        .flat_map(|anchor| {
            let partings = if anchor.contains('^') { &PARTINGS[..] } else { &PARTINGS[..1] };
            partings.iter().map(|parting| anchor.replace('^', parting))
        })
        .collect();
    let in_forms = |name: String| BOUND.split('#').map(move |form| form.replacen('N', &name, 1));
    let (all, alive) = surviving(names.into_iter().flat_map(in_forms), &CONTEXTS[..1]);
    println!("names of the table: {} of {all} survive", alive.len());
    assert!(alive.len() * 200 <= all, "{} of {all}: {alive:#?}", alive.len());
}

// S-WRITE-8
#[test]
fn what_a_trial_found_goes() {
    let (word, key, seed) =
        (["copper", "lantern"].concat(), drawn(ALNUM, 20, 12), ["JBSWY3DP", "EHPK3PXP"].concat());
    for (text, secret) in [
        (format!("motDePasse = \"{word}\""), &word),
        (format!("mật_khẩu: {word}"), &word),
        (format!("m\u{61}\u{323}\u{302}t kh\u{61}\u{302}\u{309}u: {word}"), &word),
        (format!("گذر\u{200C}واژه: {word}"), &word),
        (format!("contrasena={word}, ПАРОЛЬ={word}"), &word),
        (format!("Logins: | user | password |\n|---|---|\n| jane | {word} |"), &word),
        (format!("export has: user,password\njane,{word}"), &word),
        (format!("ALTER USER x IDENTIFIED BY {word};"), &word),
        (format!("Wrong password {word} for jane"), &word),
        (format!("hasło to {word}"), &word),
        (format!("root:{word}@10.0.0.4"), &word),
        (format!("TOTP seed is {seed}"), &seed),
        (format!("use sk-{key} for the model"), &key),
    ] {
        assert!(!redacted(&text).contains(secret.as_str()), "{text}");
    }
}

// S-WRITE-8
#[test]
fn hardly_a_value_survives_after_a_name_that_binds_it() {
    let in_form = |form: String| NAMES.split(' ').map(move |name| form.replacen('N', name, 1));
    let (all, alive) = surviving(forms(GRID).flat_map(in_form), &CONTEXTS[..1]);
    println!("grid: {} of {all} survive", alive.len());
    assert!(alive.len() * 100 <= all, "{} of {all}: {alive:#?}", alive.len());
}
