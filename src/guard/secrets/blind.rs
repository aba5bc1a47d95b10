//! Secrets in forms that were written before any rule was tried on them, and in a grid of names and forms. Ten kinds of
//! values go into each. Not here: forms that rules were made for (`daily`).

use super::charset::{ALNUM, BASE64, Charset};
use super::redacted;
use super::tests::drawn;

/// Rules may be made with the first half of the forms, and none with the second. 501 of 2,050 and 545 of 2,060 values
/// survived before.
const DEV: &str = include_str!("blind_dev.txt");
const TEST: &str = include_str!("blind_test.txt");
/// Forms in which `N` is a name and `{}` its value.
const GRID: &str = include_str!("grid.txt");

/// Names that mean a chosen secret.
const NAMES: &str = "password passwd passphrase db_password DB_PASSWORD dbPassword db-password \
    spring.mail.password adminPwd root_pass userpass SMTP_PASS psk Passwort contraseña пароль 密码";

/// A value of each kind.
fn values() -> [(&'static str, String); 10] {
    const MARKED: Charset = ALNUM.and("!@#$%^&*");
    const HEX: Charset = Charset::of("0123456789abcdef");
    const DIGITS: Charset = Charset::of("0123456789");
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
fn surviving<'a>(forms: impl Iterator<Item = String> + 'a) -> (usize, Vec<String>) {
    let (mut all, mut alive) = (0, Vec::new());
    for form in forms {
        for (kind, value) in values() {
            let value = written(&form, &value);
            let text = form.replace("\\n", "\n").replace("\\t", "\t").replace("{}", &value);
            all += 1;
            if leaks(&redacted(&text), &value) {
                alive.push(format!("{form}  ({kind})"));
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
    for (name, list, most_percent) in [("development", DEV, 4), ("test", TEST, 7)] {
        let (all, alive) = surviving(forms(list));
        println!("{name}: {} of {all} survive", alive.len());
        assert!(alive.len() * 100 <= all * most_percent, "{name}: {} of {all}", alive.len());
    }
}

// S-WRITE-8
#[test]
fn hardly_a_value_survives_after_a_name_that_binds_it() {
    let in_form = |form: String| NAMES.split(' ').map(move |name| form.replacen('N', name, 1));
    let (all, alive) = surviving(forms(GRID).flat_map(in_form));
    println!("grid: {} of {all} survive", alive.len());
    assert!(alive.len() * 100 <= all, "{} of {all}: {alive:#?}", alive.len());
}
