//! What a reader found in a foreign store: drafts of memories, links between them, and what was left out, counted. Every
//! item is either one or the other. Not here: which of them are new (`import_batch`).

use std::collections::{BTreeMap, BTreeSet};

use event::{Draft, EventId, IMPORTED, Relation, RepoKey, is_code};
use guard::secrets::redacted;

/// An item that is left out because the store has another like it.
const TWICE: &str = "item that is there twice";

/// A found item.
#[derive(Debug, Clone)]
pub struct ForeignItem {
    /// Its name in its store, for links and messages.
    pub key: String,
    /// The memory it becomes. Without an id it gets one that is derived from its content.
    pub draft: Draft,
    /// The id of the memory that a person changed to make this one.
    pub replaces: Option<EventId>,
    /// The id of an item that brings its own, if a memory here has that id and says something else.
    pub other_id: Option<EventId>,
}

impl ForeignItem {
    /// An item as its store has it.
    #[must_use]
    pub fn new(key: impl Into<String>, draft: Draft) -> Self {
        Self { key: key.into(), draft, replaces: None, other_id: None }
    }

    /// Returns the ids of the memories that decide what becomes of it: those that it may be, and the one it replaces.
    pub fn ids(&self) -> impl Iterator<Item = EventId> + '_ {
        let own = self.draft.id.as_deref().and_then(EventId::foreign);
        own.into_iter().chain(self.other_id.clone()).chain(self.replaces.clone())
    }
}

/// A link between two items of a store.
#[derive(Debug, Clone)]
pub struct ForeignLink {
    /// The key of its source.
    pub from: String,
    /// The key of its target.
    pub to: String,
    /// The relation.
    pub relation: Relation,
}

/// What was found in a store.
#[derive(Debug, Clone, Default)]
pub struct Harvest {
    /// The items that become memories, in the order of the store.
    pub items: Vec<ForeignItem>,
    /// Links between items. An end may be missing.
    pub links: Vec<ForeignLink>,
    /// How many items were left out, by reason. A reason completes "1 ..." or "3 times: ...".
    pub left_out: BTreeMap<String, usize>,
    /// The files and folders among these, and files that are no notes.
    pub unread: Vec<UnreadNote>,
    /// How many more files that are no notes there are than are named.
    pub more_files: usize,
}

/// A file or folder of a store that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadNote {
    /// Its path below the folder, with `/`.
    pub name: String,
    /// Why it is not read.
    pub why: &'static str,
}

impl Harvest {
    /// Adds an item.
    pub fn add_item(&mut self, key: impl Into<String>, draft: Draft) {
        self.items.push(ForeignItem::new(key, draft));
    }

    /// Counts an item that is left out.
    pub fn leave_out(&mut self, why: &str) {
        *self.left_out.entry(why.to_owned()).or_default() += 1;
    }

    /// Counts and names the notes of a folder that were left out, and names its other files.
    pub(crate) fn leave_out_files(
        &mut self,
        left_out: &[UnreadNote],
        (others, more_files): (&[UnreadNote], usize),
    ) {
        left_out.iter().for_each(|one| self.leave_out(one.why));
        self.unread.extend(left_out.iter().chain(others).cloned());
        self.more_files += more_files;
    }

    /// Returns how many items the store has.
    #[must_use]
    pub fn read_count(&self) -> usize {
        self.items.len() + self.left_out.values().sum::<usize>()
    }

    /// Gives every item without an id one that is derived from its repository and its content, and leaves out what is
    /// there twice. The same item has the same id on every machine and at every time.
    pub fn identify(&mut self, store: &str, repo: &RepoKey) {
        let mut seen = BTreeSet::new();
        let items = std::mem::take(&mut self.items);
        for mut item in items {
            let own = item.draft.id.as_deref().and_then(EventId::foreign);
            let derived = derived_id(store, repo, &item.draft);
            let id = match own.filter(|id| !is_code(id)) {
                Some(own) => {
                    item.other_id = Some(derived);
                    own
                }
                None => derived,
            };
            if seen.insert(id.clone()) {
                item.draft.id = Some(id.into());
                self.items.push(item);
            } else {
                self.leave_out(TWICE);
            }
        }
    }
}

/// Hashes what an item says. Secrets are excluded, because ids are shown.
fn derived_id(store: &str, repo: &RepoKey, draft: &Draft) -> EventId {
    let trimmed = |field: &Option<String>| field.as_deref().unwrap_or_default().trim().to_owned();
    let repo = draft.repo.clone().unwrap_or_else(|| repo.to_string());
    let fields = [&draft.event_type, &draft.context, &draft.command, &draft.lesson].map(trimmed);
    let content = format!("{IMPORTED}\n{store}\n{repo}\n{}", fields.join("\u{1F}"));
    EventId::derive(None, redacted(&content).as_bytes())
}

/// Returns a draft for an item of a store: whoever wrote it there is named, and it counts as imported.
pub(crate) fn foreign_draft(agent: &str, context: &str, lesson: &str) -> Draft {
    Draft {
        agent_id: Some(agent.to_owned()),
        context: Some(context.trim().to_owned()).filter(|context| !context.is_empty()),
        lesson: Some(lesson.trim().to_owned()),
        source: Some(IMPORTED.to_owned()),
        ..Draft::default()
    }
}

/// Returns the relation of a foreign word. What must not run in a circle here may do so elsewhere, so it becomes the
/// plain relation.
pub(crate) fn relation_of(word: &str) -> Relation {
    Relation::parse(word).filter(|relation| !relation.is_acyclic()).unwrap_or(Relation::RelatedTo)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(lesson: &str) -> Draft {
        Draft { event_type: Some("fact".to_owned()), ..foreign_draft("x", "a", lesson) }
    }

    fn ids(harvest: &mut Harvest, repo: &str) -> Vec<String> {
        harvest.identify("yaad", &RepoKey::parse(repo).unwrap());
        harvest.items.iter().filter_map(|item| item.draft.id.clone()).collect()
    }

    // S-IMPORT-4
    #[test]
    fn ids_depend_on_content_and_repository() {
        let one = |lesson: &str, repo: &str| {
            let mut harvest = Harvest::default();
            harvest.add_item("k", draft(lesson));
            ids(&mut harvest, repo).remove(0)
        };
        assert_eq!(one("b", "api"), one(" b\n", "api"));
        assert_ne!(one("b", "api"), one("c", "api"));
        assert_ne!(one("b", "api"), one("b", "web"));
        let key =
            |last: char| format!("the key is ghp_{}{last}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R");
        assert_eq!(one(&key('8'), "api"), one(&key('9'), "api"));
    }

    // S-IMPORT-2
    #[test]
    fn every_item_is_counted_once() {
        let mut harvest = Harvest::default();
        for lesson in ["b", "c", "b"] {
            harvest.add_item(lesson, draft(lesson));
        }
        harvest.leave_out("item without a text");
        assert_eq!((ids(&mut harvest, "api").len(), harvest.read_count()), (2, 4));
        assert_eq!(harvest.left_out[TWICE], 1);
    }

    // S-IMPORT-4
    #[test]
    fn relations_that_must_not_circle_become_plain() {
        assert_eq!(relation_of("depends on"), Relation::DependsOn);
        for word in ["supersedes", "led_to", "knows", ""] {
            assert_eq!(relation_of(word), Relation::RelatedTo, "{word}");
        }
    }
}
