//! Whether a task gives orders that are none of its business. A task asks for work: that it asks, and teaches nothing, is no
//! sign. Everything else is judged as in a lesson. Not here: notes of other kinds (`suspicion`).

use super::phrase_table::TextScope;
use super::{AnalysedText, Suspicion, suspicion};

/// What an agent reaches for its user only, and how an order names the user to the agent.
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

/// Tells why the texts of a task give orders to whoever reads them, if they do. `texts` are what remains to be done and what
/// was seen so far; `others` are the remaining texts. Takes time linear in their length.
#[must_use]
pub fn suspicion_of_task<'a>(
    texts: (&'a str, &'a str),
    others: impl Iterator<Item = &'a str>,
) -> Option<Suspicion> {
    let of_text = |text: &str| {
        let judged = AnalysedText::from_text(text);
        judged.suspicion().or_else(|| judged.more_than_errand())
    };
    of_text(texts.0).or_else(|| of_text(texts.1)).or_else(|| suspicion("", "", others))
}

impl AnalysedText<'_> {
    /// Returns what a short text asks for besides the work. An errand to somebody's address is none of it, nor is one with what
    /// belongs to the user.
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
