//! The index of exchanges: what was said (`speech`) and what was done (`work`) by their words, and a small row for each
//! exchange. It is made of the kept exchanges and can be thrown away. Two indexes, not one: the words of commands and
//! errors in one bag with what was said hide it. Not here: the search (`session_search`), the cache file
//! (`index_cache`).
//!
//! One exchange is several documents: one for each speaker, and one for each scope it has parts in. So a search of one
//! scope or speaker sees just the words of these.

use std::collections::{BTreeMap, HashMap};

use index::lexical::{DocId, LexicalIndex, Passage};
use thiserror::Error;

use super::scope::{ExchangeScope, PART_SCOPES, ScopeSet};
use super::search_text::{SessionTopic, Speaker, cut_passages, speech_passages};
use transcripts::exchange::Exchange;

/// Documents that one exchange can have in an index.
const SPEAKERS: u32 = 2;
const SLOTS: u32 = 8;

/// The highest row of an exchange: its documents must have numbers.
pub const EXCHANGE_ROW_MAX: u32 = u32::MAX / SLOTS;

/// An exchange that is to be indexed.
#[derive(Debug, Clone, Copy)]
pub struct IndexedExchange<'a> {
    /// Its row in the archive, at most [`EXCHANGE_ROW_MAX`].
    pub row: u32,
    /// The row of its session.
    pub session: u32,
    /// What its session is about.
    pub topic: SessionTopic<'a>,
    /// What happened.
    pub exchange: &'a Exchange,
}

/// What is known of an indexed exchange without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeRow {
    /// The row of its session.
    pub session: u32,
    /// When it ended, in milliseconds since 1970, if known.
    pub at_ms: Option<i64>,
    /// The scopes it has parts in.
    pub scopes: ScopeSet,
    /// How many bytes were said in it.
    pub speech_bytes: u32,
}

/// Why exchanges cannot be indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ExchangeIndexError {
    /// The row is above [`EXCHANGE_ROW_MAX`].
    #[error("exchange {0} has too high a row to be indexed")]
    RowTooHigh(u32),
}

/// The index. Clones share what is indexed by words.
#[derive(Debug, Clone, Default)]
pub struct ExchangeIndex {
    pub(super) speech: LexicalIndex,
    pub(super) work: LexicalIndex,
    pub(super) rows: BTreeMap<u32, ExchangeRow>,
    /// The bytes that were said in each session.
    session_bytes: HashMap<u32, u64>,
}

impl ExchangeIndex {
    pub(super) fn from_parts(
        speech: LexicalIndex,
        work: LexicalIndex,
        rows: BTreeMap<u32, ExchangeRow>,
    ) -> Self {
        let mut session_bytes: HashMap<u32, u64> = HashMap::new();
        for row in rows.values() {
            *session_bytes.entry(row.session).or_default() += u64::from(row.speech_bytes);
        }
        Self { speech, work, rows, session_bytes }
    }

    /// Indexes exchanges. One that is indexed already gets its new text.
    ///
    /// # Errors
    /// [`ExchangeIndexError::RowTooHigh`]; then nothing is changed.
    pub fn insert_all(
        &mut self,
        exchanges: &[IndexedExchange<'_>],
    ) -> Result<(), ExchangeIndexError> {
        if let Some(high) = exchanges.iter().find(|one| one.row > EXCHANGE_ROW_MAX) {
            return Err(ExchangeIndexError::RowTooHigh(high.row));
        }
        self.remove_all(exchanges.iter().map(|one| one.row));
        let (mut speech, mut work) = (BTreeMap::new(), BTreeMap::new());
        for one in exchanges {
            let speech_bytes = add_speech(one, &mut speech);
            let scopes = add_work(one, &mut work);
            let at_ms = one.exchange.span_ms().map(|(_, end)| end);
            let row = ExchangeRow { session: one.session, at_ms, scopes, speech_bytes };
            // The last of two with one row counts.
            self.forget_row(one.row);
            self.rows.insert(one.row, row);
            *self.session_bytes.entry(one.session).or_default() += u64::from(speech_bytes);
        }
        self.speech.put_all(&speech);
        self.work.put_all(&work);
        Ok(())
    }

    /// Removes exchanges; those that are not there are left out. Costs one scan of all documents.
    pub fn remove_all(&mut self, rows: impl IntoIterator<Item = u32>) {
        let (mut speech, mut work) = (BTreeMap::new(), BTreeMap::new());
        for row in rows {
            if self.forget_row(row) {
                speech
                    .extend((0..SPEAKERS).map(|place| (DocId(row * SPEAKERS + place), Vec::new())));
                work.extend((0..SLOTS).map(|place| (DocId(row * SLOTS + place), Vec::new())));
            }
        }
        self.speech.put_all(&speech);
        self.work.put_all(&work);
    }

    /// Removes the row alone; returns whether it was there.
    fn forget_row(&mut self, row: u32) -> bool {
        let Some(gone) = self.rows.remove(&row) else { return false };
        if let Some(bytes) = self.session_bytes.get_mut(&gone.session) {
            *bytes = bytes.saturating_sub(u64::from(gone.speech_bytes));
        }
        true
    }

    /// Returns the number of exchanges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Tells whether it has no exchange.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns what is known of an exchange.
    #[must_use]
    pub fn row(&self, exchange: u32) -> Option<ExchangeRow> {
        self.rows.get(&exchange).copied()
    }

    /// Returns how many bytes were said in a session.
    pub(super) fn bytes_of_session(&self, session: u32) -> u64 {
        self.session_bytes.get(&session).copied().unwrap_or(0)
    }
}

/// Adds the documents of what was said; returns its bytes.
fn add_speech(one: &IndexedExchange<'_>, to: &mut BTreeMap<DocId, Vec<Passage>>) -> u32 {
    let mut bytes = 0;
    for speaker in [Speaker::User, Speaker::Assistant] {
        let passages = speech_passages(one.exchange, speaker, one.topic);
        bytes += passages.iter().map(|passage| passage.own.len()).sum::<usize>();
        to.insert(speech_doc(one.row, speaker), passages);
    }
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Adds the documents of what was done; returns the scopes that have one.
fn add_work(one: &IndexedExchange<'_>, to: &mut BTreeMap<DocId, Vec<Passage>>) -> ScopeSet {
    let mut scopes = ScopeSet::default();
    for scope in PART_SCOPES {
        let texts = scope.texts(one.exchange);
        let passages: Vec<Passage> = cut_passages(texts.iter().map(String::as_str))
            .into_iter()
            .map(Passage::from_text)
            .collect();
        if !passages.is_empty() {
            scopes = scopes.with(scope);
        }
        to.insert(work_doc(one.row, scope), passages);
    }
    scopes
}

/// Returns the number of the document with what one speaker said in an exchange.
pub(super) fn speech_doc(row: u32, speaker: Speaker) -> DocId {
    DocId(row * SPEAKERS + u32::from(speaker == Speaker::Assistant))
}

/// Returns the exchange of such a document, and the speaker.
pub(super) fn of_speech_doc(doc: DocId) -> (u32, Speaker) {
    let speaker = if doc.0.is_multiple_of(SPEAKERS) { Speaker::User } else { Speaker::Assistant };
    (doc.0 / SPEAKERS, speaker)
}

/// Returns the number of the document with what an exchange has in a scope of parts.
pub(super) fn work_doc(row: u32, scope: ExchangeScope) -> DocId {
    let place = PART_SCOPES.iter().position(|known| *known == scope).unwrap_or(0);
    DocId(row * SLOTS + u32::try_from(place).unwrap_or(0))
}

/// Returns the exchange of such a document, and the scope.
pub(super) fn of_work_doc(doc: DocId) -> (u32, ExchangeScope) {
    let place = usize::try_from(doc.0 % SLOTS).unwrap_or(0);
    (doc.0 / SLOTS, PART_SCOPES.get(place).copied().unwrap_or_default())
}
