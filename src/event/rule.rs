//! The id of a rule imported from an agent file. The id is a hash of the whole rule, so a line shows by itself
//! whether it is such a rule. Not here: importing rules (`clients::agent_files`).

use super::{AGENT_FILE, Event, EventId, IMPORTED, RepoKey};
use guard::secrets::redacted;

/// The separator between the headings of a rule in its `context`.
pub const BELOW: &str = " > ";

/// How many headings, counted from the last, are tried with the colon that a `context` leaves out.
const COLONS_MAX: usize = 4;

/// Hashes what a rule says, its place and its repository into an id. Secrets are excluded, because ids are
/// shown.
#[must_use]
pub fn rule_id(repo: &RepoKey, file: &str, under: &[String], text: &str) -> EventId {
    let said = format!("{AGENT_FILE}\n{repo}\n{file}\n{}\n{text}", under.join("\n"));
    EventId::derive(None, redacted(&said).as_bytes())
}

/// Tells whether an event is a rule of an agent file whose id matches its content. Returns false for rules with
/// unusual headings or with secrets, because the line does not contain these as they were in the file.
#[must_use]
pub fn is_rule(event: &Event) -> bool {
    let Some(file) = event.files.first() else { return false };
    let is_tagged = event.tags.iter().any(|tag| tag == AGENT_FILE);
    if !is_tagged || event.source.as_deref() != Some(IMPORTED) {
        return false;
    }
    let repo = event.repo_key();
    let mut under: Vec<String> = Vec::new();
    if !event.context.is_empty() {
        under.extend(event.context.split(BELOW).map(str::to_owned));
    }
    (0..1_usize << under.len().min(COLONS_MAX)).any(|colons| {
        let with_colons = under.iter().rev().enumerate().map(|(number, heading)| {
            let has_colon = number < COLONS_MAX && (colons >> number) & 1 == 1;
            if has_colon { format!("{heading}:") } else { heading.clone() }
        });
        let mut with_colons: Vec<String> = with_colons.collect();
        with_colons.reverse();
        rule_id(&repo, file, &with_colons, &event.lesson) == event.id
    })
}

#[cfg(test)]
mod tests {
    use super::super::{DecodedLine, codec};
    use super::*;

    fn event(id: &EventId, more: &serde_json::Value) -> Event {
        let mut line = serde_json::json!({ "id": id.as_str(), "event_type": "convention", "repo": "api",
            "context": "Build > Use these", "lesson": "pnpm", "files": ["docs/RULES.md"], "source": IMPORTED,
            "tags": [AGENT_FILE] });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        match codec::decode(line.to_string().as_bytes(), "api") {
            DecodedLine::Event(event) => *event,
            other => panic!("{other:?}"),
        }
    }

    // S-FILE-1, S-FILE-4
    #[test]
    fn a_rule_is_known_by_what_it_says_and_nothing_else_is_one() {
        let repo = RepoKey::parse("api").unwrap();
        let id = |under: &[&str], text: &str| {
            let under: Vec<String> = under.iter().map(|heading| (*heading).to_owned()).collect();
            rule_id(&repo, "docs/RULES.md", &under, text)
        };
        let none = serde_json::json!({});
        for under in [["Build", "Use these"], ["Build", "Use these:"], ["Build:", "Use these:"]] {
            assert!(is_rule(&event(&id(&under, "pnpm"), &none)), "{under:?}");
        }
        let bare = serde_json::json!({ "context": "" });
        assert!(is_rule(&event(&id(&[], "pnpm"), &bare)));
        let good = id(&["Build", "Use these:"], "pnpm");
        for other in [
            serde_json::json!({ "files": ["src/secret.txt"] }),
            serde_json::json!({ "files": [] }),
            serde_json::json!({ "repo": "web" }),
            serde_json::json!({ "lesson": "npm" }),
            serde_json::json!({ "source": "agent" }),
            serde_json::json!({ "tags": [] }),
        ] {
            assert!(!is_rule(&event(&good, &other)), "{other}");
        }
        assert!(!is_rule(&event(&EventId::foreign("m1").unwrap(), &none)));
    }
}
