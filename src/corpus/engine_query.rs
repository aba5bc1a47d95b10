//! The way of a query through an engine: the numbers of its terms, the best memories by words and by meaning, their records, a
//! small snapshot of these with the numbers of the whole corpus, and the search of one machine in it. Not here: the engine,
//! joining its hits with those of this machine (`api`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::conditions::Conditions;
use crate::contract::{AskedNumbers, Corpus, Deadline, EngineNumbers, WeighedTerm};
use crate::corpus_error::CorpusError;
use crate::memory_key::MemoryKey;
use crate::memory_record::Viewpoint;
use crate::small_snapshot::{SmallSnapshot, unpack_records};
use event::{RepoKey, Timestamp};
use index::lexical::{CorpusNumbers, CorpusTotals, LexicalIndex};
use memory::Memory;
use search::snapshot::Snapshot;
use search::{Hit, Query, SearchResult, WordMatching};

/// Candidates of each kind: twice those of one machine, so that weights that are a little out of date, and terms that are joined
/// only later, displace none that counts.
const CANDIDATES_MAX: usize = 400;

/// Notes that are looked at for a better one than a hit, as on one machine.
const RELATIVES_MAX: usize = 48;

/// Hits for which better notes are looked up. A reply has twenty at most, and each better note lets another hit move up.
const COMPARED_MAX: usize = 60;

/// Rounds of numbers that a query needs: of its terms, of what these lead to, and of what those do.
const ROUNDS_MAX: usize = 4;

/// What an engine found.
#[derive(Debug)]
pub struct EngineHits {
    /// The hits, best first. Their numbers are those of the small snapshot and mean nothing elsewhere.
    pub hits: Vec<Hit>,
    /// The key of each hit.
    pub keys: Vec<MemoryKey>,
    /// How many were held back because they read like instructions.
    pub held_back: usize,
    /// The size of the corpus.
    pub totals: CorpusTotals,
}

/// Who asks, and until when.
#[derive(Clone, Copy)]
pub struct QueryContext<'a> {
    /// From where records are read.
    pub viewpoint: &'a Viewpoint,
    /// The repositories that this machine knows.
    pub repos: &'a BTreeMap<RepoKey, usize>,
    /// The time of the search.
    pub now: Timestamp,
    /// When it ends.
    pub until: Deadline,
}

/// Runs a search in an engine and returns at most `limit` hits, as [`search::find()`] would among all of its memories.
///
/// # Errors
/// [`CorpusError`]. Also where the query has no text: an engine lists nothing.
pub fn find(
    corpus: &dyn Corpus,
    query: &Query<'_>,
    limit: usize,
    asking: QueryContext<'_>,
) -> Result<EngineHits, CorpusError> {
    if query.text.is_empty() {
        return Err(CorpusError::Unsupported("list what is new"));
    }
    let conditions = Conditions::from_filter(&query.filter)?;
    let (numbers, terms) = weighed(corpus, query.text, asking.until)?;
    let totals = numbers.totals();
    let mut found: BTreeSet<MemoryKey> = BTreeSet::new();
    if query.words == WordMatching::On && !terms.is_empty() {
        found.extend(corpus.by_words(&terms, &conditions, CANDIDATES_MAX, asking.until)?);
    }
    if let Some(vector) = query.vector {
        found.extend(corpus.by_meaning(vector, &conditions, CANDIDATES_MAX, asking.until)?);
    }
    let small = SmallSnapshot::among(asking.repos);
    let mut looking = EngineSearch { corpus, asking, small, numbers };
    looking.fetch(&found)?;
    let mut compared = BTreeSet::new();
    loop {
        let (snapshot, hits, held_back) = looking.searched(query, limit)?;
        let damaged =
            || CorpusError::Wrong("a memory is stored under the key of another".to_owned());
        let keys = looking.small.keys_of(&hits).ok_or_else(damaged)?;
        let new = keys.iter().zip(&hits).filter(|(key, _)| compared.insert(**key));
        let new: Vec<Arc<Memory>> = new.map(|(_, hit)| Arc::clone(&hit.memory)).collect();
        // The last look may have changed the order, so what is shown now is looked at too.
        let is_done = compared.len() > COMPARED_MAX || !looking.subjects(snapshot, &new)?;
        if is_done {
            asking.until.check()?;
            return Ok(EngineHits { hits, keys, held_back, totals });
        }
    }
}

/// Returns the numbers of a query, and its terms with their weights.
fn weighed(
    corpus: &dyn Corpus,
    text: &str,
    until: Deadline,
) -> Result<(CorpusNumbers, Vec<WeighedTerm>), CorpusError> {
    let mut known: Option<CorpusNumbers> = None;
    for _ in 0..ROUNDS_MAX {
        let index = LexicalIndex::new();
        let numbers = Arc::new(known.unwrap_or_default());
        let is_first = numbers.totals() == CorpusTotals::default();
        let index = index.with_numbers(Arc::clone(&numbers));
        let prepared = index.prepare(text);
        let asked = numbers.take_lacking();
        let terms = prepared.engine_terms();
        drop(prepared);
        drop(index);
        let numbers = Arc::into_inner(numbers).unwrap_or_default();
        if asked.is_empty() && !is_first {
            let terms = weighed_terms(terms, &numbers);
            return Ok((numbers, terms));
        }
        known = Some(added(numbers, corpus.numbers(&asked, until)?)?);
        until.check()?;
    }
    Err(CorpusError::Wrong("the numbers of the words are missing".to_owned()))
}

/// Adds what the engine said to what is known.
fn added(known: CorpusNumbers, said: EngineNumbers) -> Result<CorpusNumbers, CorpusError> {
    let totals = said.totals;
    if totals.passages == 0 {
        return Err(CorpusError::Empty);
    }
    let is_sound = |passages: &usize| *passages <= totals.passages;
    let all = said.holding.iter().map(|(_, passages)| passages);
    let all = all.chain(said.unions.iter().map(|(_, passages)| passages));
    let are_sound =
        all.chain(said.near.iter().flat_map(|(_, near)| near).map(|(_, many)| many)).all(is_sound);
    if !are_sound || totals.documents > totals.passages {
        return Err(CorpusError::Wrong("more passages hold a word than there are".to_owned()));
    }
    let mut known = known.resized(totals);
    said.holding.into_iter().for_each(|(term, passages)| known.add_holding(term, passages));
    said.unions.into_iter().for_each(|(terms, passages)| known.add_union(terms, passages));
    said.near.into_iter().for_each(|(term, near)| known.add_near(term, &near));
    Ok(known)
}

/// What is known of a query so far.
struct EngineSearch<'a> {
    corpus: &'a dyn Corpus,
    asking: QueryContext<'a>,
    small: SmallSnapshot,
    numbers: CorpusNumbers,
}

/// A snapshot, and the numbers in it.
struct NumberedSnapshot {
    snapshot: Snapshot,
    numbers: Arc<CorpusNumbers>,
}

impl NumberedSnapshot {
    /// Takes the terms that were looked up since the last call and are not known, of those that a memory holds.
    fn lacking(&self, vocabulary: &BTreeSet<Box<str>>) -> BTreeSet<Box<str>> {
        let lacking = self.numbers.take_lacking().terms;
        lacking.into_iter().filter(|term| vocabulary.contains(term)).collect()
    }

    fn into_numbers(self) -> Result<CorpusNumbers, CorpusError> {
        let Self { snapshot, numbers } = self;
        drop(snapshot);
        Arc::into_inner(numbers)
            .ok_or_else(|| CorpusError::Wrong("the search kept its numbers".to_owned()))
    }
}

impl EngineSearch<'_> {
    /// Fetches what was found, and the neighbours whose vectors count with it.
    fn fetch(&mut self, found: &BTreeSet<MemoryKey>) -> Result<(), CorpusError> {
        let near = self.fetch_new(found)?;
        // Some may have gone since they were found, not all of them.
        if self.small.is_empty() && !found.is_empty() {
            return Err(CorpusError::Wrong("nothing that it found is there".to_owned()));
        }
        self.fetch_new(&near).map(drop)
    }

    /// Fetches what was not fetched yet, and returns the neighbours of what has a vector.
    fn fetch_new(
        &mut self,
        keys: &BTreeSet<MemoryKey>,
    ) -> Result<BTreeSet<MemoryKey>, CorpusError> {
        let keys: Vec<MemoryKey> =
            keys.iter().filter(|key| !self.small.holds(key)).copied().collect();
        if keys.is_empty() {
            return Ok(BTreeSet::new());
        }
        let fetched = self.corpus.fetch(&keys, self.asking.until)?;
        let records = unpack_records(&fetched, self.asking.viewpoint)?;
        let with_vectors = records.values().filter(|record| record.vector.is_some());
        let near = with_vectors.flat_map(|record| record.neighbours.into_iter().flatten());
        let near = near.collect();
        self.small.add(records);
        Ok(near)
    }

    /// Searches what was fetched, with the numbers of the corpus for every term of it that the search looks up: notes about one subject
    /// are compared by them too. Memories hold some ten thousand terms, of which a search looks at few, so what was lacking is asked for.
    fn searched(
        &mut self,
        query: &Query<'_>,
        limit: usize,
    ) -> Result<(NumberedSnapshot, Vec<Hit>, usize), CorpusError> {
        let vocabulary = self.small.vocabulary();
        loop {
            let snapshot = self.snapshot();
            let SearchResult { hits, held_back, words, .. } =
                search::find(&snapshot.snapshot, query, self.asking.now, limit);
            drop(words);
            let lacking = snapshot.lacking(&vocabulary);
            if lacking.is_empty() {
                return Ok((snapshot, hits, held_back));
            }
            self.numbers = snapshot.into_numbers()?;
            self.learn(lacking)?;
        }
    }

    fn snapshot(&mut self) -> NumberedSnapshot {
        let numbers = Arc::new(std::mem::take(&mut self.numbers));
        NumberedSnapshot { snapshot: self.small.snapshot(Arc::clone(&numbers)), numbers }
    }

    fn learn(&mut self, terms: BTreeSet<Box<str>>) -> Result<(), CorpusError> {
        let asked = AskedNumbers { terms, ..AskedNumbers::default() };
        let known = std::mem::take(&mut self.numbers);
        let totals = known.totals();
        let known = added(known, self.corpus.numbers(&asked, self.asking.until)?)?;
        // All numbers of one query are of one size, whatever is written meanwhile.
        self.numbers = known.resized(totals);
        // One that is not told would be asked for again and again.
        let is_told = asked.terms.iter().all(|term| self.numbers.has_term(term));
        is_told
            .then_some(())
            .ok_or_else(|| CorpusError::Wrong("numbers of words are missing".to_owned()))
    }

    /// Fetches notes about the subjects of memories, among which may be better ones. Tells whether there was any that was not
    /// known.
    fn subjects(
        &mut self,
        mut snapshot: NumberedSnapshot,
        of: &[Arc<Memory>],
    ) -> Result<bool, CorpusError> {
        let vocabulary = self.small.vocabulary();
        let subjects = loop {
            let lexical = snapshot.snapshot.lexical();
            let subjects = of.iter().map(|memory| search::subject_terms(lexical, memory));
            let subjects: Vec<Vec<(Box<str>, f32)>> =
                subjects.filter(|terms| !terms.is_empty()).collect();
            let lacking = snapshot.lacking(&vocabulary);
            self.numbers = snapshot.into_numbers()?;
            if lacking.is_empty() {
                break subjects;
            }
            self.learn(lacking)?;
            snapshot = self.snapshot();
        };
        let subjects = subjects.into_iter().map(|terms| weighed_terms(terms, &self.numbers));
        let subjects: Vec<Vec<WeighedTerm>> = subjects.collect();
        let (all, until) = (Conditions::default(), self.asking.until);
        let found = self.corpus.by_words_of_each(&subjects, &all, RELATIVES_MAX, until)?;
        let found: BTreeSet<MemoryKey> = found.into_iter().flatten().collect();
        let before = self.small.len();
        self.fetch_new(&found)?;
        Ok(self.small.len() > before)
    }
}

fn weighed_terms(terms: Vec<(Box<str>, f32)>, numbers: &CorpusNumbers) -> Vec<WeighedTerm> {
    let weighed = |(term, weight): (Box<str>, f32)| {
        let passages = numbers.passages_with(&term);
        WeighedTerm { term, weight, passages }
    };
    terms.into_iter().map(weighed).filter(|term| term.passages > 0).collect()
}
