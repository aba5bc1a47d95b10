//! One import: what of a harvest is new here, written through the door, and a name by which all of it is taken back.
//! Everything that an import writes has its name as the session, so that taking it back is what `purge` does to a
//! session. Not here: which memories are known and taking back (`api`), reading a store (`stores`).

use std::collections::{BTreeMap, BTreeSet};

use super::harvest::{ForeignItem, Harvest};
use super::known_items::{KnownItem, KnownItems, KnownState, Successor, successor};
use event::{
    Draft, EventId, IMPORTED, Link, MemoryChange, MemoryScope, Node, Problems, RepoKey, text_digest,
};
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

    /// Tells whether a session is the name of an import.
    #[must_use]
    pub fn is_name(session: &str) -> bool {
        session.starts_with(NAME) && Self::parse(session).is_some()
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
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
    pub restored: Vec<Draft>,
    /// Memories that a changed note replaces.
    pub replaced: Vec<Replacement>,
    /// Items that say something else than a memory here, where neither replaces the other.
    pub conflicts: Vec<TextPair>,
    /// Links between them.
    pub links: Vec<Draft>,
    /// How many items are here already.
    pub unchanged: usize,
    /// How many items somebody took out of answers. They stay so.
    pub set_aside: usize,
    /// How many items belong to a repository that the import is not for.
    pub elsewhere: usize,
    /// Items that cannot be written.
    pub refused: Vec<RefusedEntry>,
    /// How many new memories read like instructions to their reader.
    pub flagged: usize,
}

/// A memory that is here, and the one that an item becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPair {
    /// The memory that is here.
    pub old: EventId,
    /// The memory that the item becomes.
    pub new: EventId,
}

/// A memory that a changed note replaces.
#[derive(Debug)]
pub struct Replacement {
    /// The memory that counted until now, and the one that the note becomes.
    pub pair: TextPair,
    /// The event that says so.
    draft: Draft,
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
    /// The repository that the import is for. Items that name none go there.
    pub repo: &'a RepoKey,
    /// Which other repositories it may write to.
    pub reach: ImportReach,
    /// The name of the store, as the origin of its links.
    pub store: &'static str,
}

/// Which repositories an import may write to. Anybody can write the name of a repository into a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportReach {
    /// Its own.
    Own,
    /// Each that an item names: a person said that these are memories of ours.
    Named,
}

impl ImportTarget<'_> {
    /// Tells whether an item may go to a repository.
    fn takes(&self, item: &Draft, repo: &RepoKey) -> bool {
        let names_none = item.repo.is_none() && item.scope.is_none();
        let is_own = || self.writer.config.current(repo) == *self.repo;
        self.reach == ImportReach::Named || names_none || is_own()
    }
}

impl ImportBatch {
    /// Compares a harvest, whose items have ids, with what is known. Nothing is written.
    ///
    /// # Errors
    /// An error of the store.
    pub fn plan(
        harvest: &Harvest,
        known: &KnownItems,
        target: ImportTarget<'_>,
        moment: Moment,
    ) -> Result<Self, RecordError> {
        let mut batch = Self::empty(BatchId::mint(moment));
        let mut link_ends = LinkEnds::default();
        for item in &harvest.items {
            batch.add(item, known, target, moment, &mut link_ends)?;
        }
        batch.link(harvest, target, &link_ends);
        Ok(batch)
    }

    fn empty(id: BatchId) -> Self {
        Self {
            id,
            fresh: Vec::new(),
            restored: Vec::new(),
            replaced: Vec::new(),
            conflicts: Vec::new(),
            links: Vec::new(),
            unchanged: 0,
            set_aside: 0,
            elsewhere: 0,
            refused: Vec::new(),
            flagged: 0,
        }
    }

    fn add(
        &mut self,
        item: &ForeignItem,
        known: &KnownItems,
        target: ImportTarget<'_>,
        moment: Moment,
        link_ends: &mut LinkEnds,
    ) -> Result<(), RecordError> {
        let Some(own) = item.draft.id.as_deref().and_then(EventId::foreign) else { return Ok(()) };
        let draft = self.in_its_repo(&item.draft, target);
        let says_other = says_other(&own, item, &draft, known, target, moment)?;
        let id = says_other.clone().unwrap_or_else(|| own.clone());
        let repo = match known.get(&id) {
            Some(KnownItem { repo, state: KnownState::Live, .. }) => {
                self.unchanged += 1;
                repo.clone()
            }
            Some(KnownItem { repo, state: KnownState::TakenBack, .. }) => {
                if !target.takes(&item.draft, repo) {
                    self.elsewhere += 1;
                    return Ok(());
                }
                self.restored.push(self.about(&id, repo, MemoryChange::Restore));
                // Taking it back brought back what it had replaced.
                self.replace(item.replaces.as_ref(), &id, [repo, repo], known);
                link_ends.is_new.insert(id.clone());
                repo.clone()
            }
            Some(_) => {
                self.set_aside += 1;
                return Ok(());
            }
            None => {
                let draft = Draft { id: Some(id.to_string()), ..draft };
                let Some(repo) = self.add_new(item, &draft, known, target, moment)? else {
                    return Ok(());
                };
                let conflict = says_other.map(|new| TextPair { old: own, new });
                self.conflicts.extend(conflict);
                link_ends.is_new.insert(id.clone());
                repo
            }
        };
        link_ends.by_key.entry(item.key.clone()).or_insert((id, repo));
        Ok(())
    }

    /// Takes an item that is new here, and returns its repository, or counts why it is not taken.
    fn add_new(
        &mut self,
        item: &ForeignItem,
        draft: &Draft,
        known: &KnownItems,
        target: ImportTarget<'_>,
        moment: Moment,
    ) -> Result<Option<RepoKey>, RecordError> {
        let prepared = match target.writer.prepare(draft.clone(), moment) {
            Ok(prepared) => prepared,
            Err(RecordError::Invalid(problems)) => {
                self.refused.push(RefusedEntry { key: item.key.clone(), problems });
                return Ok(None);
            }
            Err(error @ (RecordError::Store(_) | RecordError::NotSaved { .. })) => {
                return Err(error);
            }
        };
        if !target.takes(&item.draft, prepared.repo()) {
            self.elsewhere += 1;
            return Ok(None);
        }
        self.flagged += usize::from(prepared.flagged().is_some());
        // Lines written by hand may keep a short name of their repository.
        let written = RepoKey::from_line(draft.repo.as_deref().unwrap_or_default());
        self.replace(item.replaces.as_ref(), prepared.id(), [prepared.repo(), &written], known);
        self.fresh.push(draft.clone());
        Ok(Some(prepared.repo().clone()))
    }

    /// A changed note replaces the memory that it was written from, or what an earlier change of the note made of it.
    /// A memory that was changed here meanwhile stays as well. A note of another repository replaces nothing: it may be
    /// anybody's, and ids can be read in every export.
    fn replace(
        &mut self,
        old: Option<&EventId>,
        new: &EventId,
        repos: [&RepoKey; 2],
        known: &KnownItems,
    ) {
        match old.map(|old| successor(old, repos, known)) {
            Some(Successor::Live(old, repo)) => {
                let change = MemoryChange::Supersede { by: new.clone() };
                let draft = self.about(old, repo, change);
                let pair = TextPair { old: old.clone(), new: new.clone() };
                self.replaced.push(Replacement { pair, draft });
            }
            Some(Successor::Edited(old)) => {
                self.conflicts.push(TextPair { old: old.clone(), new: new.clone() });
            }
            Some(Successor::Nothing) | None => {}
        }
    }

    /// Links two items of the store if one of them is new here: other links were made by an earlier import.
    fn link(&mut self, harvest: &Harvest, target: ImportTarget<'_>, link_ends: &LinkEnds) {
        let mut seen = BTreeSet::new();
        for link in &harvest.links {
            let (Some((from, repo)), Some((to, _))) =
                (link_ends.by_key.get(&link.from), link_ends.by_key.get(&link.to))
            else {
                continue;
            };
            let is_new = link_ends.is_new.contains(from) || link_ends.is_new.contains(to);
            if from == to || !is_new || !seen.insert((from, to, link.relation)) {
                continue;
            }
            let origin = target.store.to_owned();
            let link = Link { origin, ..Link::plain(link.relation, Node::from_id(to.clone())) };
            self.links.push(self.about(from, repo, MemoryChange::Link(link)));
        }
    }

    /// A memory of this import, in its repository. One for all repositories names none.
    fn in_its_repo(&self, draft: &Draft, target: ImportTarget<'_>) -> Draft {
        let is_for_all =
            draft.scope.as_deref().and_then(MemoryScope::parse) == Some(MemoryScope::Global);
        let own = || (!is_for_all).then(|| target.repo.to_string());
        let repo = draft.repo.clone().or_else(own);
        Draft { repo, session_id: Some(self.id.0.clone()), ..draft.clone() }
    }

    fn about(&self, id: &EventId, repo: &RepoKey, change: MemoryChange) -> Draft {
        Draft {
            memory_id: Some(id.to_string()),
            repo: Some(repo.to_string()),
            change: Some(change),
            session_id: Some(self.id.0.clone()),
            source: Some(IMPORTED.to_owned()),
            ..Draft::default()
        }
    }

    /// Tells whether there is nothing to write.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.fresh.is_empty() && self.restored.is_empty() && self.links.is_empty()
    }

    /// Writes everything, and returns the number of events. Memories come before the events about them.
    ///
    /// # Errors
    /// [`StoppedImport`]
    pub fn carry_out(
        self,
        writer: &Writer,
        mut moment: impl FnMut() -> Moment,
    ) -> Result<usize, StoppedImport> {
        let replaced = self.replaced.into_iter().map(|replacement| replacement.draft);
        let drafts = self.fresh.into_iter().chain(self.restored).chain(replaced).chain(self.links);
        let (drafts, mut written): (Vec<Draft>, usize) = (drafts.collect(), 0);
        for some in drafts.chunks(WRITTEN_AT_ONCE) {
            let outcomes = record_drafts(writer, some.to_vec(), Durability::Written, &mut moment);
            // One that is refused keeps none of the others from the log.
            written += outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
            if let Some(error) = outcomes.into_iter().find_map(|outcome| outcome.result.err()) {
                return Err(StoppedImport { written, error });
            }
        }
        Ok(written)
    }
}

/// Returns the other id of an item that says something else than the memory with its own id.
fn says_other(
    own: &EventId,
    item: &ForeignItem,
    draft: &Draft,
    known: &KnownItems,
    target: ImportTarget<'_>,
    moment: Moment,
) -> Result<Option<EventId>, RecordError> {
    let (Some(here), Some(other)) = (known.get(own), &item.other_id) else { return Ok(None) };
    match target.writer.prepare(draft.clone(), moment) {
        Ok(prepared) => {
            let is_other = text_digest(prepared.event()) != here.texts;
            Ok(is_other.then(|| other.clone()))
        }
        Err(RecordError::Invalid(_)) => Ok(None),
        Err(error @ (RecordError::Store(_) | RecordError::NotSaved { .. })) => Err(error),
    }
}

/// The items that links may join.
#[derive(Default)]
struct LinkEnds {
    by_key: BTreeMap<String, (EventId, RepoKey)>,
    is_new: BTreeSet<EventId>,
}

#[cfg(test)]
mod tests {
    use super::super::harvest::{ForeignLink, foreign_draft};
    use super::*;
    use event::{DecodedLine, Event, Relation, codec};
    use settings::Config;
    use store::Store;
    use writer::Identity;

    struct ImportFixture {
        folder: tempfile::TempDir,
        writer: Writer,
        repo: RepoKey,
    }

    impl ImportFixture {
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

        fn plan(&self, harvest: &Harvest, known: &[(&str, &str, KnownState)]) -> ImportBatch {
            self.reaching(ImportReach::Own, harvest, known)
        }

        fn reaching(
            &self,
            reach: ImportReach,
            harvest: &Harvest,
            known: &[(&str, &str, KnownState)],
        ) -> ImportBatch {
            let texts = |id: &str| {
                let draft =
                    Draft { event_type: Some("fact".to_owned()), ..foreign_draft("x", "", id) };
                text_digest(self.writer.prepare(draft, moment()).unwrap().event())
            };
            let item = |(id, repo, state): &(&str, &str, KnownState)| {
                let (repo, state) = (RepoKey::parse(repo).unwrap(), state.clone());
                (EventId::foreign(id).unwrap(), KnownItem { repo, state, texts: texts(id) })
            };
            let known = known.iter().map(item).collect();
            let (writer, repo) = (&self.writer, &self.repo);
            let target = ImportTarget { writer, repo, reach, store: "obsidian" };
            ImportBatch::plan(harvest, &known, target, moment()).unwrap()
        }

        fn events(&self) -> Vec<Event> {
            let text = std::fs::read_to_string(self.folder.path().join("logs/api.jsonl")).unwrap();
            let event = |line: &str| match codec::decode(line.as_bytes(), "") {
                DecodedLine::Event(event) => *event,
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
            let draft = foreign_draft("obsidian", "", id);
            let event_type = Some("fact".to_owned());
            harvest.add_item(*id, Draft { id: Some((*id).to_owned()), event_type, ..draft });
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
        let world = ImportFixture::new();
        let plan = world.plan(&harvest(&["a", "b"]), &[]);
        let id = plan.id.clone();
        assert_eq!((plan.fresh.len(), plan.links.len()), (2, 1));
        assert_eq!(plan.carry_out(&world.writer, moment).unwrap(), 3);
        let events = world.events();
        assert!(events.iter().all(|event| event.session_id.as_deref() == Some(id.as_str())));
        assert!(events.iter().all(|event| event.source.as_deref() == Some(IMPORTED)));
        assert_eq!(events[2].extra["origin"], "obsidian");
    }

    // S-IMPORT-6
    #[test]
    fn a_stopped_import_counts_all_it_wrote() {
        let world = ImportFixture::new();
        let mut plan = world.plan(&harvest(&["a", "b", "c"]), &[]);
        plan.fresh[1].event_type = None;
        let stopped = plan.carry_out(&world.writer, moment).unwrap_err();
        assert!(matches!(stopped.error, BatchError::Refused(_)), "{stopped:?}");
        assert_eq!((stopped.written, world.events().len()), (3, 3), "two memories and a link");
    }

    // S-IMPORT-4
    #[test]
    fn what_is_known_is_not_written_again() {
        let world = ImportFixture::new();
        let all = [("a", "api", KnownState::Live), ("b", "api", KnownState::Live)];
        let plan = world.plan(&harvest(&["a", "b"]), &all);
        assert!(plan.is_done() && plan.unchanged == 2);
        let with = |state| [("a", "api", KnownState::Live), ("b", "web", state)];
        let plan = world.plan(&harvest(&["a", "b"]), &with(KnownState::SetAside));
        assert!(plan.is_done() && plan.set_aside == 1, "{plan:?}");
        let plan = world.plan(&harvest(&["a", "b"]), &with(KnownState::TakenBack));
        assert_eq!((plan.fresh.len(), plan.restored.len(), plan.links.len()), (0, 1, 1));
        assert_eq!(plan.restored[0].repo.as_deref(), Some("web"), "it comes back where it is");
    }

    /// A note of `repo` that a person changed, written from the memory `old`.
    fn changed_note(repo: &str) -> Harvest {
        let mut harvest = harvest(&["new"]);
        harvest.items[0].draft.repo = Some(repo.to_owned());
        harvest.items[0].replaces = EventId::foreign("old");
        harvest
    }

    /// Which memories a plan replaces, by what, and in which log it says so.
    fn replaced(plan: &ImportBatch) -> Vec<(String, Option<&str>)> {
        let replacement_text = |replacement: &Replacement| {
            format!("{} by {}", replacement.pair.old, replacement.pair.new)
        };
        plan.replaced
            .iter()
            .map(|replacement| (replacement_text(replacement), replacement.draft.repo.as_deref()))
            .collect()
    }

    // S-EXPORT-2
    #[test]
    fn a_replacement_stands_in_the_old_log() {
        let world = ImportFixture::new();
        let old = [("old", "web", KnownState::Live)];
        let plan = world.reaching(ImportReach::Named, &changed_note("web"), &old);
        assert_eq!(replaced(&plan), [("old by new".to_owned(), Some("web"))]);
        // Taken back, both would count: the old one came back with it.
        let both = [("old", "web", KnownState::Live), ("new", "web", KnownState::TakenBack)];
        let plan = world.reaching(ImportReach::Named, &changed_note("web"), &both);
        assert_eq!((plan.restored.len(), replaced(&plan).len()), (1, 1));
        let plan = world.reaching(ImportReach::Named, &changed_note("api"), &old);
        assert_eq!((plan.fresh.len(), replaced(&plan).len()), (1, 0));
    }

    // S-IMPORT-1
    #[test]
    fn no_item_chooses_another_repository() {
        let world = ImportFixture::new();
        let known = [("old", "web", KnownState::Live)];
        let plan = world.plan(&changed_note("web"), &known);
        assert_eq!((plan.elsewhere, replaced(&plan).len()), (1, 0));
        assert!(plan.is_done(), "{plan:?}");
        let plan = world.plan(&changed_note("web"), &[("new", "web", KnownState::TakenBack)]);
        assert!(plan.is_done() && plan.elsewhere == 1, "{plan:?}");
        for (repo, scope) in [(Some("global"), None), (None, Some("global"))] {
            let mut harvest = harvest(&["a"]);
            let draft = &mut harvest.items[0].draft;
            (draft.repo, draft.scope) = (repo.map(str::to_owned), scope.map(str::to_owned));
            let plan = world.plan(&harvest, &[]);
            assert!(plan.is_done() && plan.elsewhere == 1, "{plan:?}");
            assert_eq!(world.reaching(ImportReach::Named, &harvest, &[]).fresh.len(), 1);
        }
        assert_eq!(world.plan(&changed_note("api"), &[]).fresh.len(), 1);
    }

    // S-IMPORT-7
    #[test]
    fn what_both_sides_changed_stays_twice() {
        let edited = KnownState::Edited { by: EventId::foreign("mine").unwrap() };
        let plan = ImportFixture::new().plan(&changed_note("api"), &[("old", "api", edited)]);
        assert_eq!((plan.fresh.len(), plan.replaced.len()), (1, 0));
        assert_eq!(
            plan.conflicts.iter().map(|pair| pair.old.as_str()).collect::<Vec<_>>(),
            ["mine"]
        );
    }

    // S-IMPORT-7
    #[test]
    fn an_id_of_another_text_is_not_unchanged() {
        let world = ImportFixture::new();
        let mut harvest = harvest(&["a"]);
        harvest.items[0].other_id = EventId::foreign("other");
        let known = |state: KnownState| [("a", "api", state)];
        // The memories of this test say what their id is.
        assert_eq!(world.plan(&harvest, &known(KnownState::Live)).unchanged, 1);
        harvest.items[0].draft.lesson = Some("b".to_owned());
        for state in [KnownState::Live, KnownState::SetAside] {
            let plan = world.plan(&harvest, &known(state));
            assert_eq!((plan.unchanged, plan.set_aside, plan.fresh.len()), (0, 0, 1));
            assert_eq!(plan.fresh[0].id.as_deref(), Some("other"));
            assert_eq!(plan.conflicts[0].old.as_str(), "a");
        }
        let both = [("a", "api", KnownState::Live), ("other", "api", KnownState::Live)];
        let plan = world.plan(&harvest, &both);
        assert!(plan.is_done() && plan.unchanged == 1 && plan.conflicts.is_empty(), "{plan:?}");
    }

    // S-IMPORT-2
    #[test]
    fn items_that_no_log_takes_are_named() {
        let world = ImportFixture::new();
        let mut harvest = harvest(&["a"]);
        let bad = foreign_draft("obsidian", "", "a\u{202E}b");
        let event_type = Some("fact".to_owned());
        harvest.add_item("bad.md", Draft { id: Some("bad".to_owned()), event_type, ..bad });
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
