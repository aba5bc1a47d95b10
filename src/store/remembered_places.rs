//! Remembers which repository a place is: once something is saved there, and whenever it became another one. Not here: the record
//! (`place_record`), which key follows from it (`served_directory`).

use event::{RepoKey, Timestamp};
use place::{Place, common_dir_key};

use super::Store;
use super::place_record::PlaceRecord;
use super::served_directory::ServedDirectory;

impl Store {
    /// Tells whether a place whose directory has memories is another repository now: it got a remote, though nothing says yet that
    /// its former memories belong to it.
    #[must_use]
    pub fn is_changed_place(&self, place: &Place) -> bool {
        let (Some(tree), Some(repo)) = (place.git(), &place.own_key) else { return false };
        let path_key = common_dir_key(&tree.common_dir);
        let got_remote = *repo != path_key && self.log_of(&path_key).symlink_metadata().is_ok();
        got_remote
            && !self.records_served(place).is_some_and(|(served, records)| {
                let is_it =
                    |old: &PlaceRecord| old.repo == *repo && old.identity.is_same(&served.identity);
                records.iter().any(is_it)
            })
    }

    /// Remembers which repository a place is, if that is news. A failure is ignored: no answer depends on it alone.
    pub fn remember_place(&self, place: &Place, now: Timestamp) {
        let Some((served, known)) = self.records_served(place).filter(|_| self.root().exists())
        else {
            return;
        };
        let Some(repo) = &place.own_key else { return };
        let last = known.last().filter(|last| covers(last, &served, repo));
        if last.is_some_and(|last| last.first_commit.is_some()) {
            return;
        }
        let record = described(place, repo, (&served, &known), now);
        if last.is_none() || record.first_commit.is_some() {
            let _ = self.add_place_record(&record);
        }
    }

    /// Remembers that somebody was asked what a place was before.
    pub fn remember_question(&self, place: &Place, now: Timestamp) {
        let (Some((served, known)), Some(repo)) = (self.records_served(place), &place.own_key)
        else {
            return;
        };
        let record = described(place, repo, (&served, &known), now);
        let _ = self.add_place_record(&PlaceRecord { asked: true, ..record });
    }

    /// Tells whether somebody was asked what a place was before.
    #[must_use]
    pub fn was_asked(&self, place: &Place) -> bool {
        let records = self.records_served(place).map(|(_, records)| records).unwrap_or_default();
        records.iter().any(|record| record.asked && Some(&record.repo) == place.own_key.as_ref())
    }

    fn records_served(&self, place: &Place) -> Option<(ServedDirectory, Vec<PlaceRecord>)> {
        let served = ServedDirectory::from_place(place)?;
        let records = self.place_text().of_directory(&served.path);
        Some((served, records))
    }
}

/// Tells whether the record says all of a directory as it is now, but for its first commit.
fn covers(record: &PlaceRecord, served: &ServedDirectory, repo: &RepoKey) -> bool {
    let is_dated = record.identity.born.is_some() || served.identity.born.is_none();
    record.repo == *repo && is_dated && record.identity.is_same(&served.identity)
}

/// Describes a place as it is now.
fn described(
    place: &Place,
    repo: &RepoKey,
    (served, known): (&ServedDirectory, &[PlaceRecord]),
    since: Timestamp,
) -> PlaceRecord {
    let head = place.git().and_then(|tree| tree.commit.as_deref());
    let first_commit = served.known_commit(known, head);
    let (directory, identity) = (served.path.clone(), served.identity.clone());
    PlaceRecord { since, directory, identity, first_commit, repo: repo.clone(), asked: false }
}
