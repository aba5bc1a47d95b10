//! A fold as bytes, and back, without the records of its memories: those are kept apart, and only where
//! they are is written. Not here: files, checksums, whose fold it was (`checkpoint`).

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use super::bound::{Age, Ledger, key};
use super::memory::Beside;
use super::packed::{Packed, Packing};
use super::texts::{Block, Kept, Text};
use super::{Bound, Fold, Memory, Origin, Setting, Version, record};
use crate::event::{Confidence, EventId, EventType, RepoKey, SuccessRate};

/// Bytes that are gathered before they are handed on.
const PART_BYTES: usize = 256 * 1024;

/// Where records are kept.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// What reads them.
    pub kept: Arc<dyn Kept>,
    /// How long it is.
    pub length_bytes: u64,
}

/// What memories have in common, each under a number in the order of first use.
struct Shared<'a> {
    logs: Vec<&'a str>,
    repos: Vec<&'a RepoKey>,
    settings: Vec<&'a Setting>,
    log_numbers: HashMap<&'a Path, usize>,
    repo_numbers: HashMap<&'a RepoKey, usize>,
    setting_numbers: HashMap<*const Setting, usize>,
}

impl<'a> Shared<'a> {
    fn of(fold: &'a Fold) -> io::Result<Self> {
        let (logs, repos, settings) = (Vec::new(), Vec::new(), Vec::new());
        let (log_numbers, repo_numbers) = (HashMap::new(), HashMap::new());
        let setting_numbers = HashMap::new();
        let mut shared = Self { logs, repos, settings, log_numbers, repo_numbers, setting_numbers };
        for memory in fold.memories.iter() {
            shared.note_repo(&memory.repo);
            shared.note_log(&memory.setting.log)?;
            if let std::collections::hash_map::Entry::Vacant(free) =
                shared.setting_numbers.entry(Arc::as_ptr(&memory.setting))
            {
                free.insert(shared.settings.len());
                shared.settings.push(&memory.setting);
            }
            for version in memory.about().iter().chain(memory.conflicts()) {
                shared.note(version)?;
            }
        }
        fold.early.values().flatten().try_for_each(|version| shared.note(version))?;
        Ok(shared)
    }

    fn note(&mut self, version: &'a Version) -> io::Result<()> {
        self.note_repo(&version.repo);
        self.note_log(&version.origin.log)
    }

    fn note_repo(&mut self, repo: &'a RepoKey) {
        if !self.repo_numbers.contains_key(repo) {
            self.repo_numbers.insert(repo, self.repos.len());
            self.repos.push(repo);
        }
    }

    fn note_log(&mut self, log: &'a Path) -> io::Result<()> {
        if !self.log_numbers.contains_key(log) {
            self.log_numbers.insert(log, self.logs.len());
            self.logs.push(log.to_str().ok_or_else(not_text)?);
        }
        Ok(())
    }

    fn log(&self, log: &Path) -> usize {
        self.log_numbers.get(log).copied().unwrap_or(usize::MAX)
    }

    fn repo(&self, repo: &RepoKey) -> usize {
        self.repo_numbers.get(repo).copied().unwrap_or(usize::MAX)
    }

    fn write(&self, to: &mut Packing) {
        to.size(self.logs.len());
        self.logs.iter().for_each(|log| to.text(log));
        to.size(self.repos.len());
        self.repos.iter().for_each(|repo| to.text(repo.as_str()));
        to.size(self.settings.len());
        for setting in &self.settings {
            to.size(self.log(&setting.log));
            to.text(setting.kind.as_str());
            to.text(&setting.agent_id);
            to.maybe(setting.session_id.as_deref());
            to.maybe(setting.source.as_deref());
            to.instant(setting.expires);
            to.size(usize::from(setting.confidence == Confidence::Inferred));
        }
    }

    fn write_memory(&self, memory: &Memory, offset: u64, to: &mut Packing) {
        to.text(memory.id.as_str());
        to.instant(memory.timestamp);
        to.size(self.repo(&memory.repo));
        let (successes, attempts) = memory.success_rate.map_or((0, 0), SuccessRate::counts);
        to.number(successes.into());
        to.number(attempts.into());
        let setting = self.setting_numbers.get(&Arc::as_ptr(&memory.setting));
        to.size(setting.copied().unwrap_or(usize::MAX));
        to.number(memory.offset);
        to.number(offset);
        to.number(memory.text.length_bytes());
        to.raw(&memory.text.checksum().to_le_bytes());
        self.write_versions(memory.about(), to);
        self.write_versions(memory.conflicts(), to);
        memory.write_verdict(to);
    }

    fn write_versions(&self, versions: &[Arc<Version>], to: &mut Packing) {
        to.size(versions.len());
        for version in versions {
            to.text(version.event.id.as_str());
            to.instant(version.event.timestamp);
            to.size(self.repo(&version.repo));
            to.size(self.log(&version.origin.log));
            to.number(version.origin.offset);
            to.raw(&version.digest);
            record::write(&version.event, to);
        }
    }
}

/// A path that is no text cannot be written down.
fn not_text() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the path of a log is no text")
}

impl Fold {
    /// Writes all but the records; `offset_of` tells where that of a number is kept.
    ///
    /// # Errors
    /// What `out` said; a log whose path is no text, a record that is kept nowhere.
    pub fn write(
        &self,
        out: &mut dyn Write,
        offset_of: &dyn Fn(usize, &Memory) -> Option<u64>,
    ) -> io::Result<()> {
        let shared = Shared::of(self)?;
        let mut packing = Packing::default();
        shared.write(&mut packing);
        packing.size(self.memories.len());
        for (number, memory) in self.memories.iter().enumerate() {
            let offset = offset_of(number, memory).ok_or(io::ErrorKind::InvalidInput)?;
            shared.write_memory(memory, offset, &mut packing);
            packing.hand_on(out, PART_BYTES)?;
        }
        packing.size(self.early.len());
        for (about, versions) in self.early.iter() {
            packing.text(about.as_str());
            shared.write_versions(versions, &mut packing);
            packing.hand_on(out, PART_BYTES)?;
        }
        self.ledger.write(&mut packing);
        packing.hand_on(out, 0)
    }

    /// Reads what [`Fold::write`] wrote. `None` where it did not write that.
    pub fn read(from: &mut Packed<'_>, bound: Bound, shelf: &Shelf) -> Option<Self> {
        let mut reading = Reading::of(from, bound, shelf)?;
        let count = from.count()?;
        reading.fold.numbers.reserve(count);
        for number in 0..count {
            let number = u32::try_from(number).ok()?;
            reading.memory(number, from)?;
        }
        let mut early = HashMap::new();
        for _ in 0..from.count()? {
            let about = EventId::foreign(from.text()?)?;
            early.insert(about, reading.versions(from)?);
        }
        let mut fold = reading.fold;
        fold.early = Arc::new(early);
        fold.ledger = Ledger::read(from, bound)?;
        Some(fold)
    }

    /// Writes all records anew, without what nobody needs, and returns where each is.
    ///
    /// # Errors
    /// What `out` said, and a record that cannot be read.
    pub fn write_texts(&self, out: &mut dyn Write) -> io::Result<Vec<u64>> {
        let mut offset = 0;
        let mut offsets = Vec::with_capacity(self.memories.len());
        for memory in self.memories.iter() {
            offsets.push(offset);
            out.write_all(&memory.text.bytes().ok_or(io::ErrorKind::InvalidData)?)?;
            offset += memory.text.length_bytes();
        }
        Ok(offsets)
    }

    /// Returns the blocks of records that are in memory; none is added to them any more.
    pub fn seal(&mut self) -> Vec<Arc<Block>> {
        self.texts.seal()
    }

    /// Returns the bytes of all records.
    #[must_use]
    pub fn texts_bytes(&self) -> u64 {
        self.texts.live_bytes()
    }

    /// Takes the records from where [`Fold::write_texts`] wrote them.
    pub fn keep(&mut self, kept: &Arc<dyn Kept>, offsets: &[u64]) {
        let damage = self.texts.damage_of_all().clone();
        let block = Block::kept(Arc::clone(kept), 0, damage);
        for (place, offset) in offsets.iter().enumerate() {
            if let Some(memory) = self.memories.get_mut(place) {
                let memory = Arc::make_mut(memory);
                memory.text = memory.text.moved(&block, *offset);
            }
        }
        self.texts.begin_anew();
    }
}

/// What is known while a fold is read.
struct Reading {
    fold: Fold,
    logs: Vec<Arc<Path>>,
    repos: Vec<RepoKey>,
    settings: Vec<Arc<Setting>>,
    block: Arc<Block>,
    length_bytes: u64,
}

impl Reading {
    fn of(from: &mut Packed<'_>, bound: Bound, shelf: &Shelf) -> Option<Self> {
        let fold = Fold::within(bound, None);
        let damage = fold.texts.damage_of_all().clone();
        let block = Block::kept(Arc::clone(&shelf.kept), 0, damage);
        let logs = (0..from.count()?).map(|_| Some(Path::new(from.text()?).into()));
        let logs: Vec<Arc<Path>> = logs.collect::<Option<_>>()?;
        let repos = (0..from.count()?).map(|_| repo(from.text()?));
        let repos: Vec<RepoKey> = repos.collect::<Option<_>>()?;
        let (settings, length_bytes) = (Vec::new(), shelf.length_bytes);
        let mut reading = Self { fold, logs, repos, settings, block, length_bytes };
        for _ in 0..from.count()? {
            let setting = reading.setting(from)?;
            reading.settings.push(reading.fold.settings.shared(setting));
        }
        Some(reading)
    }

    fn setting(&self, from: &mut Packed<'_>) -> Option<Setting> {
        Some(Setting {
            log: self.log(from)?,
            kind: EventType::from_line(from.text()?),
            agent_id: from.text()?.to_owned(),
            session_id: from.maybe()?.map(str::to_owned),
            source: from.maybe()?.map(str::to_owned),
            expires: from.instant()?,
            confidence: match from.size()? {
                0 => Confidence::Stated,
                1 => Confidence::Inferred,
                _ => return None,
            },
        })
    }

    fn log(&self, from: &mut Packed<'_>) -> Option<Arc<Path>> {
        self.logs.get(from.size()?).cloned()
    }

    fn repo(&self, from: &mut Packed<'_>) -> Option<RepoKey> {
        self.repos.get(from.size()?).cloned()
    }

    fn memory(&mut self, number: u32, from: &mut Packed<'_>) -> Option<()> {
        let id = EventId::foreign(from.text()?)?;
        let timestamp = from.instant()?;
        let repo = self.repo(from)?;
        let rate = match (from.number()?, from.number()?) {
            (0, 0) => None,
            (successes, attempts) => {
                let counts = (u32::try_from(successes).ok()?, u32::try_from(attempts).ok()?);
                Some(SuccessRate::of_counts(counts.0, counts.1)?)
            }
        };
        let place = (Arc::clone(self.settings.get(from.size()?)?), from.number()?);
        let text = self.text(from)?;
        let beside = Beside::new(self.versions(from)?, self.versions(from)?);
        let key = key(&id);
        let memory = Memory::new((id, timestamp, rate), repo, place, text, beside);
        let memory = memory.with_verdict(from)?;
        let is_new = self.fold.numbers.insert(key, number).is_none();
        self.fold.memories.push(Arc::new(memory));
        is_new.then_some(())
    }

    fn text(&mut self, from: &mut Packed<'_>) -> Option<Text> {
        let offset = from.number()?;
        let length_bytes = u32::try_from(from.number()?).ok()?;
        let checksum = u32::from_le_bytes(from.array()?);
        // What is not there must not be asked for.
        let end = offset.checked_add(length_bytes.into())?;
        let text = Text::kept(&self.block, offset, length_bytes, checksum);
        self.fold.texts.restored(&text);
        (end <= self.length_bytes).then_some(text)
    }

    fn versions(&self, from: &mut Packed<'_>) -> Option<Vec<Arc<Version>>> {
        (0..from.count()?).map(|_| self.version(from).map(Arc::new)).collect()
    }

    fn version(&self, from: &mut Packed<'_>) -> Option<Version> {
        let id = EventId::foreign(from.text()?)?;
        let timestamp = from.instant()?;
        let repo = self.repo(from)?;
        let origin = Origin { log: self.log(from)?, offset: from.number()? };
        let digest = from.array()?;
        Some(Version { event: record::read(from, id, timestamp)?, repo, origin, digest })
    }
}

/// A key as we write it is itself.
fn repo(text: &str) -> Option<RepoKey> {
    RepoKey::parse(text).ok().filter(|key| key.as_str() == text)
}

impl Ledger {
    fn write(&self, to: &mut Packing) {
        to.number(self.held_bytes());
        to.number(self.horizon().is_some().into());
        if let Some(Age { when, id }) = self.horizon() {
            to.number(when.is_some().into());
            to.instant(when.flatten());
            to.text(id.as_str());
        }
        to.size(self.left_out().len());
        for (key, timestamp) in self.left_out().iter() {
            to.raw(key);
            to.instant(*timestamp);
        }
        to.size(self.orphaned().len());
        self.orphaned().iter().for_each(|key| to.raw(key));
    }

    fn read(from: &mut Packed<'_>, bound: Bound) -> Option<Self> {
        let held_bytes = from.number()?;
        let horizon = match from.number()? {
            0 => None,
            _ => {
                let is_known = from.number()? == 1;
                let instant = from.instant()?;
                let id = EventId::foreign(from.text()?)?;
                Some(Age { when: is_known.then_some(instant), id })
            }
        };
        let left_out = (0..from.count()?).map(|_| Some((from.array()?, from.instant()?)));
        let left_out = left_out.collect::<Option<Vec<_>>>()?;
        let orphaned = (0..from.count()?).map(|_| from.array());
        let orphaned = orphaned.collect::<Option<_>>()?;
        Some(Self::restored(bound, held_bytes, horizon, left_out, orphaned))
    }
}
