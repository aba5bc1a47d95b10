//! Compares the memories of one repository: which ones share rare words with a memory, and which of these are about its subject. Not
//! here: comparing two texts (`evidence`), how much two notes must be alike (`likeness`).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::evidence::{ComparedText, alphabetic, text_of};
use super::likeness::SubjectLikeness;
use super::sign::ContradictionSign;
use crate::same_subject::is_settled;
use crate::snapshot::Snapshot;
use crate::subject_memo::SubjectNote;
use event::{Event, RepoKey, Timestamp};
use index::lexical::{AnalysisCache, DocId, DocumentFrequencies, LexicalIndex};
use memory::{Memory, RepoChunks};

/// Memories with shared words that are compared with one; half as many at a save, which waits for them.
const RELATIVES_MAX: usize = 12;
/// The rarest words of a memory by which related ones are searched: a save waits for this.
const KIN_TERMS_MAX: usize = 16;
/// The same two for a hit of a search, which waits too, and the memories of the whole store that are looked at for it. With
/// ten words, notes that tell of one subject in other words are found as well.
const SUBJECT_RELATIVES_MAX: usize = 6;
const SUBJECT_TERMS_MAX: usize = 10;
const SUBJECT_LOOKED_AT_MAX: usize = 48;
/// The least share of the weight of these words that a note about the same subject has. Of 105 pairs three have less, and of
/// six other notes with shared words four do.
const SUBJECT_TERMS_SHARE_MIN: f32 = 0.12;

/// The least weighted shares of common words of two memories about one subject: of their contexts, which tell the
/// situation, and of their texts. On `benches/lessons`, pairs of which one outdates the other share more than half of the
/// context in three of four cases, and other pairs of a repository with similar texts at most .4 in nine of ten.
const SITUATION_MIN: f32 = 0.45;
const SAME_SUBJECT_MIN: f32 = 0.35;
/// The least odds of a pair that is shown as a contradiction because of a change told in other words: a reader is asked about it,
/// so it must be surer than what only moves a hit.
const RIVAL_ODDS_MIN: f32 = 0.75;
/// From this share on they say the same, so neither is better.
const SAME_TEXT_MIN: f32 = 0.98;

/// A memory that may contradict another.
pub(super) struct Rival {
    pub(super) memory: Arc<Memory>,
    /// The weighted share of common words, 0 to 1.
    pub(super) kinship: f32,
    pub(super) signs: Vec<ContradictionSign>,
}

/// The comparisons of one scan.
pub(crate) struct Comparisons<'a> {
    snapshot: &'a Snapshot,
    now: Timestamp,
    /// The chunks of memories that hold the repositories.
    chunks: RepoChunks,
    /// The document frequencies of the words so far.
    holders: DocumentFrequencies<'a>,
    texts: BTreeMap<u32, Rc<ComparedText>>,
    subjects: BTreeMap<u32, Rc<ComparedSubject>>,
}

/// What a memory is about.
struct ComparedSubject {
    /// Its context; where that is empty, its whole text.
    situation: ComparedText,
    text: ComparedText,
}

impl ComparedSubject {
    fn from_event(event: &Event) -> Self {
        let text = text_of(event);
        let situation = if event.context.is_empty() { &text } else { &event.context };
        Self {
            situation: ComparedText::from_words(situation.clone()),
            text: ComparedText::from_words(text),
        }
    }
}

/// Returns the words by which notes about the subject of a memory are looked up, each with its weight; none where its context
/// is empty, for then nothing is.
#[must_use]
pub fn subject_terms(lexical: &LexicalIndex, memory: &Memory) -> Vec<(Box<str>, f32)> {
    let event = memory.event();
    if event.context.is_empty() {
        return Vec::new();
    }
    lexical.prepare(&text_of(&event)).by_rarest_shared(SUBJECT_TERMS_MAX).engine_terms()
}

pub(super) fn age(memory: &Memory) -> (Option<Timestamp>, String) {
    (memory.timestamp, memory.id.to_string())
}

pub(crate) fn is_comparable(memory: &Memory, now: Timestamp) -> bool {
    !memory.is_inactive(now) && memory.flagged().is_none() && !memory.is_lost()
}

impl<'a> Comparisons<'a> {
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        repos: &BTreeSet<RepoKey>,
        now: Timestamp,
        words: &'a mut AnalysisCache,
    ) -> Self {
        let chunks = snapshot.memories().chunks_of(repos);
        let holders = snapshot.lexical().holders(words);
        Self { snapshot, now, chunks, holders, texts: BTreeMap::new(), subjects: BTreeMap::new() }
    }

    /// Returns the older memories of its repository that a memory may contradict. Settled pairs are left out.
    pub(super) fn with_older(&mut self, number: u32, newer: &Memory) -> Vec<Rival> {
        let text = self.text_of(number, newer);
        let is_near =
            |memory: &Memory| memory.repo == newer.repo && !memory.is_of_package_beside(newer);
        let is_older = |memory: &Memory| is_near(memory) && age(memory) < age(newer);
        let relatives = self.relatives(&text, KIN_TERMS_MAX, RELATIVES_MAX, is_older);
        let subject = self.subject_of(number, newer);
        let mut found = Vec::new();
        for other in relatives {
            let Some(older) = self.snapshot.memory(other).cloned() else { continue };
            if !is_settled(&older, newer) {
                found.extend(self.rival((other, older), &text, &subject));
            }
        }
        found
    }

    /// Returns the memories that `allows` which a new text may contradict.
    pub(super) fn with_event(
        &mut self,
        event: &Event,
        allows: impl Fn(&Memory) -> bool,
    ) -> Vec<Rival> {
        let text = ComparedText::from_event(event);
        let relatives = self.relatives(&text, KIN_TERMS_MAX, RELATIVES_MAX / 2, allows);
        let subject = ComparedSubject::from_event(event);
        let mut found = Vec::new();
        for number in relatives {
            let Some(memory) = self.snapshot.memory(number).cloned() else { continue };
            found.extend(self.rival((number, memory), &text, &subject));
        }
        found
    }

    /// Returns an older memory that a newer text may contradict, with the signs: by common words, or because the newer text says
    /// in other words that something changed which the older one names.
    fn rival(
        &mut self,
        (number, memory): (u32, Arc<Memory>),
        text: &ComparedText,
        newer: &ComparedSubject,
    ) -> Option<Rival> {
        let against = self.text_of(number, &memory).against(text, &mut self.holders);
        if let Some((kinship, signs)) = against
            && self.is_shown(&signs, kinship, number, &memory, newer)
        {
            return Some(Rival { memory, kinship, signs });
        }
        let older = self.subject_of(number, &memory);
        let likeness = self.words_likeness(&older, newer);
        let says_the_same = likeness.words >= SAME_TEXT_MIN || newer.text.agrees_with(&older.text);
        if says_the_same || !likeness.can_be_of_one_subject() {
            return None;
        }
        let change = newer.text.change_of(&older.text, &mut self.holders);
        let is_of_subject = SubjectLikeness { change, ..likeness }.odds() >= RIVAL_ODDS_MIN;
        let signs = vec![ContradictionSign::Changes];
        (change > 0.0 && is_of_subject).then_some(Rival { memory, kinship: likeness.words, signs })
    }

    /// Returns what two notes share, without their meaning and without a change.
    fn words_likeness(
        &mut self,
        older: &ComparedSubject,
        newer: &ComparedSubject,
    ) -> SubjectLikeness {
        let holders = &mut self.holders;
        SubjectLikeness {
            words: older.text.share_with(&newer.text, holders),
            situation: older.situation.share_with(&newer.situation, holders),
            meaning: None,
            fewer_terms: older.text.len(holders).min(newer.text.len(holders)),
            change: 0.0,
        }
    }

    /// Tells whether signs are shown: of texts that say the same, always; else where both are about the same subject.
    fn is_shown(
        &mut self,
        signs: &[ContradictionSign],
        kinship: f32,
        number: u32,
        older: &Memory,
        newer: &ComparedSubject,
    ) -> bool {
        if signs.contains(&ContradictionSign::Repeats) {
            return true;
        }
        let older = self.subject_of(number, older);
        let situation = older.situation.kinship_with(&newer.situation, &mut self.holders);
        kinship >= SAME_SUBJECT_MIN && situation.is_some_and(|share| share >= SITUATION_MIN)
    }

    /// Returns the active notes of its repository about the subject of a memory. A memory whose context is empty has no subject:
    /// the turns of a chat share many words without being about one thing.
    pub(crate) fn notes_of_subject(&mut self, number: u32, memory: &Memory) -> Vec<SubjectNote> {
        let has_context = |memory: &Memory| !memory.event().context.is_empty();
        if !has_context(memory) {
            return Vec::new();
        }
        let this = self.subject_of(number, memory);
        let meaning = self.snapshot.vectors().and_then(|vectors| vectors.get(number));
        let is_of_repo = |other: &Memory| other.repo == memory.repo && other.id != memory.id;
        let is_near = |other: &Memory| is_of_repo(other) && !other.is_of_package_beside(memory);
        let relatives = self.like(&this.text, |other| has_context(other) && is_near(other));
        let mut notes = Vec::new();
        for other in relatives {
            let Some(memory_of) = self.snapshot.memory(other).cloned() else { continue };
            let odds = self.likeness((number, memory), (other, &memory_of), meaning.as_deref());
            notes.extend(odds.map(|odds| SubjectNote { number: other, odds }));
        }
        // So many are not versions of one note, but a family of one form, such as the pages of a rule book.
        if notes.len() >= SUBJECT_RELATIVES_MAX { Vec::new() } else { notes }
    }

    /// Returns how sure it is that two memories are about one subject; `None` where they are not, and where both say the same.
    fn likeness(
        &mut self,
        (number, memory): (u32, &Memory),
        (other_number, other): (u32, &Memory),
        meaning: Option<&[f32]>,
    ) -> Option<f32> {
        let (this, that) = (self.subject_of(number, memory), self.subject_of(other_number, other));
        let (older, newer) = match age(other) > age(memory) {
            true => (this, that),
            false => (that, this),
        };
        let likeness = self.words_likeness(&older, &newer);
        let says_the_same = likeness.words >= SAME_TEXT_MIN
            && older.text.mutual_share_with(&newer.text, &mut self.holders) >= SAME_TEXT_MIN;
        if says_the_same {
            return None;
        }
        let vectors = self.snapshot.vectors();
        let cosine =
            meaning.zip(vectors).and_then(|(meaning, index)| index.score(other_number, meaning));
        let meaning = cosine.map(|cosine| self.snapshot.scale.map_cosine(cosine));
        let likeness = SubjectLikeness { meaning, ..likeness };
        let is_parallel = self.is_parallel(&older, &newer);
        let is_near = likeness.words >= SAME_SUBJECT_MIN && likeness.situation >= SITUATION_MIN;
        if is_near && !is_parallel {
            return Some(likeness.odds().max(0.0));
        }
        if !likeness.can_be_of_one_subject() {
            return None;
        }
        let change = newer.text.change_of(&older.text, &mut self.holders);
        let odds = SubjectLikeness { change, ..likeness }.odds();
        let is_of_subject = odds >= 0.0 && (!is_parallel || change > 0.0);
        is_of_subject.then_some(odds)
    }

    /// Tells whether each of two contexts names something that the other note does not have, as "the VAT of France" and "the VAT
    /// of Spain" do: notes of one form about two things.
    fn is_parallel(&mut self, older: &ComparedSubject, newer: &ComparedSubject) -> bool {
        older.situation.has_word_beyond(&newer.text, &mut self.holders)
            && newer.situation.has_word_beyond(&older.text, &mut self.holders)
    }

    fn subject_of(&mut self, number: u32, memory: &Memory) -> Rc<ComparedSubject> {
        let subject = self
            .subjects
            .entry(number)
            .or_insert_with(|| Rc::new(ComparedSubject::from_event(&memory.event())));
        Rc::clone(subject)
    }

    fn text_of(&mut self, number: u32, memory: &Memory) -> Rc<ComparedText> {
        let text = self
            .texts
            .entry(number)
            .or_insert_with(|| Rc::new(ComparedText::from_event(&memory.event())));
        Rc::clone(text)
    }

    /// Returns the active memories that `allows` among those of the whole store that share the most words with a text.
    /// A search among those that it allows would read every memory that shares a word.
    fn like(&mut self, text: &ComparedText, allows: impl Fn(&Memory) -> bool) -> Vec<u32> {
        let words = self.holders.prepare(&text.text);
        text.terms.get_or_init(|| alphabetic(words.terms().map(|term| term.term)));
        let words = words.by_rarest_shared(SUBJECT_TERMS_MAX);
        let least = SUBJECT_TERMS_SHARE_MIN * words.utmost();
        let found = words.search(|_| true, SUBJECT_LOOKED_AT_MAX).into_iter();
        let found = found.take_while(|scored| scored.score >= least).map(|scored| scored.doc.0);
        let fits = |number: &u32| {
            let memory = self.snapshot.memory(*number);
            memory.is_some_and(|memory| allows(memory) && is_comparable(memory, self.now))
        };
        found.filter(fits).take(SUBJECT_RELATIVES_MAX).collect()
    }

    /// Returns the active memories that share the most words with a text.
    fn relatives(
        &mut self,
        text: &ComparedText,
        terms_max: usize,
        count: usize,
        allows: impl Fn(&Memory) -> bool,
    ) -> Vec<u32> {
        let words = self.holders.prepare(&text.text);
        text.terms.get_or_init(|| alphabetic(words.terms().map(|term| term.term)));
        let words = words.by_rarest(terms_max);
        let keep = |doc: DocId| {
            let memory = self.snapshot.memory(doc.0);
            memory.is_some_and(|memory| allows(memory) && is_comparable(memory, self.now))
        };
        let may = |doc: DocId| self.chunks.may_hold(doc.0);
        let found = words.search_among(may, keep, count).into_iter();
        found.map(|scored| scored.doc.0).collect()
    }
}
