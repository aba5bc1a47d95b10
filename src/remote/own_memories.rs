//! Which memories stay on this machine, so that words about them do, too. Not here: what else stays (`delivery`).

use std::collections::HashSet;
use std::path::PathBuf;

use event::{DecodedLine, Event, EventId, codec};
use store::{Store, StoreError, Tail};

use crate::delivery::is_of_this_machine;

/// The ids of the memories that stay. The logs are read for them when the first deed is to be delivered.
#[derive(Default)]
pub struct OwnMemories {
    ids: Option<HashSet<EventId>>,
}

impl OwnMemories {
    /// Notes a line that was read just now.
    pub fn add_event(&mut self, event: &Event) {
        if let Some(ids) = &mut self.ids
            && is_own(event)
        {
            ids.insert(event.id.clone());
        }
    }

    /// Tells whether one of these memories stays.
    ///
    /// # Errors
    /// [`StoreError`] if a file cannot be read: the memory could be in it.
    pub fn contains_any(&mut self, named: &[EventId], store: &Store) -> Result<bool, StoreError> {
        let ids = match &mut self.ids {
            Some(ids) => ids,
            unread => unread.insert(read(store)?),
        };
        Ok(named.iter().any(|id| ids.contains(id)))
    }
}

fn is_own(event: &Event) -> bool {
    event.memory_id.is_none() && is_of_this_machine(event)
}

/// Reads all logs, and then what was archived of them: a line that is moved meanwhile is seen twice and not missed.
fn read(store: &Store) -> Result<HashSet<EventId>, StoreError> {
    let mut ids = HashSet::new();
    let mut read = |files: Vec<PathBuf>| {
        files.into_iter().try_for_each(|file| {
            let repo = Store::repo_of(&file).to_string();
            let own = |bytes: &[u8]| match codec::decode(bytes, &repo) {
                DecodedLine::Event(event) if is_own(&event) => Some(event.id),
                _ => None,
            };
            Tail::from_beginning(&file).read(|line| ids.extend(own(line.bytes))).map(drop)
        })
    };
    read(store.logs()?)?;
    read(store.segments()?)?;
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-REMOTE-3
    #[test]
    fn memories_that_stay_are_known_by_id() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let log = folder.path().join("github.com+a+b.jsonl");
        let lines = [
            r#"{"id":"mine","lesson":"x","private":true}"#,
            r#"{"id":"hooks","lesson":"x","source":"hook"}"#,
            r#"{"id":"note","lesson":"x","event_type":"session"}"#,
            r#"{"id":"said","memory_id":"ours","event_type":"retract","source":"hook"}"#,
            r#"{"id":"ours","lesson":"x"}"#,
        ];
        std::fs::write(&log, lines.join("\n") + "\n").unwrap();
        let id = |text: &str| EventId::foreign(text).unwrap();
        let mut own = OwnMemories::default();
        for (text, stays) in
            [("mine", true), ("hooks", true), ("note", true), ("ours", false), ("said", false)]
        {
            assert_eq!(
                own.contains_any(&[id("other"), id(text)], &store).unwrap(),
                stays,
                "{text}"
            );
        }
        let later = br#"{"id":"later","lesson":"x","private":true}"#;
        let DecodedLine::Event(later) = codec::decode(later, "github.com/a/b") else { panic!() };
        own.add_event(&later);
        assert!(own.contains_any(&[id("later")], &store).unwrap());
    }
}
