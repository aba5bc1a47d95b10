//! A secret as a rule reports it, and how overlapping reports become one. Not here: the rules.

/// How much a report says about its secret. Of overlapping reports the highest rank names the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A random run of characters that no name introduces.
    Random,
    /// A value after an ambiguous name, such as `key`.
    Hint,
    /// A value after a name such as `token`.
    Word,
    /// A value that has a form of the provider named before it.
    Provider,
    /// A form, such as the user part of an address.
    Form,
    /// A beginning that only one provider uses.
    Telling,
}

/// A report. Places are bytes of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) rule: &'static str,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) rank: Rank,
}

/// Sorts reports and merges those that overlap.
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
