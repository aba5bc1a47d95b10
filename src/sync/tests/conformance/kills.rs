//! A round is ended by SIGKILL at each of its steps in turn; the next one goes on from there. The round runs in a process of
//! its own, which is this test program once more: at the chosen step it says so in a file and waits, and is killed there.

use std::cell::Cell;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sync::Consent;

use crate::laptops::{API, Kind, Laptop, Team};
use crate::signing_keys::{has_ssh_keygen, key, push_as};

/// Tells the child where its team is, and at which step it waits.
const CHILD: &str = "AGENT_KNOWLEDGE_TEST_KILLED_ROUND";

/// The key with which the child signs, if it is there.
const KEY_OF_ANA: &str = "key-of-ana";

/// No round has so many steps.
const STEPS_MAX: usize = 80;

/// How long a child may take to reach a step.
const CHILD_SECONDS_MAX: u64 = 60;

/// What the child does. Run as a test of its own it does nothing.
#[test]
#[ignore = "a process that the tests below start, and no test of its own"]
fn child() {
    let Some(told) = std::env::var_os(CHILD) else { return };
    let told = told.into_string().unwrap();
    let mut parts = told.split('|');
    let mut next = || parts.next().unwrap();
    let (folder, step, address) = (next(), next(), next());
    let (mut ana, mark) = existing(Path::new(folder), address);
    let key = Path::new(folder).join(KEY_OF_ANA);
    ana.policy.signing_key = key.exists().then_some(key);
    let (reached, mark) = (Cell::new(0), mark.as_path());
    let steps = |name: &'static str| {
        reached.set(reached.get() + 1);
        if name == step || reached.get().to_string() == step {
            std::fs::write(mark, name).unwrap();
            // Nothing is ever sent: the process ends here.
            let _ = std::io::stdin().read(&mut [0]);
        }
    };
    ana.sync_with_steps(Consent::Given, &steps).unwrap();
}

/// The machine of the parent.
fn existing(folder: &Path, address: &str) -> (Laptop, std::path::PathBuf) {
    let other = Team::new(Kind::Folder);
    let mut ana = other.laptop_at("ana", address);
    ana.store = store::Store::at(folder.join("ana/logs"));
    ana.cache = folder.join("ana/cache");
    (ana, folder.join("mark"))
}

/// Ends a round at a step, by its number or its name. Returns its name; `None` if the round had no such step.
fn killed_at(team: &Team, step: impl std::fmt::Display) -> Option<String> {
    let mark = team.folder.path().join("mark");
    let _ = std::fs::remove_file(&mark);
    let told = format!("{}|{step}|{}", team.folder.path().display(), team.address());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "kills::child", "--ignored"]).env(CHILD, told);
    let mut child =
        child.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(CHILD_SECONDS_MAX);
    loop {
        if let Some(ended) = child.try_wait().unwrap() {
            assert!(ended.success(), "the round failed by itself at step {step}");
            return None;
        }
        if let Ok(name) = std::fs::read_to_string(&mark)
            && !name.is_empty()
        {
            child.kill().unwrap();
            child.wait().unwrap();
            return Some(name);
        }
        assert!(Instant::now() < deadline, "step {step} was not reached");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Kills a round at each step, and checks after each that nothing is lost or repeated.
fn each_step(
    kind: Kind,
    steps: impl Iterator<Item = usize>,
    change: impl Fn(&Laptop, usize),
) -> Vec<String> {
    let team = Team::new(kind);
    let laptops = (team.laptop("ana"), team.laptop("bo"));
    each_step_of(&team, &laptops, steps, change)
}

fn each_step_of(
    team: &Team,
    (ana, bo): &(Laptop, Laptop),
    steps: impl Iterator<Item = usize>,
    change: impl Fn(&Laptop, usize),
) -> Vec<String> {
    let mut names = Vec::new();
    for (round, step) in steps.enumerate() {
        bo.write(&format!("of bo before {round}"));
        bo.sync();
        ana.write(&format!("of ana before {round}"));
        change(ana, round);
        let Some(name) = killed_at(team, step) else { return names };
        let report = ana.sync();
        assert_eq!(report.renewed_from, None, "after {name}");
        assert_eq!(report.trouble, Vec::<String>::new(), "after {name}");
        bo.sync();
        let (of_ana, of_bo) = (ana.all_lines(), bo.all_lines());
        assert_eq!(of_ana, of_bo, "after {name}");
        assert_eq!(of_ana.len(), 2 * (round + 1), "after {name}");
        assert!(of_ana.values().all(|count| *count == 1), "after {name}");
        names.push(name);
    }
    panic!("a round has more than {STEPS_MAX} steps");
}

// S-SYNC-9
#[test]
fn a_killed_round_over_a_folder_loses_nothing() {
    let names = each_step(Kind::Folder, 1..STEPS_MAX, |_, _| {});
    for expected in ["begun", "compared", "noted", "write", "tree", "remove", "pushed", "mirrored"]
    {
        assert!(names.iter().any(|name| name == expected), "{names:?}");
    }
}

// S-SYNC-9
#[test]
fn a_killed_round_over_git_loses_nothing() {
    let names = each_step(Kind::Git, 1..STEPS_MAX, |_, _| {});
    let expected = [
        "begun",
        "ls-remote",
        "compared",
        "hash-object",
        "update-index",
        "write-tree",
        "commit-tree",
        "noted",
        "push",
        "update-ref",
        "pushed",
        "fetch",
        "ls-tree",
        "cat-file",
        "mirrored",
    ];
    for expected in expected {
        assert!(names.iter().any(|name| name == expected), "{expected} is not in {names:?}");
    }
}

// S-SYNC-9, S-NATS-5
#[test]
fn a_killed_round_over_a_stream_loses_nothing() {
    let names = each_step(Kind::Nats, 1..STEPS_MAX, change_the_line_before);
    let expected = [
        "begun",
        "connected",
        "counted",
        "compared",
        "noted",
        "send",
        "erase",
        "pushed",
        "mirrored",
    ];
    for expected in expected {
        assert!(names.iter().any(|name| name == expected), "{expected} is not in {names:?}");
    }
}

// S-SYNC-7, S-SYNC-9
#[test]
fn a_killed_round_that_withdraws_loses_nothing() {
    // Every second step is enough here.
    each_step(Kind::Git, (2..STEPS_MAX).step_by(2), change_the_line_before);
}

/// Changes the line of the round before, as a scrub changes it.
fn change_the_line_before(ana: &Laptop, round: usize) {
    let Some(last) = round.checked_sub(1) else { return };
    let before = format!("of ana before {last}\"");
    ana.change(API, |text| text.replace(&before, &before.replace("before", "then")));
}

// S-SYNC-4, S-SYNC-9
#[test]
fn a_tree_of_a_killed_round_is_known() {
    for step in 1..STEPS_MAX {
        let team = Team::new(Kind::Folder);
        let ana = team.laptop("ana");
        ana.write("one");
        ana.write("two");
        if killed_at(&team, step).unwrap() != "pushed" {
            continue;
        }
        // Without its first line, this store has never had an event that is on the remote.
        ana.change(API, |text| text.lines().skip(1).map(|line| format!("{line}\n")).collect());
        let report = ana.sync();
        assert_eq!((report.renewed_from, report.withdrawn), (None, 1));
        return;
    }
    panic!("nothing was pushed");
}

// S-SYNC-4, S-SYNC-9
#[test]
fn a_tree_is_known_after_two_kills() {
    let team = Team::new(Kind::Folder);
    let ana = team.laptop("ana");
    ana.write("one");
    killed_at(&team, "pushed").unwrap();
    ana.write("two");
    killed_at(&team, "noted").unwrap();
    // Without its first line, this store has never had an event that is on the remote.
    ana.change(API, |text| text.lines().skip(1).map(|line| format!("{line}\n")).collect());
    let report = ana.sync();
    assert_eq!((report.renewed_from, report.withdrawn), (None, 1));
}

// S-SYNC-7, S-NATS-5
#[test]
fn a_killed_round_that_shares_again_leaves_no_mark() {
    for step in 1..STEPS_MAX {
        let team = Team::new(Kind::Nats);
        let (mut ana, bo) = (team.laptop("ana"), team.laptop("bo"));
        let line = ana.write("one");
        ana.sync();
        let share = std::mem::take(&mut ana.policy.share);
        assert_eq!(ana.sync().withdrawn, 1);
        // The process that is killed shares again.
        let Some(name) = killed_at(&team, step) else { return };
        ana.policy.share = share;
        ana.sync();
        bo.sync();
        ana.change(API, |_| String::new());
        ana.sync();
        assert_eq!((bo.sync().dropped, bo.mirror(&ana.origin())), (0, vec![line]), "after {name}");
    }
    panic!("a round has more than {STEPS_MAX} steps");
}

// S-SYNC-9, S-SYNC-12, S-SYNC-13
#[test]
fn a_killed_round_with_signatures_loses_nothing() {
    if !has_ssh_keygen() {
        return;
    }
    let team = Team::new(Kind::Git);
    let (mut ana, mut bo) = (team.laptop("ana"), team.laptop("bo"));
    ana.policy.signing_key = Some(key(&team, KEY_OF_ANA));
    bo.policy.signing_key = Some(key(&team, "key-of-bo"));
    let names = each_step_of(&team, &(ana, bo), 1..STEPS_MAX, |_, _| {});
    for expected in ["commit-tree", "verify-commit", "noted", "pushed", "checked", "mirrored"] {
        assert!(names.iter().any(|name| name == expected), "{expected} is not in {names:?}");
    }
}

// S-SYNC-9, S-SYNC-13
#[test]
fn a_key_is_kept_before_lines_come() {
    if !has_ssh_keygen() {
        return;
    }
    for (step, forged, mirrored) in [("checked", 0, 1), ("kept", 1, 0), ("ls-tree", 1, 0)] {
        let team = Team::new(Kind::Git);
        let (ana, mut bo) = (team.laptop("ana"), team.laptop("bo"));
        bo.policy.signing_key = Some(key(&team, "key-of-bo"));
        bo.write("one");
        bo.sync();
        assert_eq!(killed_at(&team, step).as_deref(), Some(step));
        let line = r#"{"id":"f1","lesson":"forged"}"#;
        push_as(&team, &bo.origin(), (line, Some(&key(&team, "other"))));
        let report = ana.sync();
        // Before the key is kept, nothing of the first tree came either: the other key is the first one.
        let found = (report.unverified.len(), ana.mirror(&bo.origin()).len());
        assert_eq!(found, (forged, mirrored), "after {step}");
    }
}
