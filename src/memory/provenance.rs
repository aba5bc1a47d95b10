//! The provenance of memories: how, by whom and where they were written. Memories with the same
//! provenance share one copy. Not here: the content (`memory`).

use std::collections::HashSet;
use std::sync::Arc;

use super::LogFile;
use event::{Confidence, Event, EventType, FolderPath, MemoryScope, Timestamp};

/// How, by whom and where memories were written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Provenance {
    /// The log.
    pub log: Arc<LogFile>,
    /// The kind of event.
    pub kind: EventType,
    /// The agent or person who wrote it.
    pub agent_id: String,
    /// The session it was written in.
    pub session_id: Option<String>,
    /// Who vouches for it, by its line and within the limits of its origin.
    pub source: Option<String>,
    /// When it expires, where its line says so.
    pub expires: Option<Timestamp>,
    /// How sure the author was.
    pub confidence: Confidence,
    /// Where it applies.
    pub applies: MemoryScope,
    /// The folder of its repository it was learned in, where that is a package.
    pub folder: Option<FolderPath>,
    /// Whether it must never leave this machine.
    pub is_private: bool,
}

/// All provenances that are in use.
#[derive(Debug, Default)]
pub struct Provenances {
    known: HashSet<Arc<Provenance>>,
    /// At this length the unused ones are dropped.
    drop_at: usize,
}

/// Below this length unused ones are not dropped.
const DROP_AT_MIN: usize = 4_096;

impl Provenances {
    /// Collects existing provenances; equal ones become one.
    pub(super) fn of_all<'a>(shared: impl Iterator<Item = &'a Arc<Provenance>>) -> Self {
        let mut provenances = Self::default();
        // Adjacent memories mostly share one.
        let mut last: Option<&Arc<Provenance>> = None;
        for provenance in shared {
            if !last.is_some_and(|last| Arc::ptr_eq(last, provenance)) {
                provenances.known.insert(Arc::clone(provenance));
                last = Some(provenance);
            }
        }
        provenances.drop_at = provenances.known.len() * 2;
        provenances
    }

    /// Returns the provenance of an event in a log.
    pub fn intern_event(&mut self, event: &Event, log: Arc<LogFile>) -> Arc<Provenance> {
        self.intern(Provenance {
            kind: event.event_type.clone(),
            agent_id: event.agent_id.clone(),
            session_id: event.session_id.clone(),
            source: log.origin.source(event.source.as_deref()),
            expires: event.expires(),
            confidence: event.confidence(),
            applies: event.applies(),
            folder: event.folder(),
            is_private: event.is_private(),
            log,
        })
    }

    /// Returns the shared copy of a provenance.
    pub fn intern(&mut self, provenance: Provenance) -> Arc<Provenance> {
        if let Some(known) = self.known.get(&provenance) {
            return Arc::clone(known);
        }
        if self.known.len() >= self.drop_at.max(DROP_AT_MIN) {
            self.known.retain(|provenance| Arc::strong_count(provenance) > 1);
            self.drop_at = self.known.len() * 2;
        }
        let provenance = Arc::new(provenance);
        self.known.insert(Arc::clone(&provenance));
        provenance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance(agent: usize) -> Provenance {
        Provenance {
            log: Arc::new(LogFile::own("a")),
            kind: EventType::from_line("error"),
            agent_id: agent.to_string(),
            session_id: None,
            source: None,
            expires: None,
            confidence: Confidence::Stated,
            applies: MemoryScope::Repo,
            folder: None,
            is_private: false,
        }
    }

    #[test]
    fn equal_provenances_are_shared_and_unused_ones_dropped() {
        let mut provenances = Provenances::default();
        let needed = provenances.intern(provenance(0));
        assert!(Arc::ptr_eq(&needed, &provenances.intern(provenance(0))));
        for agent in 1..3 * DROP_AT_MIN {
            provenances.intern(provenance(agent));
        }
        assert!(provenances.known.len() <= DROP_AT_MIN + 1);
        assert!(Arc::ptr_eq(&needed, &provenances.intern(provenance(0))));
    }
}
