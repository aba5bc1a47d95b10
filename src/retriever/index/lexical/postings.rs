//! Which documents of a segment hold each term, and how often: two flat arrays for all terms,
//! six bytes a posting. Not here: which term is which (`dictionary`).

/// How often, or how many terms: at most `DOCUMENT_TERMS_MAX`, so 16 bits hold it.
pub(super) type Count = u16;

/// A document's place in its segment.
pub(super) type Local = u32;

/// The lists of all terms, end to end.
#[derive(Debug, Default)]
pub(super) struct Postings {
    ends: Vec<usize>,
    locals: Vec<Local>,
    counts: Vec<Count>,
}

/// One term's documents in ascending order, with the count in each.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'segment> {
    pub(super) locals: &'segment [Local],
    pub(super) counts: &'segment [Count],
}

impl Postings {
    /// Adds one posting to the list under construction.
    pub(super) fn push(&mut self, local: Local, count: Count) {
        self.locals.push(local);
        self.counts.push(count);
    }

    /// Ends the list under construction; false when it is empty and so is not one.
    pub(super) fn seal_list(&mut self) -> bool {
        let is_new = self.ends.last().copied().unwrap_or(0) < self.locals.len();
        if is_new {
            self.ends.push(self.locals.len());
        }
        is_new
    }

    /// The list at `index`, or an empty one.
    pub(super) fn list(&self, index: usize) -> List<'_> {
        let end = self.ends.get(index).copied().unwrap_or(0);
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let range = start.unwrap_or(0)..end;
        List {
            locals: self.locals.get(range.clone()).unwrap_or(&[]),
            counts: self.counts.get(range).unwrap_or(&[]),
        }
    }

    /// Gives back memory reserved for growth; called once, when the segment is sealed.
    pub(super) fn shrink(&mut self) {
        self.ends.shrink_to_fit();
        self.locals.shrink_to_fit();
        self.counts.shrink_to_fit();
    }
}

impl List<'_> {
    /// The documents and their counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Local, Count)> {
        self.locals.iter().copied().zip(self.counts.iter().copied())
    }

    /// How often the term stands in one document, if it does.
    pub(super) fn count_in(&self, local: Local) -> Option<Count> {
        let place = self.locals.binary_search(&local).ok()?;
        self.counts.get(place).copied()
    }
}
