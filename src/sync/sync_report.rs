//! What a round did, and what one would do. Not here: doing it (`team_round`).

use event::{RepoKey, StoreOrigin};
use jiff::Timestamp;

use crate::{LeftOutLines, UnverifiedOrigin};

/// What a round did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncReport {
    /// The origin under which this store publishes.
    pub origin: StoreOrigin,
    /// The origin it had before, if a copy of this store publishes under it.
    pub renewed_from: Option<StoreOrigin>,
    /// How many lines the remote has now and had not before.
    pub pushed: usize,
    /// How many lines it no longer has.
    pub withdrawn: usize,
    /// How many lines came into the mirrors.
    pub fetched: usize,
    /// How many lines left the mirrors, because their origins took them back.
    pub dropped: usize,
    /// From how many origins they came.
    pub fetched_from: usize,
    /// How many lines of each origin wait for another day or another fetch.
    pub held: Vec<(StoreOrigin, usize)>,
    /// The origins of which nothing is taken, because of their signatures.
    pub unverified: Vec<UnverifiedOrigin>,
    /// What is not pushed.
    pub waiting: Option<WaitingLines>,
    /// The repositories nobody agreed to share with this remote yet, and how many lines they have.
    pub to_agree: Vec<(RepoKey, usize)>,
    /// The origins from which nothing came for two weeks, and when the last line did.
    pub silent: Vec<(StoreOrigin, Timestamp)>,
    /// What stays of the shared repositories.
    pub left_out: LeftOutLines,
    /// Whether the remote answered.
    pub is_reached: bool,
    /// What else somebody should know, each as one sentence.
    pub trouble: Vec<String>,
}

impl SyncReport {
    pub(crate) fn new(origin: StoreOrigin) -> Self {
        Self {
            origin,
            renewed_from: None,
            pushed: 0,
            withdrawn: 0,
            fetched: 0,
            dropped: 0,
            fetched_from: 0,
            held: Vec::new(),
            unverified: Vec::new(),
            waiting: None,
            to_agree: Vec::new(),
            silent: Vec::new(),
            left_out: LeftOutLines::default(),
            is_reached: true,
            trouble: Vec::new(),
        }
    }

    /// Joins a round with the one before it, as if both had been one: what they did is added up, and what stands now is that
    /// of the later one.
    #[must_use]
    pub fn joined_with(mut self, first: Self) -> Self {
        self.renewed_from = first.renewed_from.or(self.renewed_from);
        self.pushed += first.pushed;
        self.withdrawn += first.withdrawn;
        self.fetched += first.fetched;
        self.dropped += first.dropped;
        // Most come from the same origins again.
        self.fetched_from = self.fetched_from.max(first.fetched_from);
        for (origin, lines) in first.held {
            if !self.held.iter().any(|(later, _)| *later == origin) {
                self.held.push((origin, lines));
            }
        }
        let later = std::mem::replace(&mut self.trouble, first.trouble);
        let is_new = |what: &String| !self.trouble.contains(what);
        let later: Vec<String> = later.into_iter().filter(is_new).collect();
        self.trouble.extend(later);
        self
    }
}

/// Returns a number with its noun.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Lines that the remote should have and has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingLines {
    /// How many, as far as is known; 0 if only some are to be removed there.
    pub lines: usize,
    /// Since when.
    pub since: Timestamp,
}

/// What a round would send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The lines that the remote does not have, as they would leave.
    pub lines: Vec<(RepoKey, String)>,
    /// How many lines it would lose.
    pub withdrawn: usize,
    /// The repositories nobody agreed to share with this remote yet, and how many lines they have.
    pub to_agree: Vec<(RepoKey, usize)>,
    /// What stays of the shared repositories.
    pub left_out: LeftOutLines,
    /// Why the lines were not compared with the remote. All are listed then.
    pub not_compared: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-10
    #[test]
    fn two_rounds_are_told_as_one() {
        let [old, new] = [1, 2].map(|bits| StoreOrigin::mint("me", bits));
        let other = StoreOrigin::mint("you", 3);
        let mut first = SyncReport::new(new.clone());
        first.renewed_from = Some(old.clone());
        (first.pushed, first.withdrawn, first.fetched, first.dropped) = (1, 2, 3, 4);
        (first.fetched_from, first.held) = (2, vec![(other.clone(), 50)]);
        first.trouble = vec!["odd".to_owned(), "gone there".to_owned()];
        first.to_agree = vec![(RepoKey::parse("api").unwrap(), 7)];
        let mut second = SyncReport::new(new);
        (second.pushed, second.fetched, second.fetched_from) = (7, 1, 1);
        second.trouble = vec!["odd".to_owned(), "new".to_owned()];
        let both = second.joined_with(first);
        assert_eq!(both.renewed_from, Some(old));
        assert_eq!((both.pushed, both.withdrawn, both.fetched, both.dropped), (8, 2, 4, 4));
        assert_eq!((both.fetched_from, both.held), (2, vec![(other, 50)]));
        assert_eq!(both.trouble, ["odd", "gone there", "new"]);
        assert!(both.to_agree.is_empty(), "it was agreed to");
    }
}
