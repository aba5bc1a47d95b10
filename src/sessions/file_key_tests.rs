//! Tests of what an import keeps of the path of a transcript: nothing but a hash, by which it finds the file again. Not here: what else it
//! keeps (`session_import_tests`).

use super::*;
use crate::session_scrub::RowScrub;

/// A folder as a client names it after a directory that holds a password.
const NAMED_FOLDER: &str = "-home-jane-password-Quovadis77kestrel";

// S-SESS-3
#[test]
fn the_path_of_a_transcript_is_kept_nowhere() {
    let mut desk = Desk::new();
    let folder = desk.folder.path().join("plain").join(NAMED_FOLDER);
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.jsonl"), TWO).unwrap();
    let broken = unreadable_files::broken();
    let errors = desk.import_with(broken).errors.concat();
    assert!(errors.contains("plain/…/a.jsonl") && !errors.contains("Quovadis77"), "{errors}");
    let kept = desk.kept.censuses().unwrap()["plain"].errors.concat();
    assert!(kept.contains("plain/…/a.jsonl") && !kept.contains("Quovadis77"), "{kept}");
    assert_eq!(desk.import().files, 1);
    assert!(!desk.holds("Quovadis77"));
    assert!(desk.plan(<_>::default()).is_empty(), "the file is found again");
    std::fs::remove_dir_all(&folder).unwrap();
    desk.import();
    assert!(is_gone(&desk));
}

// S-SESS-3, S-SCRUB-3
#[test]
fn a_path_that_an_earlier_version_kept_goes() {
    for way in ["import", "scrub"] {
        let mut desk = Desk::new();
        let folder = desk.folder.path().join("plain").join(NAMED_FOLDER);
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("a.jsonl");
        std::fs::write(&path, TWO).unwrap();
        desk.write("gone", TWO);
        desk.import();
        // As it was: the path, and nothing of the root.
        let as_before = "UPDATE file SET path = ?1 WHERE path = ?2";
        for path in [path, desk.path("gone")] {
            let path = path.to_string_lossy().into_owned();
            let key = file_key(&path);
            assert_eq!(desk.kept.connection.execute(as_before, [path, key]).unwrap(), 1);
        }
        desk.kept.connection.execute("DELETE FROM file_root", []).unwrap();
        std::fs::remove_file(desk.path("gone")).unwrap();
        assert!(desk.holds("Quovadis77"));
        if way == "scrub" {
            assert_eq!(desk.kept.scrub(RowScrub::DryRun).unwrap().len(), 2);
            assert_eq!(desk.kept.scrub(RowScrub::Change).unwrap().len(), 2);
        } else {
            assert_eq!(desk.import().files, 0, "nothing is read again");
        }
        assert!(!desk.holds("Quovadis77"), "{way}");
        assert_eq!(desk.kept.scrub(RowScrub::DryRun).unwrap(), []);
        assert_eq!(desk.kept.censuses().unwrap()["plain"].gone, 1, "{way}");
        desk.import();
        std::fs::remove_dir_all(&folder).unwrap();
        desk.import();
        assert_eq!(desk.kept.censuses().unwrap()["plain"].gone, 2, "{way}");
    }
}

// S-SESS-3
#[test]
fn a_file_is_gone_only_where_somebody_looked() {
    let mut desk = Desk::new();
    let other = desk.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("b.jsonl"), TWO).unwrap();
    let with_other = || ImportScope {
        roots: vec![("plain".to_owned(), desk.folder.path().join("other"))],
        ..<_>::default()
    };
    let scope = with_other();
    let again = with_other();
    let plan = desk.plan(scope);
    plan.run(&mut desk.kept, 1, &AtomicBool::new(false), &mut |_| {}).unwrap();
    desk.import();
    assert!(!is_gone(&desk), "nobody listed its folder");
    std::fs::remove_dir_all(&other).unwrap();
    desk.import();
    assert!(!is_gone(&desk));
    let plan = desk.plan(again);
    plan.run(&mut desk.kept, 1, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(is_gone(&desk));
}
