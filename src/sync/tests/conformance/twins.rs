//! A copy of a store has its origin, too; and a yes is asked for before anything is shared first.

use std::path::Path;

use event::StoreOrigin;
use sync::{Consent, FilePart, NextTree, PublishOutcome, RemoteHistory, Tip};

use crate::laptops::{API, Kind, Team, api, kinds, noon};

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

// S-SYNC-4
#[test]
fn a_copy_of_a_store_gets_an_origin_of_its_own() {
    for kind in kinds() {
        for has_cache in [true, false] {
            let team = Team::new(kind);
            let (ana, twin, bo) = (team.laptop("ana"), team.laptop("twin"), team.laptop("bo"));
            let shared = ana.write("before");
            ana.sync();
            let origin = ana.origin();
            copy(ana.store.root(), twin.store.root());
            if has_cache {
                copy(&ana.cache, &twin.cache);
            }
            let (of_ana, of_twin) = (ana.write("of ana"), twin.write("of the twin"));
            assert_eq!(ana.sync().renewed_from, None);
            let report = twin.sync();
            assert_eq!(report.renewed_from, Some(origin.clone()), "{kind:?}");
            assert_eq!((ana.origin(), twin.origin() == origin), (origin.clone(), false));
            assert_eq!(twin.mirror(&origin), [shared.clone(), of_ana.clone()]);
            bo.sync();
            assert_eq!(bo.mirror(&origin), [shared.clone(), of_ana]);
            assert_eq!(bo.mirror(&twin.origin()), [shared, of_twin.clone()]);
            ana.sync();
            assert!(ana.mirror(&twin.origin()).contains(&of_twin));
            for laptop in [&ana, &twin, &bo] {
                let report = laptop.sync();
                assert_eq!((report.pushed, report.fetched, report.renewed_from), (0, 0, None));
            }
        }
    }
}

// S-SYNC-4
#[test]
fn a_store_brought_back_from_a_backup_loses_nothing() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let first = ana.write("one");
        ana.sync();
        let backup = team.folder.path().join("backup");
        copy(ana.store.root(), &backup);
        let second = ana.write("two");
        ana.sync();
        let origin = ana.origin();
        std::fs::remove_dir_all(ana.store.root()).unwrap();
        copy(&backup, ana.store.root());
        assert_eq!(ana.sync().renewed_from, Some(origin.clone()), "{kind:?}");
        assert_eq!(ana.mirror(&origin), [first, second.clone()]);
        bo.sync();
        assert!(bo.all_lines().contains_key(&second));
    }
}

// S-SYNC-3
#[test]
fn nothing_is_shared_first_without_a_yes() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (mut ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let bos = bo.write("of bo");
        bo.sync();
        ana.write("one");
        let report = ana.try_sync(Consent::AsBefore).unwrap();
        assert_eq!((report.to_agree, report.pushed, report.fetched), (vec![(api(), 1)], 0, 1));
        assert_eq!(ana.mirror(&bo.origin()), [bos], "receiving needs no yes");
        assert_eq!(bo.sync().fetched, 0);
        let report = ana.try_sync(Consent::Given).unwrap();
        assert_eq!((report.to_agree.len(), report.pushed), (0, 1));
        ana.write("two");
        ana.write_line("github.com+acme+web.jsonl", r#"{"id":"w1","lesson":"x"}"#);
        let report = ana.try_sync(Consent::AsBefore).unwrap();
        assert_eq!(
            (report.to_agree.len(), report.pushed),
            (1, 1),
            "another repository is asked for"
        );
        // Another remote is another question.
        let other = Team::new(kind);
        ana.remote = other.laptop("x").remote;
        let report = ana.try_sync(Consent::AsBefore).unwrap();
        assert_eq!((report.to_agree.len(), report.pushed), (2, 0), "{kind:?}");
    }
}

// S-SYNC-4
#[test]
fn a_tree_replaces_only_what_it_was_made_on() {
    for kind in kinds() {
        let team = Team::new(kind);
        let (ana, origin) = (team.laptop("ana"), StoreOrigin::mint("both", 5));
        let publish = |on: Option<&Tip>, text: &[u8]| {
            ana.with_transport(&|_| {}, |transport| {
                let tips: Vec<_> = transport.tips().unwrap().tips.into_iter().collect();
                transport.bring(&tips).unwrap();
                let files = [("FORMAT", FilePart::New(text))].into();
                let (history, at) = (RemoteHistory::Drop, noon());
                let next = NextTree { origin: &origin, on, history, files, at };
                let tip = transport.prepare(&next).unwrap();
                (transport.publish(&next, &tip).unwrap(), tip)
            })
        };
        let (first, tip) = publish(None, b"1\n");
        assert_eq!(first, PublishOutcome::Done);
        assert_eq!(publish(None, b"2\n").0, PublishOutcome::Conflict, "{kind:?}");
        let (second, later) = publish(Some(&tip), b"3\n");
        assert_eq!(second, PublishOutcome::Done);
        assert_eq!(publish(Some(&tip), b"4\n").0, PublishOutcome::Conflict, "{kind:?}");
        let tips = ana.with_transport(&|_| {}, |transport| transport.tips().unwrap().tips);
        assert_eq!(tips.get(&origin), Some(&later));
    }
}

// S-SYNC-4
#[test]
fn two_rounds_of_one_store_take_turns() {
    let team = Team::new(Kind::Folder);
    let ana = team.laptop("ana");
    ana.write("one");
    let turn = ana.store.team_turn(0).unwrap();
    let busy = ana.try_sync(Consent::Given);
    assert!(matches!(busy, Err(sync::SyncError::Store(store::StoreError::Busy { .. }))));
    drop(turn);
    assert_eq!(ana.sync().pushed, 1);
    assert_eq!(std::fs::read_to_string(ana.store.root().join(API)).unwrap().lines().count(), 1);
}
