//! One memory: an event with a lesson, and the later events about it. The fields that every search
//! reads are in memory; the event itself is read from its record on demand. Not here:
//! folding events (`fold`), where records are stored (`texts`).

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use serde_json::Map;

use super::binary_encoding::{BinaryDecoder, BinaryEncoder};
use super::event_record;
use super::lifecycle::Lifecycle;
use super::passages::{Passage, passages};
use super::texts::RecordText;
use super::voices::OnlyOrigin;
use super::{LineOrigin, LinePlace, Provenance, Version, version};
use event::{Event, EventId, MemoryScope, RepoKey, SuccessRate, Timestamp, suspicion};
use guard::disclosure::{Disclosure, DisclosureOccasion, TextVoucher};
use guard::injection::Suspicion;

/// Everything known under one id.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Its id.
    pub id: EventId,
    /// When it was written. `None` where its line has no readable time.
    pub timestamp: Option<Timestamp>,
    /// Its repository, with aliases resolved.
    pub repo: RepoKey,
    /// The success rate that was first reported.
    pub success_rate: Option<SuccessRate>,
    /// How, by whom and where it was written.
    pub provenance: Arc<Provenance>,
    /// The offset of its line in the log, in bytes.
    pub offset: u64,
    /// The record of its event.
    pub text: RecordText,
    /// The cached result of [`Memory::flagged`].
    pub(super) flag: OnceLock<Option<Suspicion>>,
    /// The related events. Most memories have none, and then this takes no room.
    pub(super) related: Option<Box<RelatedEvents>>,
}

/// The sources of the user's own memories.
const OWN_SOURCES: [&str; 3] = ["human", "agent", "hook"];

/// How the injection flag is encoded. Only the build that wrote a checkpoint reads it, so the
/// numbers may change.
const UNKNOWN: usize = 0;
const NOT_FLAGGED: usize = 1;
const FIRST_REASON: usize = 2;

/// Whether other memories have the id of a memory (S-ORIGIN-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdShare {
    /// None.
    #[default]
    Alone,
    /// Some, and this one comes first: our own, else that of the first origin by name.
    First,
    /// Another one comes first.
    Beside,
}

/// The other events of a memory.
#[derive(Debug, Clone, Default)]
pub struct RelatedEvents {
    /// Later events about it, sorted by id.
    pub(super) about: Vec<Arc<Version>>,
    /// Their lifecycle, computed when first asked.
    pub(super) lifecycle: OnceLock<Lifecycle>,
    /// Other contents that its origins have under the same id, in a fixed order. Damage or a clash of ids causes them,
    /// and they are never merged.
    pub(super) conflicts: Vec<Arc<Version>>,
    /// The same content as other origins wrote it, in a fixed order.
    pub(super) copies: Vec<Arc<Version>>,
    /// Whether other memories have its id.
    pub(super) share: IdShare,
}

impl RelatedEvents {
    pub(super) fn new(about: Vec<Arc<Version>>, conflicts: Vec<Arc<Version>>) -> Self {
        let (lifecycle, copies, share) = (OnceLock::new(), Vec::new(), IdShare::Alone);
        Self { about, lifecycle, conflicts, copies, share }
    }

    /// Tells whether a memory has these related events.
    pub(super) fn is_same(&self, memory: &Memory) -> bool {
        self.about == memory.about()
            && self.conflicts == memory.conflicts()
            && self.copies == memory.copies()
            && self.share == memory.id_share()
    }

    fn is_empty(&self) -> bool {
        self.about.is_empty()
            && self.conflicts.is_empty()
            && self.copies.is_empty()
            && self.share == IdShare::Alone
    }
}

/// The fields of an event that its memory keeps outside the record.
pub(crate) struct MemoryHead {
    pub(crate) id: EventId,
    pub(crate) timestamp: Option<Timestamp>,
    pub(crate) success_rate: Option<SuccessRate>,
}

impl Memory {
    /// Makes a memory whose record is `text`.
    pub(crate) fn new(
        head: MemoryHead,
        repo: RepoKey,
        provenance: Arc<Provenance>,
        offset: u64,
        text: RecordText,
        related: RelatedEvents,
    ) -> Self {
        let MemoryHead { id, timestamp, success_rate } = head;
        let related = (!related.is_empty()).then(|| Box::new(related));
        let flag = OnceLock::new();
        Self { id, timestamp, repo, success_rate, provenance, offset, text, flag, related }
    }

    /// Returns its event, decoded anew in some microseconds, with the source that counts ([`LineOrigin::source`]).
    /// With a damaged record it has only the id and the time; see [`Memory::is_lost`].
    ///
    /// [`LineOrigin::source`]: super::LineOrigin::source
    #[must_use]
    pub fn event(&self) -> Event {
        Event { source: self.provenance.source.clone(), ..self.line_event() }
    }

    /// Returns its event as the line says, whoever wrote it.
    #[must_use]
    pub fn line_event(&self) -> Event {
        self.read().unwrap_or_else(|| self.empty_event())
    }

    /// Tells whether its record cannot be read. Then it must not be shown, and the follower will
    /// read the logs again.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.read().is_none()
    }

    fn read(&self) -> Option<Event> {
        let bytes = self.text.bytes()?;
        let mut packed = BinaryDecoder::new(&bytes);
        let event = event_record::read(&mut packed, self.id.clone(), self.timestamp);
        let event = event.filter(|_| packed.is_at_end());
        if event.is_none() {
            self.text.report_damage();
        }
        event
    }

    fn empty_event(&self) -> Event {
        Event {
            id: self.id.clone(),
            timestamp: self.timestamp,
            agent_id: self.provenance.agent_id.clone(),
            repo: self.repo.to_string(),
            event_type: self.provenance.kind.clone(),
            context: String::new(),
            command: String::new(),
            lesson: String::new(),
            success_rate: self.success_rate,
            tags: Vec::new(),
            symptoms: Vec::new(),
            files: Vec::new(),
            commit: None,
            branch: None,
            session_id: self.provenance.session_id.clone(),
            host: None,
            source: self.provenance.source.clone(),
            schema: None,
            memory_id: None,
            extra: Map::new(),
        }
    }

    /// Returns where its line is.
    #[must_use]
    pub fn place(&self) -> LinePlace {
        LinePlace { log: Arc::clone(&self.provenance.log), offset: self.offset }
    }

    /// Returns later events about it, sorted by id.
    #[must_use]
    pub fn about(&self) -> &[Arc<Version>] {
        self.related.as_ref().map_or(&[], |related| &related.about)
    }

    /// Returns other contents that its origins have under the same id, in a fixed order.
    #[must_use]
    pub fn conflicts(&self) -> &[Arc<Version>] {
        self.related.as_ref().map_or(&[], |related| &related.conflicts)
    }

    /// Returns the same content as other origins wrote it, in a fixed order.
    #[must_use]
    pub fn copies(&self) -> &[Arc<Version>] {
        self.related.as_ref().map_or(&[], |related| &related.copies)
    }

    /// Tells whether other memories have its id.
    #[must_use]
    pub fn id_share(&self) -> IdShare {
        self.related.as_ref().map_or(IdShare::Alone, |related| related.share)
    }

    /// Returns the origins that have this content under its id.
    pub fn origins(&self) -> impl Iterator<Item = &LineOrigin> {
        let copies = self.copies().iter().map(|version| &version.place.log.origin);
        std::iter::once(&self.provenance.log.origin).chain(copies)
    }

    /// Returns the version of the origin that wrote it first; by content where two wrote it at once. `None` where it has
    /// only one origin.
    #[must_use]
    pub fn earliest_version(&self) -> Option<Version> {
        let first = self.copies().iter().min_by(|one, other| version::by_content(one, other))?;
        let shown = self.version();
        Some(match version::by_content(&shown, first) {
            Ordering::Greater => Version::clone(first),
            Ordering::Less | Ordering::Equal => shown,
        })
    }

    /// Returns the earliest time at which one of its origins wrote it.
    #[must_use]
    pub fn earliest(&self) -> Option<Timestamp> {
        let copies = self.copies().iter().map(|version| version.event.timestamp);
        copies.fold(self.timestamp, Ord::min)
    }

    /// Returns its origin, if it has only one. The actions of that origin on it count (S-ORIGIN-4).
    #[must_use]
    pub fn only_origin(&self) -> OnlyOrigin<'_> {
        self.copies().is_empty().then_some(&self.provenance.log.origin)
    }

    /// Returns its lifecycle.
    #[must_use]
    pub fn lifecycle(&self) -> &Lifecycle {
        self.related.as_ref().map_or(Lifecycle::NONE, |related| {
            related
                .lifecycle
                .get_or_init(|| Lifecycle::from_versions(&related.about, self.only_origin()))
        })
    }

    /// Returns why it reads like an instruction to its reader, if it does. No log stores this, so
    /// better rules apply to old lines. It is computed once, when first asked, and stored only in
    /// checkpoints of the same build: most memories never become candidates.
    #[must_use]
    pub fn flagged(&self) -> Option<Suspicion> {
        *self.flag.get_or_init(|| suspicion(&self.event()))
    }

    /// Tells whether somebody else vouches for it: it was imported, or it came from the team. Lines of a person, an agent or
    /// a hook of this machine are the user's own, and so are lines without a source.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let is_of_others = |source: &str| !OWN_SOURCES.contains(&source);
        self.provenance.log.origin.other().is_some()
            || self.provenance.source.as_deref().is_some_and(is_of_others)
    }

    /// Tells who vouches for it.
    #[must_use]
    pub fn voucher(&self) -> TextVoucher {
        if self.is_foreign() { TextVoucher::Others } else { TextVoucher::User }
    }

    /// Tells whether it is left out on this occasion. A memory that is shown on every occasion is not judged for that.
    #[must_use]
    pub fn is_left_out(&self, how: DisclosureOccasion) -> bool {
        let voucher = self.voucher();
        Disclosure::may_leave_out(voucher, how)
            && Disclosure::decide(voucher, how, self.flagged()).is_left_out()
    }

    /// Tells whether it applies in every repository.
    #[must_use]
    pub fn is_global(&self) -> bool {
        self.provenance.applies == MemoryScope::Global
    }

    /// Tells whether [`Memory::flagged`] was already computed.
    #[must_use]
    pub fn is_flag_known(&self) -> bool {
        self.flag.get().is_some()
    }

    /// Tells whether it is already known to read like an instruction.
    #[must_use]
    pub fn is_known_as_flagged(&self) -> bool {
        matches!(self.flag.get(), Some(Some(_)))
    }

    /// Writes the injection flag: unknown, harmless, or the reason.
    pub(super) fn write_flag(&self, to: &mut BinaryEncoder) {
        let number_of = |why: &Suspicion| Suspicion::ALL.iter().position(|other| other == why);
        to.size(match self.flag.get() {
            None => UNKNOWN,
            Some(None) => NOT_FLAGGED,
            Some(Some(why)) => number_of(why).map_or(UNKNOWN, |number| FIRST_REASON + number),
        });
    }

    /// Reads the flag that [`Memory::write_flag`] wrote. `None` for anything else.
    pub(super) fn with_flag(mut self, from: &mut BinaryDecoder<'_>) -> Option<Self> {
        match from.size()? {
            UNKNOWN => {}
            NOT_FLAGGED => self.flag = None.into(),
            reason => {
                let number = reason.checked_sub(FIRST_REASON)?;
                self.flag = Some(*Suspicion::ALL.get(number)?).into();
            }
        }
        Some(self)
    }

    /// Returns its shown content as a version.
    #[must_use]
    pub fn version(&self) -> Version {
        Version::new(self.line_event(), self.repo.clone(), self.place())
    }

    /// Returns the text for the lexical index: everything somebody may remember it by.
    #[must_use]
    pub fn index_text(&self) -> String {
        index_text(&self.event())
    }

    /// Returns the text for the lexical index, cut into passages that can each answer a query.
    #[must_use]
    pub fn passages(&self) -> Vec<Passage> {
        passages(&self.index_text())
    }

    /// Returns the size of its record in bytes, which is about that of its texts.
    #[must_use]
    pub fn record_bytes(&self) -> u64 {
        self.text.length_bytes()
    }

    /// Returns the text that is embedded. The model reads some 200 words and weighs the first ones
    /// most, so the order is: what happened, how it looked, what to do.
    #[must_use]
    pub fn meaning_text(&self) -> String {
        let event = self.event();
        let mut parts: Vec<&str> = vec![&event.context];
        parts.extend(event.symptoms.iter().map(String::as_str));
        parts.extend([event.lesson.as_str(), &event.command]);
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }
}

/// Compares content; where records are stored and what was computed makes no difference.
impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        let content = |memory: &Self| (memory.line_event(), memory.repo.clone(), memory.place());
        content(self) == content(other)
            && self.about() == other.about()
            && self.conflicts() == other.conflicts()
            && self.copies() == other.copies()
    }
}

/// Returns everything somebody may remember an event by.
pub(super) fn index_text(event: &Event) -> String {
    let mut text = String::new();
    let single = [&event.context, &event.lesson, &event.command];
    let lists = [&event.symptoms, &event.tags, &event.files];
    for part in single.into_iter().chain(lists.into_iter().flatten()) {
        if !part.is_empty() {
            text.push_str(part);
            text.push('\n');
        }
    }
    text
}

/// Encodes the record of an event.
pub(super) fn record_of(event: &Event) -> Vec<u8> {
    let mut packing = BinaryEncoder::default();
    event_record::write(event, &mut packing);
    packing.into_bytes()
}
