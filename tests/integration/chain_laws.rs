//! The laws of chains: nothing that our programs or people who add lines do is called a change, and every change of a
//! line that a chain covers is told. Not here: single cases (`store::chain`).

use std::io::Write as _;
use std::path::PathBuf;

use event::{DecodedLine, RepoKey, clean, codec};
use guard::secrets::Finding;
use proptest::prelude::*;
use proptest::sample::Index;
use store::{Durability, Store};

use upkeep::Recogniser;
use upkeep::archive::{ArchiveMode, ArchiveRequest, Bounds, archive};
use upkeep::scrub::{ScrubMode, ScrubRequest, scrub};
use upkeep::surfaces::OwnFolders;

/// What happens to a log.
#[derive(Debug, Clone)]
enum Step {
    Append(usize),
    ByHand(String),
    Spool,
    Scrub,
    Archive(u64),
    LoseLock,
    Verify,
}

/// What somebody does to the bytes that a chain covers.
#[derive(Debug, Clone)]
enum Tampering {
    Byte(Index, u8),
    Delete(Index),
    Swap(Index, Index),
    Double(Index),
    Cut(Index),
}

/// A secret that the door does not know, so that it gets into the log.
fn hushed(text: &str) -> Vec<Finding> {
    let found = text.match_indices("hush-");
    found
        .map(|(start, word)| Finding { rule: "hush", span: start..start + word.len() + 1 })
        .collect()
}

struct ChainWorld {
    folder: tempfile::TempDir,
    store: Store,
    written: usize,
}

impl ChainWorld {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { store: Store::at(folder.path().join("logs")), folder, written: 0 }
    }

    fn log(&self) -> PathBuf {
        self.store.root().join("api.jsonl")
    }

    fn line(&mut self) -> event::EncodedLine {
        self.written += 1;
        let secret = if self.written.is_multiple_of(5) { " hush-1" } else { "" };
        let lesson = format!("lesson {}{secret}", self.written);
        let json = serde_json::json!({ "id": lesson, "lesson": lesson }).to_string();
        let DecodedLine::Event(event) = codec::decode(json.as_bytes(), "api") else { panic!() };
        codec::encode(&clean::clean(*event))
    }

    fn step(&mut self, step: &Step) {
        self.store.ensure().unwrap();
        match step {
            Step::Append(count) => {
                let lines: Vec<_> = (0..*count).map(|_| self.line()).collect();
                let repo = RepoKey::parse("api").unwrap();
                store::append(&self.store, &repo, &lines, Durability::Written).unwrap();
            }
            Step::ByHand(text) => {
                let mut options = std::fs::OpenOptions::new();
                let mut log = options.create(true).append(true).open(self.log()).unwrap();
                log.write_all(text.as_bytes()).unwrap();
            }
            Step::Spool => {
                let (folder, line) = (self.store.root().join(".spool"), self.line());
                std::fs::create_dir_all(&folder).unwrap();
                let name = format!("api@{:032x}.jsonl", self.written);
                std::fs::write(folder.join(name), line.as_str()).unwrap();
            }
            Step::Scrub => drop(scrub(&ScrubRequest {
                store: &self.store,
                repo: None,
                how: ScrubMode::Change,
                recogniser: &Recogniser { find: &hushed, ..Recogniser::default() },
                places: OwnFolders {
                    store: self.store.root(),
                    cache: &self.folder.path().join("cache"),
                    sessions: &self.folder.path().join("past"),
                },
            })),
            Step::Archive(keep_lines) => {
                let bounds = Bounds { keep_lines: Some(*keep_lines), not_before: None };
                let (store, logs) = (&self.store, self.store.logs().unwrap());
                let _ = archive(&ArchiveRequest { store, logs, bounds, how: ArchiveMode::Change });
            }
            Step::LoseLock => {
                let _ = std::fs::remove_file(self.store.root().join(".locks/api.jsonl.lock"));
            }
            Step::Verify => drop(self.store.audit_chain(&self.log())),
        }
    }

    /// The first bytes of the log, those that its chain covers, as lines.
    fn covered(&self) -> Vec<Vec<u8>> {
        let audit = self.store.audit_chain(&self.log()).unwrap();
        let covered = usize::try_from(audit.map_or(0, |audit| audit.head.bytes)).unwrap();
        let bytes = std::fs::read(self.log()).unwrap_or_default();
        bytes[..covered].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }
}

impl Tampering {
    /// Returns the lines changed; `None` if this changes nothing.
    fn of(&self, lines: &[Vec<u8>]) -> Option<Vec<u8>> {
        let mut changed = lines.to_vec();
        if lines.is_empty() {
            return None;
        }
        match self {
            Self::Byte(at, byte) => {
                let mut bytes = lines.concat();
                let at = at.index(bytes.len());
                bytes[at] = *byte;
                return (bytes != lines.concat()).then_some(bytes);
            }
            Self::Delete(at) => drop(changed.remove(at.index(lines.len()))),
            Self::Swap(one, other) => {
                changed.swap(one.index(lines.len()), other.index(lines.len()));
            }
            Self::Double(at) => {
                let at = at.index(lines.len());
                changed.insert(at, lines[at].clone());
            }
            Self::Cut(at) => changed.truncate(at.index(lines.len())),
        }
        // A copy of the last line behind it is a line that somebody added.
        let is_added = changed.concat().starts_with(&lines.concat());
        (!is_added).then(|| changed.concat())
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1_usize..40).prop_map(Step::Append),
        2 => "(\\{\"lesson\":\"by hand\"\\}\n|\n|half|x hush-2\n){1,4}".prop_map(Step::ByHand),
        1 => Just(Step::Spool),
        1 => Just(Step::Scrub),
        1 => (0_u64..30).prop_map(Step::Archive),
        1 => Just(Step::LoseLock),
        1 => Just(Step::Verify),
    ]
}

fn tampering() -> impl Strategy<Value = Tampering> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Tampering::Byte(at, byte)),
        any::<Index>().prop_map(Tampering::Delete),
        (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Tampering::Swap(one, other)),
        any::<Index>().prop_map(Tampering::Double),
        any::<Index>().prop_map(Tampering::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // S-CHAIN-3, S-CHAIN-6
    #[test]
    fn nothing_that_is_allowed_is_called_a_change(steps in prop::collection::vec(step(), 1..14)) {
        let mut world = ChainWorld::new();
        for step in &steps {
            world.step(step);
            let audit = world.store.audit_chain(&world.log()).unwrap();
            prop_assert!(audit.as_ref().is_none_or(store::ChainAudit::is_whole), "{step:?}: {audit:?}");
        }
        world.step(&Step::Append(1));
        let audit = world.store.audit_chain(&world.log()).unwrap().unwrap();
        prop_assert_eq!(audit.uncovered_bytes, 0);
    }

    // S-CHAIN-4
    #[test]
    fn every_change_of_a_covered_line_is_told(
        steps in prop::collection::vec(step(), 1..8),
        tampering in tampering(),
        more in prop::option::of("(\\{\\}\n){1,3}"),
    ) {
        let mut world = ChainWorld::new();
        world.step(&Step::Append(3));
        steps.iter().for_each(|step| world.step(step));
        let lines = world.covered();
        let Some(mut changed) = tampering.of(&lines) else { return Ok(()) };
        let whole = std::fs::read(world.log()).unwrap();
        changed.extend_from_slice(&whole[lines.concat().len()..]);
        changed.extend_from_slice(more.unwrap_or_default().as_bytes());
        // Where an uncovered line takes the place of an equal one, nothing was changed.
        prop_assume!(!changed.starts_with(&lines.concat()));
        std::fs::write(world.log(), &changed).unwrap();
        let audit = world.store.audit_chain(&world.log()).unwrap().unwrap();
        prop_assert!(!audit.is_whole() && !audit.faults.is_empty());
        // Nor do later appends and rewrites hide it.
        world.step(&Step::Append(2));
        world.step(&Step::Scrub);
        world.step(&Step::Archive(1));
        let audit = world.store.audit_chain(&world.log()).unwrap().unwrap();
        prop_assert!(!audit.is_whole());
        world.store.accept_chain(&world.log()).unwrap();
        prop_assert!(world.store.audit_chain(&world.log()).unwrap().unwrap().is_whole());
    }
}
