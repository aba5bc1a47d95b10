//! Secrets in the forms of daily life: what people paste from terminals, files, chats and tables. A generator puts drawn
//! secrets of several kinds into each form. Not here: keys with a form of their own (`tests`).

use super::charset::{ALNUM, Charset};
use super::redacted;
use super::tests::drawn;

/// Forms in which `{}` stands for a chosen password. The rules were written for them.
const KNOWN: &str = include_str!("daily_known.txt");
/// Forms that were collected after the rules: when they were first measured, on 24 November 2026, 62 of 500 secrets in
/// them survived. Some rules were added for these since, so that a new list is needed to measure again.
const LATER: &str = include_str!("daily_later.txt");
/// Forms that were collected once more: first measured on 25 November 2026, 131 of 830 secrets in them survived.
const FRESH: &str = include_str!("daily_fresh.txt");
/// Texts about passwords in which nothing is one.
const HARMLESS: &str = include_str!("daily_harmless.txt");

/// Drawn secrets of the kinds that people choose and programs make, none of which is in a dictionary of placeholders.
fn secrets() -> Vec<String> {
    const MARKED: Charset = ALNUM.and("!@#$%^&*");
    let mut all: Vec<String> = (0..4).map(|seed| drawn(ALNUM, 14 + seed % 3, seed + 31)).collect();
    // The first and last are letters, so that no shell or sentence takes them for its own punctuation.
    all.extend((0..6).map(|seed| format!("k{}Z", drawn(MARKED, 13, seed + 77))));
    all
}

/// Puts every secret into every form; returns the texts in which one survives.
fn surviving(forms: &str) -> (usize, Vec<String>) {
    let (mut all, mut alive) = (0, Vec::new());
    for form in forms.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        for secret in secrets() {
            let text = form.replace("\\n", "\n").replace("\\t", "\t").replace("{}", &secret);
            all += 1;
            if redacted(&text).contains(&secret) {
                alive.push(text);
            }
        }
    }
    (all, alive)
}

// S-WRITE-8
#[test]
fn secrets_in_known_daily_forms_are_found() {
    let (all, alive) = surviving(KNOWN);
    println!("{} of {all} secrets in known daily forms survive: {alive:#?}", alive.len());
    assert!(alive.len() * 200 <= all, "{} of {all}: {alive:#?}", alive.len());
}

// S-WRITE-8
#[test]
fn few_secrets_survive_in_forms_collected_later() {
    let (all, alive) = surviving(LATER);
    println!("{} of {all} secrets in daily forms collected later survive: {alive:#?}", alive.len());
    assert!(alive.len() * 100 <= all * 5, "{} of {all}: {alive:#?}", alive.len());
}

// S-WRITE-8
#[test]
fn few_secrets_survive_in_fresh_forms() {
    let (all, alive) = surviving(FRESH);
    println!("{} of {all} secrets in fresh forms survive: {alive:#?}", alive.len());
    assert!(alive.len() * 100 <= all * 12, "{} of {all}: {alive:#?}", alive.len());
}

// S-WRITE-8
#[test]
fn texts_about_passwords_stay() {
    let lines = HARMLESS.lines().filter(|line| !line.is_empty());
    let changed: Vec<_> = lines.filter(|line| redacted(line) != *line).map(redacted).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}
