//! What a round makes of its own part of the remote: it is looked at only if something changed, and a remote that does not
//! answer about it, or lost some of it, is no copy of this store. Not here: copies (`twins`).

use std::cell::{Cell, RefCell};

use event::StoreOrigin;
use sync::{
    Consent, FetchedTips, FolderRemote, Listing, NextTree, PublishOutcome, SyncError, Tip, Tips,
    Transport, TreeFile,
};

use crate::laptops::{API, Kind, Team, api, kinds};

/// A folder that tells what it has, and then nothing of what is in it.
struct FallingSilent<'a>(FolderRemote<'a>);

impl Transport for FallingSilent<'_> {
    fn tips(&mut self) -> Result<Tips, SyncError> {
        self.0.tips()
    }

    fn bring(&mut self, wanted: &[(StoreOrigin, Tip)]) -> Result<FetchedTips, SyncError> {
        let silent = || SyncError::Remote { remote: "x".to_owned(), why: "silent".to_owned() };
        let failed = wanted.iter().map(|(origin, _)| (origin.clone(), silent())).collect();
        Ok(FetchedTips { failed, ..FetchedTips::default() })
    }

    fn list(&mut self, origin: &StoreOrigin, tip: &Tip) -> Result<Listing, SyncError> {
        self.0.list(origin, tip)
    }

    fn read(
        &mut self,
        origin: &StoreOrigin,
        files: &[&TreeFile],
    ) -> Result<Vec<Vec<u8>>, SyncError> {
        self.0.read(origin, files)
    }

    fn prepare(&mut self, next: &NextTree<'_>) -> Result<Tip, SyncError> {
        self.0.prepare(next)
    }

    fn publish(&mut self, next: &NextTree<'_>, tip: &Tip) -> Result<PublishOutcome, SyncError> {
        self.0.publish(next, tip)
    }

    fn forget(&mut self) -> Result<(), SyncError> {
        self.0.forget()
    }
}

// S-SYNC-4, S-SYNC-9
#[test]
fn a_remote_without_an_answer_is_no_copy() {
    let team = Team::new(Kind::Folder);
    let ana = team.laptop("ana");
    ana.write("one");
    ana.sync();
    std::fs::remove_file(ana.store.root().join(".sync.json")).unwrap();
    ana.forget_cache();
    ana.write("two");
    let folder = FolderRemote::at(team.remote_path(), &|_| {});
    let report = ana.sync_over(&mut FallingSilent(folder));
    assert_eq!((report.renewed_from, report.pushed), (None, 0));
    assert_eq!(report.waiting.unwrap().lines, 2);
    assert!(
        report.trouble[0].starts_with("our own part: x cannot be reached"),
        "{:?}",
        report.trouble
    );
    assert_eq!((ana.sync().renewed_from, ana.preview().lines.len()), (None, 0));
}

// S-SYNC-4, S-SYNC-9
#[test]
fn a_line_that_dies_in_a_fetch_is_no_copy() {
    let team = Team::new(Kind::Git);
    let ana = team.laptop("ana");
    ana.write("one");
    ana.sync();
    std::fs::remove_file(ana.store.root().join(".sync.json")).unwrap();
    ana.forget_cache();
    let is_away = Cell::new(false);
    let steps = |step: &'static str| {
        if step == "fetch" && !is_away.replace(true) {
            team.take_remote_away();
        }
    };
    let report = ana.sync_with_steps(Consent::Given, &steps).unwrap();
    assert!(is_away.get());
    assert_eq!((report.renewed_from, report.waiting.unwrap().lines), (None, 1));
    team.bring_remote_back();
    assert_eq!(ana.sync().renewed_from, None);
}

// S-SYNC-9
#[test]
fn a_file_that_the_remote_lost_comes_back() {
    let team = Team::new(Kind::Folder);
    let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
    let (one, two) = (ana.write("one"), r#"{"id":"w1","lesson":"x"}"#);
    ana.write_line("github.com+acme+web.jsonl", two);
    ana.sync();
    let place = team.remote_path().join("agent-knowledge/v1").join(ana.origin().as_str());
    let tree = std::fs::read_to_string(place.join("TREE")).unwrap();
    let lost = tree.lines().find(|line| line.contains("acme+api")).unwrap();
    std::fs::remove_file(place.join(lost.split(' ').next().unwrap())).unwrap();
    assert!(bo.sync().trouble[0].contains("a file is missing"));
    let three = ana.write("three");
    let report = ana.sync();
    assert_eq!((report.renewed_from, report.pushed, report.waiting), (None, 2, None));
    assert!(report.trouble[0].contains("1 file lost there"), "{:?}", report.trouble);
    bo.sync();
    assert_eq!(bo.mirror(&ana.origin()), [one, three]);
    assert!(bo.all_lines().contains_key(two));
}

// S-SYNC-3, S-SYNC-9
#[test]
fn what_did_not_change_is_not_read_again() {
    for kind in kinds() {
        let team = Team::new(kind);
        let ana = team.laptop("ana");
        let compared = |consent: Consent| {
            let compared = RefCell::new(0);
            let steps =
                |step: &'static str| *compared.borrow_mut() += usize::from(step == "compared");
            let report = ana.sync_with_steps(consent, &steps).unwrap();
            (compared.into_inner(), report)
        };
        ana.write_line(API, r#"{"id":"p1","lesson":"mine","private":true}"#);
        ana.write("one");
        // Nobody agreed: that is told each time.
        for times in [1, 0] {
            let (read, report) = compared(Consent::AsBefore);
            assert_eq!(
                (read, report.to_agree, report.left_out.private),
                (times, vec![(api(), 1)], 1)
            );
        }
        for times in [1, 0] {
            let (read, report) = compared(Consent::Given);
            assert_eq!(
                (read, report.pushed, report.left_out.private),
                (times, times, 1),
                "{kind:?}"
            );
        }
        team.lose_remote();
        assert_eq!(compared(Consent::AsBefore).1.pushed, 1, "{kind:?}");
    }
}

// S-SYNC-3
#[test]
fn a_yes_covers_what_was_shown() {
    let team = Team::new(Kind::Folder);
    let ana = team.laptop("ana");
    ana.write("one");
    let shown = ana.try_sync(Consent::AsBefore).unwrap().to_agree;
    ana.write_line("github.com+acme+web.jsonl", r#"{"id":"w1","lesson":"x"}"#);
    let shown = shown.into_iter().map(|(repo, _)| repo).collect();
    let report = ana.try_sync(Consent::To(shown)).unwrap();
    assert_eq!((report.pushed, report.to_agree.len()), (1, 1));
}
