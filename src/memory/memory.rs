//! One memory: an event that says something, and what later events say about it. What every search needs
//! of every memory is at hand; the event itself is read when it is asked for. Not here: how events are
//! put together (`fold`), where the records of events are (`texts`).

use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::Map;

use super::event_record;
use super::lifecycle::Lifecycle;
use super::packed::{Packed, Packing};
use super::passages::passages;
use super::texts::RecordText;
use super::{Provenance, Version};
use event::{Event, EventId, RepoKey, SuccessRate, Timestamp, suspicion};
use guard::injection::Suspicion;

/// Where a line stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The log.
    pub log: Arc<Path>,
    /// Where in it the line begins, in bytes.
    pub offset: u64,
}

/// What is known under one id.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Names it.
    pub id: EventId,
    /// When it was written; `None` where its line gives no time that can be read.
    pub timestamp: Option<Timestamp>,
    /// The repository it belongs to, with aliases followed.
    pub repo: RepoKey,
    /// Successes/attempts so far, as first reported.
    pub success_rate: Option<SuccessRate>,
    /// How, by whom and where it was written down.
    pub provenance: Arc<Provenance>,
    /// Where in its log a line that holds it begins, in bytes.
    pub offset: u64,
    /// The record of its event.
    pub text: RecordText,
    /// What [`Memory::flagged`] found out.
    pub(super) flag: OnceLock<Option<Suspicion>>,
    /// Most memories have nothing here, and then it takes nothing.
    pub(super) related: Option<Box<RelatedEvents>>,
}

/// How a verdict is written down. Only the very build that wrote one believes it, so the numbers may change.
const UNKNOWN: usize = 0;
const HARMLESS: usize = 1;
const FIRST_REASON: usize = 2;

/// Other events that belong to a memory.
#[derive(Debug, Clone, Default)]
pub struct RelatedEvents {
    /// Later events about it, in the order of their ids.
    pub(super) about: Vec<Arc<Version>>,
    /// What they add up to, found out when first asked.
    pub(super) lifecycle: OnceLock<Lifecycle>,
    /// Other contents found under the same id, in a fixed order: damage or a clash, never silently
    /// merged.
    pub(super) conflicts: Vec<Arc<Version>>,
}

impl RelatedEvents {
    pub(super) fn new(about: Vec<Arc<Version>>, conflicts: Vec<Arc<Version>>) -> Self {
        Self { about, lifecycle: OnceLock::new(), conflicts }
    }
}

impl Memory {
    /// A memory whose event's record is `text`.
    pub(crate) fn new(
        event: (EventId, Option<Timestamp>, Option<SuccessRate>),
        repo: RepoKey,
        (provenance, offset): (Arc<Provenance>, u64),
        text: RecordText,
        related: RelatedEvents,
    ) -> Self {
        let (id, timestamp, success_rate) = event;
        let is_alone = related.about.is_empty() && related.conflicts.is_empty();
        let related = (!is_alone).then(|| Box::new(related));
        let flag = OnceLock::new();
        Self { id, timestamp, repo, success_rate, provenance, offset, text, flag, related }
    }

    /// Returns the event that says it, read anew: some microseconds. Of a record that is damaged nothing but
    /// its id and time; see [`Memory::is_lost`].
    #[must_use]
    pub fn event(&self) -> Event {
        self.read().unwrap_or_else(|| self.empty_event())
    }

    /// Tells whether its record cannot be read: then it must not be shown, and its follower will read the
    /// logs again.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.read().is_none()
    }

    fn read(&self) -> Option<Event> {
        let bytes = self.text.bytes()?;
        let mut packed = Packed::of(&bytes);
        let event = event_record::read(&mut packed, self.id.clone(), self.timestamp);
        let event = event.filter(|_| packed.is_done());
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

    /// Returns where a line that holds it stands.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin { log: Arc::clone(&self.provenance.log), offset: self.offset }
    }

    /// Returns later events about it, in the order of their ids.
    #[must_use]
    pub fn about(&self) -> &[Arc<Version>] {
        self.related.as_ref().map_or(&[], |related| &related.about)
    }

    /// Returns other contents found under the same id, in a fixed order.
    #[must_use]
    pub fn conflicts(&self) -> &[Arc<Version>] {
        self.related.as_ref().map_or(&[], |related| &related.conflicts)
    }

    /// Returns what later events about it add up to; nothing for most memories.
    #[must_use]
    pub fn lifecycle(&self) -> &Lifecycle {
        self.related.as_ref().map_or(Lifecycle::NONE, |related| {
            related.lifecycle.get_or_init(|| Lifecycle::of(&related.about))
        })
    }

    /// Tells why it reads like an instruction to its reader, if it does. Never stored in a log: better
    /// rules apply to old lines. Found out once and when first asked, and kept in the checkpoints of this very
    /// build: most memories never are candidates.
    #[must_use]
    pub fn flagged(&self) -> Option<Suspicion> {
        *self.flag.get_or_init(|| suspicion(&self.event()))
    }

    /// Tells whether it was found out already whether it reads like an instruction.
    #[must_use]
    pub fn is_flag_known(&self) -> bool {
        self.flag.get().is_some()
    }

    /// Tells whether it has been found to read like an instruction.
    #[must_use]
    pub fn is_known_as_flagged(&self) -> bool {
        matches!(self.flag.get(), Some(Some(_)))
    }

    /// Writes down what is known of whether it reads like an instruction: nothing, or that it does not, or why.
    pub(super) fn write_flag(&self, to: &mut Packing) {
        let number_of = |why: &Suspicion| Suspicion::ALL.iter().position(|other| other == why);
        to.size(match self.flag.get() {
            None => UNKNOWN,
            Some(None) => HARMLESS,
            Some(Some(why)) => number_of(why).map_or(UNKNOWN, |number| FIRST_REASON + number),
        });
    }

    /// Takes in what [`Memory::write_flag`] wrote; `None` where it did not write that.
    pub(super) fn with_flag(mut self, from: &mut Packed<'_>) -> Option<Self> {
        match from.size()? {
            UNKNOWN => {}
            HARMLESS => self.flag = None.into(),
            reason => {
                let number = reason.checked_sub(FIRST_REASON)?;
                self.flag = Some(*Suspicion::ALL.get(number)?).into();
            }
        }
        Some(self)
    }

    /// Returns what is shown of it, as a version among others.
    pub(super) fn version(&self) -> Version {
        Version::new(self.event(), self.repo.clone(), self.origin())
    }

    /// Returns the text that word search indexes: everything somebody may remember it by.
    #[must_use]
    pub fn index_text(&self) -> String {
        index_text(&self.event())
    }

    /// Returns what word search indexes, cut into the passages that can each answer a query.
    #[must_use]
    pub fn passages(&self) -> Vec<String> {
        passages(&self.index_text()).into_iter().map(str::to_owned).collect()
    }

    /// Returns the text whose meaning is embedded. What the model reads first counts most, since it
    /// stops after some 200 words: what happened, how it looked, then what to do.
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

/// Equal in all that they say; where their records are and what was found out makes no difference.
impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        let said = |memory: &Self| (memory.event(), memory.repo.clone(), memory.origin());
        said(self) == said(other)
            && self.about() == other.about()
            && self.conflicts() == other.conflicts()
    }
}

/// Everything somebody may remember an event by.
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

/// The record of an event.
pub(super) fn record_of(event: &Event) -> Vec<u8> {
    let mut packing = Packing::default();
    event_record::write(event, &mut packing);
    packing.done()
}
