//! Texts that hold secrets in the forms of daily life, for the tests of the guard and for those that look where such a text goes. Not in
//! any program. Not here: what the rules make of them (`daily`).

use super::charset::{ALNUM, BASE64, Charset};
use super::redacted;

/// Forms in which `{}` stands for a chosen password. The rules were written for them.
pub const KNOWN: &str = include_str!("daily_known.txt");
/// Forms that were collected after the rules: when they were first measured, on 24 November 2026, 62 of 500 secrets in
/// them survived. Rules were added for these since.
pub const LATER: &str = include_str!("daily_later.txt");
/// Forms that were collected once more: first measured on 25 November 2026, 131 of 830 secrets in them survived.
pub const FRESH: &str = include_str!("daily_fresh.txt");
/// 340 forms that were written on 25 November 2026 before any was tried, split at random: rules were made with the first
/// half. 841 of 2,720 drawn secrets survived in the second before, 63 when it was measured after.
pub const HALF_A: &str = include_str!("daily_half_a.txt");
/// The second half.
pub const HALF_B: &str = include_str!("daily_half_b.txt");

/// Draws `length` characters of a set, the same for the same seed (a linear congruential generator with the constants of
/// Knuth's MMIX).
#[must_use]
pub(super) fn drawn(charset: Charset, length: usize, seed: usize) -> String {
    let members: Vec<char> = (0..128_u8).filter(|b| charset.has(*b)).map(char::from).collect();
    let mut state = seed as u64 * 7_919 + 17;
    let draw = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        members.get((state >> 33) as usize % members.len()).copied().unwrap_or_default()
    };
    (0..length).map(draw).collect()
}

/// Drawn secrets of the kinds that people choose and programs make, none of which is in a dictionary of placeholders.
#[must_use]
pub fn secrets() -> Vec<String> {
    const MARKED: Charset = ALNUM.and("!@#$%^&*");
    let mut all: Vec<String> = (0..4).map(|seed| drawn(ALNUM, 14 + seed % 3, seed + 31)).collect();
    // The first and last are letters, so that no shell or sentence takes them for its own punctuation.
    all.extend((0..6).map(|seed| format!("k{}Z", drawn(MARKED, 13, seed + 77))));
    all
}

/// Secrets as people and programs make them, and whether they were drawn or are made of words.
#[must_use]
pub fn secrets_of_all_kinds() -> Vec<(bool, String)> {
    const WORDS: [&str; 16] = [
        "river", "sunset", "garden", "copper", "monkey", "dragon", "winter", "purple", "castle",
        "orange", "silver", "rocket", "banana", "forest", "tiger", "flower",
    ];
    const HEX: Charset = Charset::new("0123456789abcdef");
    let word = |number: usize| WORDS.get(number * 7 % WORDS.len()).copied().unwrap_or_default();
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

/// Puts a secret of its own into every form of all lists, so that what is found somewhere names its form.
#[must_use]
pub fn one_in_each() -> Vec<PlantedSecret> {
    let secret = |seed: usize| match seed % 2 {
        0 => drawn(ALNUM, 14 + seed % 3, seed + 1_031),
        _ => format!("k{}Z", drawn(ALNUM.and("!@#$%^&*"), 13, seed + 1_077)),
    };
    let lists = [KNOWN, LATER, FRESH, HALF_A, HALF_B];
    let forms = lists.into_iter().flat_map(forms);
    forms.enumerate().map(|(seed, form)| planted_in(form, &secret(seed))).collect()
}

/// A text with a secret in it.
#[derive(Debug, Clone)]
pub struct PlantedSecret {
    /// The text.
    pub text: String,
    /// The secret, as it stands in the text.
    pub secret: String,
}

/// Puts every secret into every form.
pub fn plant_secrets<'a>(
    forms: &'a str,
    secrets: &'a [String],
) -> impl Iterator<Item = PlantedSecret> + 'a {
    self::forms(forms)
        .flat_map(move |form| secrets.iter().map(move |secret| planted_in(form, secret)))
}

fn forms(list: &str) -> impl Iterator<Item = &str> {
    // A comment of a configuration file may be part of a form.
    let is_comment = |line: &str| line.starts_with("# ") && !line.contains("{}");
    list.lines().filter(move |line| !line.is_empty() && !is_comment(line))
}

/// Puts a secret into a form.
fn planted_in(form: &str, secret: &str) -> PlantedSecret {
    // In an address `/` and `+` are written otherwise.
    let is_address = form.contains("://");
    let secret = if is_address { secret.replace(['/', '+'], "_") } else { secret.to_owned() };
    let text = form.replace("\\n", "\n").replace("\\t", "\t").replace("{}", &secret);
    PlantedSecret { text, secret }
}

impl PlantedSecret {
    /// Tells whether the rules leave the secret in the text.
    #[must_use]
    pub fn survives(&self) -> bool {
        leaks(&redacted(&self.text), &self.secret)
    }
}

/// Whether eight characters on end of a secret are left, or the whole of a shorter one.
#[must_use]
pub fn leaks(clean: &str, secret: &str) -> bool {
    let runs = secret.as_bytes().windows(secret.len().min(8));
    runs.into_iter().any(|run| clean.as_bytes().windows(run.len()).any(|part| part == run))
}
