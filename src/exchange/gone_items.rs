//! What a store no longer has: memories of earlier imports of it that are still here. They are told, and stay: whoever
//! takes something out of another tool need not want it gone here. Not here: writing (`import_batch`).

use std::collections::BTreeSet;

use super::harvest::{ForeignItem, Harvest};
use super::import_batch::BatchId;
use event::{Event, EventId};

/// Returns the memories that earlier imports of a store brought and that it no longer has. `here` are the memories that
/// count. An earlier import was of this store if it brought something that the store still has.
#[must_use]
pub fn gone_items(harvest: &Harvest, here: &[Event]) -> Vec<EventId> {
    let has: BTreeSet<EventId> = harvest.items.iter().flat_map(ForeignItem::ids).collect();
    let imported = || here.iter().filter_map(|event| Some((event, import_of(event)?)));
    let of_this: BTreeSet<&str> =
        imported().filter(|(event, _)| has.contains(&event.id)).map(|(_, import)| import).collect();
    let gone =
        imported().filter(|(event, import)| of_this.contains(import) && !has.contains(&event.id));
    gone.map(|(event, _)| event.id.clone()).collect()
}

/// Returns the name of the import that wrote a memory.
fn import_of(event: &Event) -> Option<&str> {
    event.session_id.as_deref().filter(|session| BatchId::is_name(session))
}

#[cfg(test)]
mod tests {
    use super::super::harvest::foreign_draft;
    use super::*;
    use event::{DecodedLine, Draft, codec};

    fn here(memories: &[(&str, &str)]) -> Vec<Event> {
        let event = |(id, session): &(&str, &str)| {
            let line = serde_json::json!({ "id": id, "session_id": session, "lesson": "a" });
            match codec::decode(line.to_string().as_bytes(), "") {
                DecodedLine::Event(event) => *event,
                other => panic!("{other:?}"),
            }
        };
        memories.iter().map(event).collect()
    }

    // S-IMPORT-7
    #[test]
    fn gone_is_what_an_earlier_import_brought() {
        let (first, other) = ("import-00000001", "import-00000002");
        let here =
            here(&[("a", first), ("b", first), ("c", other), ("d", "s1"), ("e", "import-s1")]);
        let store = |ids: &[&str]| {
            let mut harvest = Harvest::default();
            for id in ids {
                let draft = foreign_draft("yaad", ("", id));
                harvest.add_item(*id, Draft { id: Some((*id).to_owned()), ..draft });
            }
            gone_items(&harvest, &here).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(store(&["a", "new"]), ["b"]);
        assert_eq!(store(&["a", "b", "d", "e"]), [""; 0]);
        assert_eq!(store(&["new"]), [""; 0], "nothing says that it is the same store");
    }
}
