//! The record of a memory: its lines, its analysed passages, its neighbours in the session, its vector and the signs of its
//! tokens. It is all that ranking needs, so that a fetched memory ranks as it would at home. Not here: what an engine finds it
//! by (`corpus_entry`).
//!
//! ```text
//! format 1 | passages | versions | neighbours | vector | signs     each list with its length before it
//! ```

use std::sync::Arc;

use crate::memory_key::MemoryKey;
use event::{Event, EventId, RepoKey, StoreOrigin};
use index::late::{Signs, TOKENS_KEPT_MAX, TokenSigns};
use index::lexical::{AnalysisCache, CountedPassage, passages_of};
use memory::binary_encoding::{BinaryDecoder, BinaryEncoder};
use memory::{LineOrigin, LinePlace, LogFile, Memory, NEIGHBOURS_MAX, Version, event_record};
use search::snapshot::Snapshot;
use settings::SyncPolicy;

/// The first byte of every record. It goes up when the layout changes, and a record of another layout is refused.
const FORMAT: u8 = 1;

/// From where records are written and read: who we are, and whose deeds count like our own.
#[derive(Debug, Clone)]
pub struct Viewpoint {
    /// The origin of our own lines.
    pub own: StoreOrigin,
    /// Whom we trust.
    pub policy: SyncPolicy,
}

impl Viewpoint {
    fn name_of(&self, origin: &LineOrigin) -> StoreOrigin {
        origin.other().unwrap_or(&self.own).clone()
    }

    fn origin_of(&self, name: StoreOrigin) -> LineOrigin {
        match name == self.own {
            true => LineOrigin::Own,
            false if self.policy.trusts(&name) => LineOrigin::Trusted(name),
            false => LineOrigin::Voice(name),
        }
    }
}

/// A line of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedLine {
    /// Its event.
    pub event: Event,
    /// Its repository, with aliases resolved.
    pub repo: RepoKey,
    /// Where it was read.
    pub place: LinePlace,
}

impl RecordedLine {
    fn from_version(version: &Version) -> Self {
        let Version { event, repo, place, .. } = version;
        Self { event: event.clone(), repo: repo.clone(), place: place.clone() }
    }
}

/// The record of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRecord {
    /// Its content, then other contents and copies under its id, then the events about it.
    pub versions: Vec<RecordedLine>,
    /// Its analysed passages.
    pub passages: Vec<CountedPassage>,
    /// Its neighbours in the session: those before it, then those after it, the nearest first.
    pub neighbours: [Option<MemoryKey>; 2 * NEIGHBOURS_MAX],
    /// Its direction in whole numbers from -127 to 127.
    pub vector: Option<Vec<i8>>,
    /// The signs of its tokens.
    pub signs: Option<Vec<Signs>>,
}

impl MemoryRecord {
    /// Returns the record of a memory of a snapshot.
    pub(crate) fn from_snapshot(
        snapshot: &Snapshot,
        number: u32,
        words: &mut AnalysisCache,
    ) -> Option<Self> {
        let memory = snapshot.memory(number)?;
        let near = snapshot.neighbours_of(number);
        // What is said beside a memory is sent with it, so the neighbours must be such as may leave, too.
        let memory_of = |number: u32| snapshot.memory(number).filter(|near| is_sendable(near));
        let neighbours = near.numbers().filter_map(memory_of);
        let passages = passages_of(memory, neighbours.map(AsRef::as_ref));
        let key_of = |number: Option<u32>| {
            number.and_then(memory_of).map(|near| MemoryKey::from_memory(near))
        };
        let mut keys = near.before.into_iter().chain(near.after).map(key_of);
        let place = memory.place();
        let shown = RecordedLine { event: memory.line_event(), repo: memory.repo.clone(), place };
        let others = memory.conflicts().iter().chain(memory.copies()).chain(memory.about());
        let others = others.filter(|version| !version.event.is_private());
        let others = others.map(|version| RecordedLine::from_version(version));
        Some(Self {
            versions: std::iter::once(shown).chain(others).collect(),
            passages: snapshot.lexical().counted(&passages, words),
            neighbours: std::array::from_fn(|_| keys.next().flatten()),
            vector: snapshot.vectors().and_then(|vectors| vectors.codes(number)),
            signs: snapshot.signs(number).map(|signs| signs.iter().collect()),
        })
    }

    /// Returns the signs of its tokens.
    #[must_use]
    pub fn token_signs(&self) -> Option<TokenSigns> {
        self.signs.as_ref().map(|signs| TokenSigns::new(signs.iter().copied()))
    }

    /// Packs it, with the names of origins instead of what they are for us.
    #[must_use]
    pub fn pack(&self, viewpoint: &Viewpoint) -> Vec<u8> {
        let mut to = BinaryEncoder::default();
        to.raw(&[FORMAT]);
        to.size(self.passages.len());
        for passage in &self.passages {
            to.number(passage.length.into());
            to.number(passage.is_reply.into());
            to.size(passage.terms.len());
            for (term, count) in &passage.terms {
                to.text(term);
                to.number((*count).into());
            }
        }
        to.size(self.versions.len());
        self.versions.iter().for_each(|version| pack_version(version, viewpoint, &mut to));
        for neighbour in self.neighbours {
            to.bytes(neighbour.as_ref().map_or(&[], |key| &key.0));
        }
        let vector: Vec<u8> =
            self.vector.iter().flatten().map(|code| code.cast_unsigned()).collect();
        to.bytes(&vector);
        to.size(self.signs.as_ref().map_or(0, |signs| signs.len() + 1));
        for word in self.signs.iter().flatten().flatten() {
            to.raw(&word.to_le_bytes());
        }
        to.into_bytes()
    }

    /// Reads what [`Self::pack`] packed, with origins as they are seen from `viewpoint`. `None` for anything else.
    #[must_use]
    pub fn unpack(bytes: &[u8], viewpoint: &Viewpoint) -> Option<Self> {
        let from = &mut BinaryDecoder::new(bytes);
        if from.array()? != [FORMAT] {
            return None;
        }
        let passages = unpack_passages(from)?;
        let count = from.count()?;
        let versions =
            (0..count).map(|_| unpack_version(from, viewpoint)).collect::<Option<_>>()?;
        let mut neighbours = [None; 2 * NEIGHBOURS_MAX];
        for neighbour in &mut neighbours {
            *neighbour = match from.bytes()? {
                [] => None,
                key => Some(MemoryKey(key.try_into().ok()?)),
            };
        }
        let vector: Vec<i8> = from.bytes()?.iter().map(|code| code.cast_signed()).collect();
        let vector = (!vector.is_empty()).then_some(vector);
        let signs = match from.size().filter(|count| *count <= TOKENS_KEPT_MAX + 1)?.checked_sub(1)
        {
            None => None,
            Some(count) => Some((0..count).map(|_| unpack_signs(from)).collect::<Option<_>>()?),
        };
        from.is_at_end().then_some(Self { versions, passages, neighbours, vector, signs })
    }
}

fn pack_version(version: &RecordedLine, viewpoint: &Viewpoint, to: &mut BinaryEncoder) {
    let RecordedLine { event, repo, place } = version;
    to.text(event.id.as_str());
    to.instant(event.timestamp);
    to.text(repo.as_str());
    to.text(viewpoint.name_of(&place.log.origin).as_str());
    // Only its name: where a store lies on a disk is nobody's business.
    let name = place.log.path.file_name().unwrap_or_default();
    to.text(&name.to_string_lossy());
    to.number(place.offset);
    event_record::write(event, to);
}

fn unpack_version(from: &mut BinaryDecoder<'_>, viewpoint: &Viewpoint) -> Option<RecordedLine> {
    let id = EventId::foreign(from.text()?)?;
    let timestamp = from.instant()?;
    let repo = RepoKey::from_line(from.text()?);
    let origin = viewpoint.origin_of(StoreOrigin::parse(from.text()?)?);
    let log = Arc::new(LogFile { path: from.text()?.into(), origin });
    let place = LinePlace { log, offset: from.number()? };
    let event: Event = event_record::read(from, id, timestamp)?;
    Some(RecordedLine { event, repo, place })
}

/// Reads the passages of a record, for an engine that counts what goes with it. `None` for bytes that are no record.
#[must_use]
pub fn passages_in(record: &[u8]) -> Option<Vec<CountedPassage>> {
    let from = &mut BinaryDecoder::new(record);
    if from.array()? != [FORMAT] {
        return None;
    }
    unpack_passages(from)
}

fn unpack_passages(from: &mut BinaryDecoder<'_>) -> Option<Vec<CountedPassage>> {
    let count = from.count()?;
    (0..count).map(|_| unpack_passage(from)).collect()
}

fn unpack_passage(from: &mut BinaryDecoder<'_>) -> Option<CountedPassage> {
    let length = u16::try_from(from.number()?).ok()?;
    let is_reply = from.number()? == 1;
    let count = from.count()?;
    let term = |from: &mut BinaryDecoder<'_>| {
        Some((from.text()?.into(), u16::try_from(from.number()?).ok()?))
    };
    let terms = (0..count).map(|_| term(from)).collect::<Option<_>>()?;
    Some(CountedPassage { terms, length, is_reply })
}

fn unpack_signs(from: &mut BinaryDecoder<'_>) -> Option<Signs> {
    let mut signs = Signs::default();
    for word in &mut signs {
        *word = u64::from_le_bytes(from.array()?);
    }
    Some(signs)
}

/// Tells whether a memory may leave this machine in principle: it is not private, and can be read.
#[must_use]
pub fn is_sendable(memory: &Memory) -> bool {
    !memory.provenance.is_private && !memory.is_lost()
}

#[cfg(test)]
mod tests {
    use settings::TeamTrust;

    use super::*;
    use event::{DecodedLine, codec};

    fn viewpoint(host: &str, trust: TeamTrust) -> Viewpoint {
        let policy = SyncPolicy { trust, ..SyncPolicy::default() };
        Viewpoint { own: StoreOrigin::mint(host, 1), policy }
    }

    fn record() -> MemoryRecord {
        let line = r#"{"id":"m1","repo":"api","lesson":"walrus","tags":["a"],"source":"human"}"#;
        let DecodedLine::Event(event) = codec::decode(line.as_bytes(), "") else { panic!() };
        let place = LinePlace::own("/home/me/logs/api.jsonl", 7);
        let passage =
            CountedPassage { terms: vec![("walru".into(), 2)], length: 2, is_reply: true };
        MemoryRecord {
            versions: vec![RecordedLine { repo: event.repo_key(), event: *event, place }],
            passages: vec![passage],
            neighbours: [None, Some(MemoryKey([3; 16])), None, Some(MemoryKey([0; 16]))],
            vector: Some(vec![-127, 0, 127]),
            signs: Some(vec![std::array::from_fn(|word| u64::MAX >> word), Signs::default()]),
        }
    }

    // S-CORPUS-1, S-CORPUS-10
    #[test]
    fn a_record_comes_back_as_it_was() {
        let (record, ours) = (record(), viewpoint("laptop", TeamTrust::default()));
        let mut back = MemoryRecord::unpack(&record.pack(&ours), &ours).unwrap();
        assert_eq!(back.versions[0].place.log.path().to_str(), Some("api.jsonl"), "no folder");
        back.versions[0].place = record.versions[0].place.clone();
        assert_eq!(back, record);
        assert_eq!(passages_in(&record.pack(&ours)), Some(record.passages));
        let none = MemoryRecord { signs: Some(Vec::new()), vector: None, ..back };
        let again = MemoryRecord::unpack(&none.pack(&ours), &ours).unwrap();
        assert!(again.signs == Some(Vec::new()) && again.vector.is_none());
    }

    // S-CORPUS-10
    #[test]
    fn a_line_is_of_the_origin_that_wrote_it() {
        let ours = viewpoint("laptop", TeamTrust::default());
        let packed = record().pack(&ours);
        let origin = |seen_from: &Viewpoint| {
            let record = MemoryRecord::unpack(&packed, seen_from).unwrap();
            record.versions[0].place.log.origin.clone()
        };
        assert_eq!(origin(&ours), LineOrigin::Own);
        let theirs = ours.own.clone();
        assert_eq!(
            origin(&viewpoint("other", TeamTrust::default())),
            LineOrigin::Voice(theirs.clone())
        );
        assert_eq!(origin(&viewpoint("other", TeamTrust::Full)), LineOrigin::Trusted(theirs));
    }
}
