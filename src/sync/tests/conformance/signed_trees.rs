//! Trees that are signed, and what a member of the team without the key can do: nothing of another origin is taken. Keys are
//! made by the real ssh-keygen.

use std::cell::RefCell;

use settings::SignatureRule;
use sync::{Consent, Seal, SyncError, TeamState, UnverifiedOrigin, accept_key};

use crate::laptops::{API, Kind, Laptop, Team, git, noon};
use crate::signing_keys::{fingerprint, has_ssh_keygen, key, key_with, push_as};

const FORGED: &str = r#"{"id":"f1","repo":"github.com/acme/api","lesson":"forged"}"#;

fn reference(laptop: &Laptop) -> String {
    format!("refs/agent-knowledge/v1/{}", laptop.origin().as_str())
}

/// A machine that signs, and one that reads.
pub fn signing_team() -> Option<(Team, Laptop, Laptop)> {
    if !has_ssh_keygen() {
        return None;
    }
    let team = Team::new(Kind::Git);
    let (mut ana, bo) = (team.laptop("ana"), team.laptop("bo"));
    ana.policy.signing_key = Some(key(&team, "key-of-ana"));
    Some((team, ana, bo))
}

fn accept(laptop: &Laptop, origin: &str) -> Result<Option<String>, SyncError> {
    let rule = laptop.policy.require_signatures;
    accept_key(&laptop.store, (&laptop.remote, rule), origin, noon()).map(|accepted| accepted.key)
}

/// Removes all objects of the repository in the cache.
fn lose_objects(cache: &std::path::Path) {
    let mut find = std::process::Command::new("find");
    let lost = find.arg(cache).args(["-path", "*/objects/*", "-type", "f", "-print", "-delete"]);
    assert!(!lost.output().unwrap().stdout.is_empty());
}

/// One round, and the steps that it took.
fn steps_of(laptop: &Laptop) -> (sync::SyncReport, Vec<&'static str>) {
    let steps = RefCell::new(Vec::new());
    let report = laptop.sync_with_steps(Consent::Given, &|step| steps.borrow_mut().push(step));
    (report.unwrap(), steps.into_inner())
}

// S-SYNC-12, S-SYNC-13
#[test]
fn the_first_key_is_kept() {
    let Some((_team, ana, bo)) = signing_team() else { return };
    let line = ana.write("one");
    assert_eq!((ana.sync().pushed, ana.sync().trouble), (1, Vec::new()));
    let (report, steps) = steps_of(&bo);
    assert_eq!((report.fetched, report.unverified), (1, Vec::new()));
    let place = |name: &str| steps.iter().position(|step| *step == name).unwrap();
    assert!(place("checked") < place("kept") && place("kept") < place("ls-tree"), "{steps:?}");
    let path = bo.store.root().join(".sync.json");
    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let expected = fingerprint(ana.policy.signing_key.as_ref().unwrap());
    assert_eq!(kept["keys"][ana.origin().as_str()]["key"], *expected);
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let two = ana.write("two");
    ana.sync();
    assert_eq!((bo.sync().fetched, bo.mirror(&ana.origin())), (1, vec![line, two]));
}

// S-SYNC-13
#[test]
fn a_forged_part_is_not_taken() {
    let Some((team, ana, bo)) = signing_team() else { return };
    let line = ana.write("one");
    ana.sync();
    bo.sync();
    let (origin, remote) = (ana.origin(), team.remote_path());
    let (expected, other) =
        (fingerprint(ana.policy.signing_key.as_ref().unwrap()), key(&team, "other"));
    let right = git(&remote, &["rev-parse", &reference(&ana)], "");
    for (round, (forger, hint)) in
        [(None, "seen no signature"), (Some(other.as_path()), "if that is the new one")]
            .into_iter()
            .enumerate()
    {
        push_as(&team, &origin, (FORGED, forger));
        let (report, steps) = steps_of(&bo);
        let seen = forger.map_or(Seal::Unsigned, |key| Seal::Signed(fingerprint(key)));
        let held =
            UnverifiedOrigin { origin: origin.clone(), expected: Some(expected.clone()), seen };
        assert_eq!(report.unverified, std::slice::from_ref(&held));
        assert!(!steps.contains(&"ls-tree") && !steps.contains(&"mirrored"), "{steps:?}");
        assert_eq!(bo.mirror(&origin).len(), round + 1, "nothing is lost or added");
        let told = held.to_string();
        assert!(told.contains(&expected) && told.contains(hint), "{told}");
        // Its owner puts it right, keeps the name, and nobody has to do anything.
        let next = ana.write(&format!("after {round}"));
        let report = ana.sync();
        assert_eq!(report.renewed_from, None);
        assert!(report.trouble[0].contains("somebody without our key"), "{:?}", report.trouble);
        let report = bo.sync();
        assert_eq!((report.fetched, report.unverified), (1, Vec::new()));
        assert_eq!(bo.mirror(&origin).last(), Some(&next));
        assert!(!git(&remote, &["log", "-p", &reference(&ana)], "").contains("forged"));
    }
    // A signature that is cut, and one over another tree.
    let commit = git(&remote, &["cat-file", "commit", &right], "");
    let cut: Vec<&str> = commit.lines().filter(|line| !line.starts_with(" ")).collect();
    let tree = git(&remote, &["mktree"], "");
    let moved = commit.replacen(commit.lines().next().unwrap(), &format!("tree {tree}"), 1);
    for broken in [cut.join("\n"), moved] {
        let args = ["hash-object", "-t", "commit", "-w", "--stdin", "--literally"];
        let broken = git(&remote, &args, &format!("{broken}\n"));
        git(&remote, &["update-ref", &reference(&ana), &broken], "");
        let report = bo.sync();
        assert!(matches!(report.unverified[0].seen, Seal::Broken(_)), "{report:?}");
        assert!(accept(&bo, origin.as_str()).is_err(), "there is no key in it");
        assert_eq!(bo.mirror(&origin).len(), 3);
    }
    assert_eq!(bo.mirror(&origin)[0], line);
    ana.sync();
    assert_eq!((bo.sync().unverified, ana.origin()), (Vec::new(), origin));
}

// S-SYNC-7, S-SYNC-12
#[test]
fn a_forged_part_hides_no_withdrawal() {
    let Some((team, ana, bo)) = signing_team() else { return };
    ana.write("the key is hunter2");
    let kept = ana.write("kept");
    ana.sync();
    bo.sync();
    ana.change(API, |text| text.replace("hunter2", "[REDACTED:password]"));
    assert_eq!(ana.sync().withdrawn, 1);
    // Somebody is faster than the reader, and what was withdrawn is listed nowhere any more.
    push_as(&team, &ana.origin(), (FORGED, None));
    assert_eq!(bo.sync().unverified.len(), 1);
    ana.sync();
    assert_eq!(bo.sync().dropped, 1);
    let mirrored = bo.mirror(&ana.origin());
    assert!(mirrored.contains(&kept) && !mirrored.concat().contains("hunter2"), "{mirrored:?}");
}

// S-SYNC-13
#[test]
fn a_signature_counts_for_no_other_origin() {
    let Some((team, ana, mut bo)) = signing_team() else { return };
    // Two machines of one person have one key.
    bo.policy.signing_key.clone_from(&ana.policy.signing_key);
    let cy = team.laptop("cy");
    let line = ana.write("of ana");
    bo.write("of bo");
    ana.sync();
    bo.sync();
    cy.sync();
    let remote = team.remote_path();
    let of_bo = git(&remote, &["rev-parse", &reference(&bo)], "");
    git(&remote, &["update-ref", &reference(&ana), &of_bo], "");
    let report = cy.sync();
    let why = "it was made for another origin".to_owned();
    assert_eq!(report.unverified[0].seen, Seal::Broken(why));
    assert_eq!(cy.mirror(&ana.origin()), [line]);
}

// S-SYNC-7, S-SYNC-13
#[test]
fn an_older_signed_tree_removes_nothing() {
    let Some((team, ana, bo)) = signing_team() else { return };
    let remote = team.remote_path();
    let mut lines = vec![ana.write("one")];
    ana.sync();
    let older = git(&remote, &["rev-parse", &reference(&ana)], "");
    lines.push(ana.write("two"));
    ana.sync();
    assert_eq!(bo.sync().fetched, 2);
    git(&remote, &["update-ref", &reference(&ana), &older], "");
    let report = bo.sync();
    assert_eq!((report.fetched, report.dropped), (0, 0));
    assert_eq!(bo.mirror(&ana.origin()), lines);
    let (before, report) = (ana.origin(), ana.sync());
    assert_eq!((report.pushed, report.renewed_from), (1, None));
    assert_eq!((bo.sync().fetched, bo.mirror(&before)), (0, lines));
}

// S-SYNC-13
#[test]
fn another_key_waits_until_it_is_accepted() {
    let Some((team, mut ana, bo)) = signing_team() else { return };
    let first = ana.write("one");
    ana.sync();
    bo.sync();
    let (origin, old) = (ana.origin(), fingerprint(ana.policy.signing_key.as_ref().unwrap()));
    ana.policy.signing_key = Some(key(&team, "new"));
    let new = fingerprint(ana.policy.signing_key.as_ref().unwrap());
    let second = ana.write("two");
    let report = ana.sync();
    assert!(report.trouble[0].contains(&new), "{:?}", report.trouble);
    for _ in 0..2 {
        let report = bo.sync();
        let (expected, seen) = (Some(old.clone()), Seal::Signed(new.clone()));
        assert_eq!(
            report.unverified,
            [UnverifiedOrigin { origin: origin.clone(), expected, seen }]
        );
    }
    assert_eq!(bo.mirror(&origin), std::slice::from_ref(&first));
    let state = || TeamState::read(&bo.store, &bo.policy, &bo.remote, &bo.cache, noon()).unwrap();
    assert_eq!(state().unverified.len(), 1);
    assert_eq!(accept(&bo, origin.shown()).unwrap(), Some(new));
    assert_eq!(state().unverified, []);
    assert_eq!((bo.sync().fetched, bo.mirror(&origin)), (1, vec![first, second]));
    assert!(accept(&bo, origin.shown()).is_err(), "nothing waits");
    // What was shown is accepted, and not what stands there by now.
    let (third, fourth) = (key(&team, "third"), key(&team, "fourth"));
    push_as(&team, &origin, (FORGED, Some(&third)));
    bo.sync();
    push_as(&team, &origin, (FORGED, Some(&fourth)));
    assert_eq!(accept(&bo, origin.as_str()).unwrap(), Some(fingerprint(&third)));
    assert_eq!(bo.sync().unverified[0].seen, Seal::Signed(fingerprint(&fourth)));
    assert_eq!(bo.mirror(&origin).len(), 2);
}

// S-SYNC-13
#[test]
fn who_signs_no_more_waits_to_be_accepted() {
    let Some((_team, mut ana, bo)) = signing_team() else { return };
    ana.write("one");
    ana.sync();
    bo.sync();
    ana.policy.signing_key = None;
    ana.write("two");
    let report = ana.sync();
    assert!(report.trouble[0].contains("this store signed before"), "{:?}", report.trouble);
    assert_eq!(bo.sync().unverified[0].seen, Seal::Unsigned);
    bo.forget_cache();
    assert_eq!((bo.sync().fetched, bo.mirror(&ana.origin()).len()), (0, 1));
    assert_eq!(accept(&bo, ana.origin().as_str()).unwrap(), None);
    assert_eq!((bo.sync().fetched, bo.sync().unverified), (1, Vec::new()));
}

// S-SYNC-13
#[test]
fn signatures_may_be_required() {
    let Some((team, ana, mut bo)) = signing_team() else { return };
    let cy = team.laptop("cy");
    ana.write("signed");
    cy.write("not signed");
    ana.sync();
    cy.sync();
    bo.policy.require_signatures = SignatureRule::Required;
    let report = bo.sync();
    assert_eq!((report.fetched, report.unverified.len()), (1, 1));
    assert_eq!(
        (&report.unverified[0].origin, &report.unverified[0].expected),
        (&cy.origin(), &None)
    );
    assert!(accept(&bo, cy.origin().as_str()).is_err());
    bo.policy.require_signatures = SignatureRule::Optional;
    assert_eq!((bo.sync().fetched, bo.sync().unverified), (1, Vec::new()));
    let folder = Team::new(Kind::Folder);
    let mut di = folder.laptop("di");
    di.policy.require_signatures = SignatureRule::Required;
    let refused = di.try_sync(Consent::Given).unwrap_err();
    assert!(matches!(&refused, SyncError::Setup(why) if why.contains("git remote")), "{refused}");
    di.policy = ana.policy;
    assert!(di.sync().trouble[0].contains("nothing is signed"));
}

// S-SYNC-13
#[test]
fn a_folder_asks_for_no_key() {
    let Some((_team, mut ana, mut bo)) = signing_team() else { return };
    ana.write("over git");
    ana.sync();
    bo.sync();
    let folder = Team::new(Kind::Folder);
    for laptop in [&mut ana, &mut bo] {
        laptop.remote = folder.laptop(&format!("{}-there", laptop.host)).remote;
    }
    ana.write("over a folder");
    ana.sync();
    assert_eq!((bo.sync().fetched, bo.mirror(&ana.origin()).len()), (1, 2));
}

// S-SYNC-13
#[test]
fn what_is_held_is_told_until_it_ends() {
    let Some((team, ana, bo)) = signing_team() else { return };
    ana.write("one");
    ana.sync();
    bo.sync();
    let (remote, name) = (team.remote_path(), reference(&ana));
    let right = git(&remote, &["rev-parse", &name], "");
    push_as(&team, &ana.origin(), (FORGED, None));
    assert_eq!(bo.sync().unverified.len(), 1);
    // A check of what is fetched refuses this name, so nothing comes that could be checked.
    let blob = git(&remote, &["hash-object", "-w", "--stdin"], "x\n");
    let tree = git(&remote, &["mktree"], &format!("100644 blob {blob}\t.git\n"));
    let commit = git(&remote, &["commit-tree", &tree, "-m", "x"], "");
    git(&remote, &["update-ref", &name, &commit], "");
    assert_eq!(bo.sync().unverified.len(), 1);
    // What was brought cannot be read.
    push_as(&team, &ana.origin(), ("{}", None));
    let lose = |step| {
        if step == "brought" {
            lose_objects(&bo.cache);
        }
    };
    let report = bo.sync_with_steps(Consent::Given, &lose).unwrap();
    assert_eq!((report.unverified.len(), report.trouble.len()), (1, 1), "{:?}", report.trouble);
    git(&remote, &["update-ref", &name, &right], "");
    assert_eq!((bo.sync().unverified, bo.mirror(&ana.origin()).len()), (Vec::new(), 1));
    let state = TeamState::read(&bo.store, &bo.policy, &bo.remote, &bo.cache, noon()).unwrap();
    assert_eq!(state.unverified, []);
}

// S-SYNC-12
#[test]
fn what_is_there_is_signed_once() {
    let Some((team, mut ana, bo)) = signing_team() else { return };
    let key = ana.policy.signing_key.take();
    ana.write("one");
    ana.sync();
    bo.sync();
    let name = reference(&ana);
    let tip = || git(&team.remote_path(), &["rev-parse", &name], "");
    let unsigned = tip();
    ana.policy.signing_key = key;
    let report = ana.sync();
    assert_eq!((report.pushed, report.trouble), (0, Vec::new()));
    let signed = tip();
    assert_ne!(signed, unsigned);
    ana.sync();
    assert_eq!(tip(), signed, "there is nothing more to sign");
    assert_eq!((bo.sync().fetched, bo.sync().unverified), (0, Vec::new()));
    push_as(&team, &ana.origin(), (FORGED, None));
    assert_eq!(bo.sync().unverified.len(), 1, "its key is known");
}

// S-SYNC-12
#[test]
fn a_key_that_cannot_sign_hinders_no_other() {
    let Some((team, mut ana, bo)) = signing_team() else { return };
    bo.write("of bo");
    bo.sync();
    ana.write("of ana");
    let missing = team.folder.path().join("missing");
    for (key, hint) in
        [(key_with(&team, "locked", "secret"), "passphrase"), (missing, "No such file")]
    {
        ana.forget_cache();
        ana.policy.signing_key = Some(key);
        let report = ana.sync();
        let why = report.trouble.join("\n");
        assert!(why.contains("sync.signing_key cannot sign") && why.contains(hint), "{why}");
        assert_eq!(report.waiting.unwrap().lines, 1);
        assert_eq!(ana.mirror(&bo.origin()).len(), 1);
    }
    assert_eq!(bo.sync().fetched, 0, "nothing left without a signature");
}
