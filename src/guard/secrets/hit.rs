//! A secret as a matcher reports it, and how several reports of one place become one. Not here: the
//! matchers.

/// How sure a report's rule is of its name; the surer names the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// What nothing names but its own make.
    Stray,
    /// A value after a word of many meanings, such as `key`.
    Hint,
    /// A value after a word such as `token`.
    Word,
    /// A value of a provider's form after the provider's name.
    Provider,
    /// A form around it, such as that of an address.
    Form,
    /// A beginning that only one provider uses.
    Telling,
}

/// A report, in bytes of the text it was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) rule: &'static str,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) rank: Rank,
}

/// Puts reports in order and makes one of those that overlap or touch.
pub(super) fn merged(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.from, hit.to));
    let mut whole: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match whole.last_mut() {
            Some(last) if hit.from < last.to => {
                if hit.rank > last.rank {
                    (last.rule, last.rank) = (hit.rule, hit.rank);
                }
                last.to = last.to.max(hit.to);
            }
            _ => whole.push(hit),
        }
    }
    whole
}
