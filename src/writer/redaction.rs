//! The marks that stand for secrets in an event, and the message about them. Not here: finding secrets
//! (`guard::secrets`).

use event::Event;

/// The text before the name of the rule.
const MARK: &str = "[REDACTED:";

/// Returns the rules of the marks in the texts of an event, each once.
pub(crate) fn rules(event: &Event) -> Vec<String> {
    let texts = [&event.context, &event.command, &event.lesson];
    let lists = [&event.tags, &event.files];
    let of_lists = lists.into_iter().flatten();
    let mut rules = Vec::new();
    for text in texts.into_iter().chain(&event.symptoms).chain(of_lists) {
        for mark in text.split(MARK).skip(1) {
            let rule = mark.split_once(']').map_or("", |(rule, _)| rule);
            if !rule.is_empty() && !rules.iter().any(|known| known == rule) {
                rules.push(rule.to_owned());
            }
        }
    }
    rules
}

/// Says that secrets were replaced; `None` if there were none.
#[must_use]
pub fn message(rules: &[String]) -> Option<String> {
    (!rules.is_empty())
        .then(|| format!("a secret was replaced before it was written ({})", rules.join(", ")))
}
