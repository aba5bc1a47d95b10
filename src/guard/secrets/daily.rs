//! Secrets in the forms of daily life: what people paste from terminals, files, chats and tables. A generator puts drawn
//! secrets of several kinds into each form. Not here: keys with a form of their own (`tests`).

use super::charset::{ALNUM, BASE64, Charset};
use super::redacted;
use super::tests::drawn;

/// Forms in which `{}` stands for a chosen password. The rules were written for them.
const KNOWN: &str = include_str!("daily_known.txt");
/// Forms that were collected after the rules: when they were first measured, on 24 November 2026, 62 of 500 secrets in
/// them survived. Rules were added for these since.
const LATER: &str = include_str!("daily_later.txt");
/// Forms that were collected once more: first measured on 25 November 2026, 131 of 830 secrets in them survived.
const FRESH: &str = include_str!("daily_fresh.txt");
/// 340 forms that were written on 25 November 2026 before any was tried, split at random: rules were made with the first
/// half. 841 of 2,720 drawn secrets survived in the second before, 63 when it was measured after.
const HALF_A: &str = include_str!("daily_half_a.txt");
const HALF_B: &str = include_str!("daily_half_b.txt");
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

/// Secrets as people and programs make them, and whether they were drawn or are made of words.
fn secrets_of_all_kinds() -> Vec<(bool, String)> {
    const WORDS: [&str; 16] = [
        "river", "sunset", "garden", "copper", "monkey", "dragon", "winter", "purple", "castle",
        "orange", "silver", "rocket", "banana", "forest", "tiger", "flower",
    ];
    const HEX: Charset = Charset::of("0123456789abcdef");
    let word = |number: usize| WORDS[number * 7 % WORDS.len()];
    let mut all: Vec<(bool, String)> = secrets().into_iter().map(|secret| (true, secret)).collect();
    for seed in 0..2 {
        all.push((true, format!("q{}=", drawn(BASE64, 22, seed + 111))));
        all.push((true, drawn(HEX, 32, seed + 211)));
        all.push((true, format!("{}7", drawn(ALNUM, 9, seed + 311))));
        all.push((false, [0, 1, 2, 3].map(|place| word(seed + place)).join("-")));
        all.push((false, format!("{}{}", word(seed + 4), 42 + seed)));
        all.push((false, format!("{}{}", word(seed + 5), word(seed + 7))));
    }
    all
}

/// Puts every secret into every form; returns how many there are, and the texts in which one survives.
fn surviving(forms: &str, secrets: &[String]) -> (usize, Vec<String>) {
    let (mut all, mut alive) = (0, Vec::new());
    // A comment of a configuration file may be part of a form.
    let is_comment = |line: &str| line.starts_with("# ") && !line.contains("{}");
    for form in forms.lines().filter(|line| !line.is_empty() && !is_comment(line)) {
        for secret in secrets {
            // In an address `/` and `+` are written otherwise.
            let is_address = form.contains("://");
            let secret = if is_address { secret.replace(['/', '+'], "_") } else { secret.clone() };
            let text = form.replace("\\n", "\n").replace("\\t", "\t").replace("{}", &secret);
            all += 1;
            if leaks(&redacted(&text), &secret) {
                alive.push(text);
            }
        }
    }
    (all, alive)
}

/// Whether eight characters on end of a secret are left, or the whole of a shorter one.
fn leaks(clean: &str, secret: &str) -> bool {
    let runs = secret.as_bytes().windows(secret.len().min(8));
    runs.into_iter().any(|run| clean.as_bytes().windows(run.len()).any(|part| part == run))
}

// S-WRITE-8
#[test]
fn secrets_in_known_daily_forms_are_found() {
    let (all, alive) = surviving(KNOWN, &secrets());
    println!("{} of {all} secrets in known daily forms survive: {alive:#?}", alive.len());
    assert!(alive.len() * 200 <= all, "{} of {all}: {alive:#?}", alive.len());
}

// S-WRITE-8
#[test]
fn few_secrets_survive_in_forms_collected_later() {
    let (all, alive) = surviving(LATER, &secrets());
    println!("{} of {all} secrets in daily forms collected later survive: {alive:#?}", alive.len());
    assert!(alive.len() * 100 <= all, "{} of {all}: {alive:#?}", alive.len());
}

// S-WRITE-8
#[test]
fn few_secrets_survive_in_fresh_forms() {
    let (all, alive) = surviving(FRESH, &secrets());
    println!("{} of {all} secrets in fresh forms survive: {alive:#?}", alive.len());
    assert!(alive.len() * 100 <= all * 2, "{} of {all}: {alive:#?}", alive.len());
}

// S-WRITE-8
#[test]
fn few_secrets_survive_in_forms_that_no_rule_was_made_for() {
    for (name, forms, most) in [("A", HALF_A, [1, 10]), ("B", HALF_B, [3, 20])] {
        for (is_drawn, most_percent) in [true, false].into_iter().zip(most) {
            let secrets =
                secrets_of_all_kinds().into_iter().filter(|(drawn, _)| *drawn == is_drawn);
            let secrets: Vec<String> = secrets.map(|(_, secret)| secret).collect();
            let (all, alive) = surviving(forms, &secrets);
            let kind = if is_drawn { "drawn secrets" } else { "secrets made of words" };
            println!("half {name}: {} of {all} {kind} survive", alive.len());
            assert!(alive.len() * 100 <= all * most_percent, "{name}: {alive:#?}");
        }
    }
}

// S-WRITE-8
#[test]
fn texts_about_passwords_stay() {
    let lines = HARMLESS.lines().filter(|line| !line.is_empty());
    let changed: Vec<_> = lines.filter(|line| redacted(line) != *line).map(redacted).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}
