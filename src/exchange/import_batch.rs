//! One import: what of a harvest is new here, written through the door, and a name by which all of it is taken back.
//! Everything that an import writes has its name as the session, so that taking it back is what `purge` does to a
//! session. Not here: which memories are known and taking back (`api`), reading a store (`stores`).

use std::collections::{BTreeMap, BTreeSet};

use super::harvest::{ForeignItem, Harvest};
use event::{Draft, EventId, IMPORTED, Link, MemoryChange, Node, Problems, RepoKey};
use store::Durability;
use writer::{BatchError, Moment, RecordError, Writer, record_drafts};

/// The beginning of the name of every import.
const NAME: &str = "import-";
/// How many characters of an id name an import: 40 random bits.
const ID_CHARS: usize = 8;
/// How many events are written at once. Other writers wait for the lock that long.
const WRITTEN_AT_ONCE: usize = 1_000;

/// The note of an event by which an import was taken back. A later import brings such memories back.
pub const TAKEN_BACK: &str = "import taken back";

/// The name of one import. It is the session of everything that the import writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchId(String);

impl BatchId {
    /// Makes a new name.
    #[must_use]
    pub fn mint(moment: Moment) -> Self {
        Self(format!("{NAME}{}", EventId::mint(moment.now, moment.random).short()))
    }

    /// Reads a name, with or without `import-`. No session but that of an import has such a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let id = text.strip_prefix(NAME).unwrap_or(text).to_ascii_uppercase();
        let is_letter = |byte: u8| {
            byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !b"ILOU".contains(&byte))
        };
        (id.len() == ID_CHARS && id.bytes().all(is_letter)).then(|| Self(format!("{NAME}{id}")))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is known here about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownItem {
    /// It counts.
    Live,
    /// It was imported before, and that import was taken back.
    TakenBack,
    /// Somebody retracted, replaced or archived it.
    SetAside,
}

/// An item that cannot be written.
#[derive(Debug)]
pub struct RefusedEntry {
    /// Its name in its store.
    pub key: String,
    /// What is wrong with it.
    pub problems: Problems,
}

/// What one import would write.
#[derive(Debug)]
pub struct ImportBatch {
    /// The name of the import.
    pub id: BatchId,
    /// New memories.
    pub fresh: Vec<Draft>,
    /// Memories that come back.
    pub back: Vec<Draft>,
    /// Memories that a changed note replaces.
    pub replaced: Vec<Draft>,
    /// Links between them.
    pub links: Vec<Draft>,
    /// How many items are here already.
    pub unchanged: usize,
    /// How many items somebody took out of answers. They stay so.
    pub set_aside: usize,
    /// Items that cannot be written.
    pub refused: Vec<RefusedEntry>,
    /// How many new memories read like instructions to their reader.
    pub flagged: usize,
}

/// Why an import stopped. What was written until then stays, and can be taken back.
#[derive(Debug)]
pub struct StoppedImport {
    /// How many events were written.
    pub written: usize,
    /// What went wrong.
    pub error: BatchError,
}

/// Where an import writes.
#[derive(Debug, Clone, Copy)]
pub struct ImportTarget<'a> {
    /// The door.
    pub writer: &'a Writer,
    /// The repository of items that name none.
    pub repo: &'a RepoKey,
    /// The name of the store, as the origin of its links.
    pub store: &'static str,
}

impl ImportBatch {
    /// Compares a harvest, whose items have ids, with what is known. Nothing is written.
    ///
    /// # Errors
    /// An error of the store.
    pub fn plan(
        harvest: &Harvest,
        known: &BTreeMap<EventId, KnownItem>,
        target: ImportTarget<'_>,
        moment: Moment,
    ) -> Result<Self, RecordError> {
        let mut batch = Self::empty(BatchId::mint(moment));
        let mut ends = LinkEnds::default();
        for item in &harvest.items {
            batch.add(item, known, target, (moment, &mut ends))?;
        }
        batch.link(harvest, target, &ends);
        Ok(batch)
    }

    fn empty(id: BatchId) -> Self {
        Self {
            id,
            fresh: Vec::new(),
            back: Vec::new(),
            replaced: Vec::new(),
            links: Vec::new(),
            unchanged: 0,
            set_aside: 0,
            refused: Vec::new(),
            flagged: 0,
        }
    }

    fn add(
        &mut self,
        item: &ForeignItem,
        known: &BTreeMap<EventId, KnownItem>,
        target: ImportTarget<'_>,
        (moment, ends): (Moment, &mut LinkEnds),
    ) -> Result<(), RecordError> {
        let Some(id) = item.draft.id.as_deref().and_then(EventId::foreign) else { return Ok(()) };
        let draft = self.addressed(&item.draft, target);
        let repo = draft.repo.clone();
        match known.get(&id) {
            Some(KnownItem::Live) => self.unchanged += 1,
            Some(KnownItem::SetAside) => {
                self.set_aside += 1;
                return Ok(());
            }
            Some(KnownItem::TakenBack) => {
                self.back.push(self.about(&id, repo.clone(), MemoryChange::Restore));
                ends.is_new.insert(id.clone());
            }
            None => match target.writer.prepare(draft.clone(), moment) {
                Ok(prepared) => {
                    self.flagged += usize::from(prepared.flagged().is_some());
                    self.replace(item, &id, known, repo.clone());
                    self.fresh.push(draft);
                    ends.is_new.insert(id.clone());
                }
                Err(RecordError::Invalid(problems)) => {
                    self.refused.push(RefusedEntry { key: item.key.clone(), problems });
                    return Ok(());
                }
                Err(error @ RecordError::Store(_)) => return Err(error),
            },
        }
        ends.by_key.entry(item.key.clone()).or_insert((id, repo));
        Ok(())
    }

    /// A changed note replaces the memory that it was written from, if that one still counts.
    fn replace(
        &mut self,
        item: &ForeignItem,
        by: &EventId,
        known: &BTreeMap<EventId, KnownItem>,
        repo: Option<String>,
    ) {
        if let Some(old) =
            item.replaces.as_ref().filter(|old| known.get(old) == Some(&KnownItem::Live))
        {
            self.replaced.push(self.about(old, repo, MemoryChange::Supersede { by: by.clone() }));
        }
    }

    /// Links two items of the store if one of them is new here: other links were made by an earlier import.
    fn link(&mut self, harvest: &Harvest, target: ImportTarget<'_>, ends: &LinkEnds) {
        let mut seen = BTreeSet::new();
        for link in &harvest.links {
            let (Some((from, repo)), Some((to, _))) =
                (ends.by_key.get(&link.from), ends.by_key.get(&link.to))
            else {
                continue;
            };
            let is_new = ends.is_new.contains(from) || ends.is_new.contains(to);
            if from == to || !is_new || !seen.insert((from, to, link.relation)) {
                continue;
            }
            let origin = target.store.to_owned();
            let link = Link { origin, ..Link::plain(link.relation, Node::of(to.clone())) };
            self.links.push(self.about(from, repo.clone(), MemoryChange::Link(link)));
        }
    }

    /// A memory of this import, in its repository.
    fn addressed(&self, draft: &Draft, target: ImportTarget<'_>) -> Draft {
        let repo = draft.repo.clone().or_else(|| Some(target.repo.to_string()));
        Draft { repo, session_id: Some(self.id.0.clone()), ..draft.clone() }
    }

    fn about(&self, id: &EventId, repo: Option<String>, change: MemoryChange) -> Draft {
        Draft {
            memory_id: Some(id.to_string()),
            repo,
            change: Some(change),
            session_id: Some(self.id.0.clone()),
            source: Some(IMPORTED.to_owned()),
            ..Draft::default()
        }
    }

    /// Tells whether there is nothing to write.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.fresh.is_empty() && self.back.is_empty() && self.links.is_empty()
    }

    /// Writes everything, and returns the number of events. Memories come before what is said about them.
    ///
    /// # Errors
    /// [`StoppedImport`]
    pub fn carry_out(
        self,
        writer: &Writer,
        mut moment: impl FnMut() -> Moment,
    ) -> Result<usize, StoppedImport> {
        let drafts = self.fresh.into_iter().chain(self.back).chain(self.replaced).chain(self.links);
        let (drafts, mut written): (Vec<Draft>, usize) = (drafts.collect(), 0);
        for some in drafts.chunks(WRITTEN_AT_ONCE) {
            for outcome in record_drafts(writer, some.to_vec(), Durability::Written, &mut moment) {
                match outcome.result {
                    Ok(_) => written += 1,
                    Err(error) => return Err(StoppedImport { written, error }),
                }
            }
        }
        Ok(written)
    }
}

/// The items that links may join.
#[derive(Default)]
struct LinkEnds {
    by_key: BTreeMap<String, (EventId, Option<String>)>,
    is_new: BTreeSet<EventId>,
}

#[cfg(test)]
mod tests {
    use super::super::harvest::{ForeignLink, foreign_draft};
    use super::*;
    use event::{Decoded, Event, Relation, codec};
    use store::{Config, Store};
    use writer::Identity;

    struct World {
        folder: tempfile::TempDir,
        writer: Writer,
        repo: RepoKey,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let writer = Writer {
                store: Store::at(folder.path().join("logs")),
                config: Config::default(),
                directory: folder.path().to_owned(),
                identity: Identity {
                    agent_id: "tester".into(),
                    source: Some("human".into()),
                    ..Identity::default()
                },
            };
            Self { folder, writer, repo: RepoKey::parse("api").unwrap() }
        }

        fn plan(&self, harvest: &Harvest, known: &[(&str, KnownItem)]) -> ImportBatch {
            let known =
                known.iter().map(|(id, item)| (EventId::foreign(id).unwrap(), *item)).collect();
            let target = ImportTarget { writer: &self.writer, repo: &self.repo, store: "obsidian" };
            ImportBatch::plan(harvest, &known, target, moment()).unwrap()
        }

        fn events(&self) -> Vec<Event> {
            let text = std::fs::read_to_string(self.folder.path().join("logs/api.jsonl")).unwrap();
            let event = |line: &str| match codec::decode(line.as_bytes(), "") {
                Decoded::Event(event) => *event,
                other => panic!("{other:?}"),
            };
            text.lines().map(event).collect()
        }
    }

    fn moment() -> Moment {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let random = u128::from(NEXT.fetch_add(1, Ordering::Relaxed));
        Moment { now: "2026-01-02T03:04:05Z".parse().unwrap(), random }
    }

    fn harvest(ids: &[&str]) -> Harvest {
        let mut harvest = Harvest::default();
        for id in ids {
            let draft = foreign_draft("obsidian", ("", id));
            let event_type = Some("fact".to_owned());
            harvest.take(*id, Draft { id: Some((*id).to_owned()), event_type, ..draft });
        }
        let link = |from: &str, to: &str| ForeignLink {
            from: from.to_owned(),
            to: to.to_owned(),
            relation: Relation::RelatedTo,
        };
        harvest.links = vec![link("a", "b"), link("a", "b"), link("a", "none"), link("a", "a")];
        harvest
    }

    // S-IMPORT-4
    #[test]
    fn an_import_writes_new_items_and_links() {
        let world = World::new();
        let plan = world.plan(&harvest(&["a", "b"]), &[]);
        let id = plan.id.clone();
        assert_eq!((plan.fresh.len(), plan.links.len()), (2, 1));
        assert_eq!(plan.carry_out(&world.writer, moment).unwrap(), 3);
        let events = world.events();
        assert!(events.iter().all(|event| event.session_id.as_deref() == Some(id.as_str())));
        assert!(events.iter().all(|event| event.source.as_deref() == Some(IMPORTED)));
        assert_eq!(events[2].extra["origin"], "obsidian");
    }

    // S-IMPORT-4
    #[test]
    fn what_is_known_is_not_written_again() {
        let world = World::new();
        let all = [("a", KnownItem::Live), ("b", KnownItem::Live)];
        let plan = world.plan(&harvest(&["a", "b"]), &all);
        assert!(plan.is_done() && plan.unchanged == 2);
        let plan = world
            .plan(&harvest(&["a", "b"]), &[("a", KnownItem::Live), ("b", KnownItem::SetAside)]);
        assert!(plan.is_done() && plan.set_aside == 1, "{plan:?}");
        let plan = world
            .plan(&harvest(&["a", "b"]), &[("a", KnownItem::Live), ("b", KnownItem::TakenBack)]);
        assert_eq!((plan.fresh.len(), plan.back.len(), plan.links.len()), (0, 1, 1));
    }

    // S-IMPORT-2
    #[test]
    fn items_that_no_log_takes_are_named() {
        let world = World::new();
        let mut harvest = harvest(&["a"]);
        let bad = foreign_draft("obsidian", ("", "a\u{202E}b"));
        let event_type = Some("fact".to_owned());
        harvest.take("bad.md", Draft { id: Some("bad".to_owned()), event_type, ..bad });
        let plan = world.plan(&harvest, &[]);
        assert_eq!((plan.fresh.len(), plan.refused[0].key.as_str()), (1, "bad.md"));
    }

    // S-IMPORT-6
    #[test]
    fn an_import_is_no_other_session() {
        let id = BatchId::mint(moment());
        assert_eq!(BatchId::parse(id.as_str()), Some(id.clone()));
        assert_eq!(BatchId::parse(&id.as_str().replace("import-", "").to_lowercase()), Some(id));
        for other in
            ["", "import-", "import-XXXX", "s1", "import-ABCDEFGH9", "import-ABCDEFGI", "claude 12"]
        {
            assert_eq!(BatchId::parse(other), None, "{other}");
        }
    }
}
