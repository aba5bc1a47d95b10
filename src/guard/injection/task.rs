//! Whether a task gives orders besides its work. A task asks for work, so a request that teaches nothing is no sign here.
//! Everything else is judged as in a lesson. Not here: notes of other kinds (`suspicion`).

use super::phrase_table::TextScope;
use super::{AnalysedText, Suspicion, suspicion};

/// Things that an agent uses only for its user, and the words with which an order names the user.
const OF_THE_USER: [&str; 10] = [
    "the user",
    "user's",
    "my inbox",
    "my calendar",
    "unread email",
    "security code",
    "iban",
    "bank account",
    "money",
    "dollars",
];

/// Returns why the texts of a task give orders to their reader, if they do. `remaining` says what is left to do and
/// `seen` what was found so far; `others` are the remaining texts. Takes time linear in their length.
#[must_use]
pub fn suspicion_of_task<'a>(
    remaining: &'a str,
    seen: &'a str,
    others: impl Iterator<Item = &'a str>,
) -> Option<Suspicion> {
    let of_text = |text: &str| {
        let judged = AnalysedText::from_text(text);
        judged.suspicion().or_else(|| judged.more_than_errand())
    };
    of_text(remaining).or_else(|| of_text(seen)).or_else(|| suspicion("", "", others))
}

impl AnalysedText<'_> {
    /// Returns the reason if a short text asks for more than work: for an errand to an address, or with things of the user.
    fn more_than_errand(&self) -> Option<Suspicion> {
        let lower = self.text.to_lowercase();
        let has_sign = self.text.split_whitespace().any(is_address)
            || OF_THE_USER.iter().any(|sign| lower.contains(sign));
        let counts = |reason: Suspicion| has_sign || reason != Suspicion::Errand;
        self.found
            .first(TextScope::Short, counts)
            .or_else(|| self.sending_order(counts))
            .or_else(|| self.found.first(TextScope::Plain, counts))
    }
}

/// Tells whether a word is a mail address, a web address or the number of a bank account.
fn is_address(word: &str) -> bool {
    let word = word.trim_matches(|edge: char| !edge.is_alphanumeric());
    let is_mail =
        word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    let mut letters = word.chars();
    let is_account = letters.by_ref().take(2).filter(char::is_ascii_uppercase).count() == 2
        && letters.take(2).filter(char::is_ascii_digit).count() == 2;
    is_mail || is_account || word.starts_with("http")
}
