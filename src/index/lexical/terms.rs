//! A list of terms in one allocation. Analysis makes hundreds of terms per memory, and one allocation for each would
//! cost more than the analysis. Not here: turning text into terms (`tokenize`).

/// Terms in order, repeats included.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TermList {
    text: String,
    ends: Vec<usize>,
}

impl TermList {
    /// Appends one term.
    pub(super) fn push(&mut self, term: &str) {
        self.text.push_str(term);
        self.ends.push(self.text.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).filter_map(|(start, &end)| self.text.get(start..end))
    }

    /// Removes all but the first `limit` terms.
    pub(super) fn truncate(&mut self, limit: usize) {
        self.ends.truncate(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_come_back_in_order_and_can_be_cut() {
        let mut terms = TermList::default();
        for term in ["one", "é", "one"] {
            terms.push(term);
        }
        assert!(terms.iter().eq(["one", "é", "one"]));
        terms.truncate(2);
        assert!(terms.iter().eq(["one", "é"]) && terms.len() == 2);
    }
}
