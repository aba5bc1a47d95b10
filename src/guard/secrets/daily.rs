//! Secrets in the forms of daily life: what people paste from terminals, files, chats and tables. Not here: the forms
//! (`daily_forms`), keys with a form of their own (`tests`).

use super::daily_forms::{
    FRESH, HALF_A, HALF_B, KNOWN, LATER, PlantedSecret, plant_secrets, secrets,
    secrets_of_all_kinds,
};
use super::redacted;

/// Texts about passwords in which nothing is one.
const HARMLESS: &str = include_str!("daily_harmless.txt");

/// Puts every secret into every form; returns how many there are, and the texts in which one survives.
fn surviving(forms: &str, secrets: &[String]) -> (usize, Vec<String>) {
    let all: Vec<PlantedSecret> = plant_secrets(forms, secrets).collect();
    let alive = all.iter().filter(|planted| planted.survives());
    (all.len(), alive.map(|planted| planted.text.clone()).collect())
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
