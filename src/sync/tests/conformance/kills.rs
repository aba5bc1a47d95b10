//! A round is ended by SIGKILL at each of its steps in turn; the next one goes on from there. The round runs in a process of
//! its own, which is this test program once more: at the chosen step it says so in a file and waits, and is killed there.

use std::cell::Cell;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sync::Consent;

use crate::laptops::{API, Kind, Laptop, Team};

/// Tells the child where its team is, and at which step it waits.
const CHILD: &str = "AGENT_KNOWLEDGE_TEST_KILLED_ROUND";

/// No round has so many steps.
const STEPS_MAX: usize = 80;

/// How long a child may take to reach a step.
const CHILD_SECONDS_MAX: u64 = 60;

/// What the child does. Run as a test of its own it does nothing.
#[test]
#[ignore = "it is a part of the tests below"]
fn child() {
    let Some(told) = std::env::var_os(CHILD) else { return };
    let told = told.into_string().unwrap();
    let mut parts = told.split('|');
    let mut next = || parts.next().unwrap();
    let (folder, step, address) = (next(), next().parse::<usize>().unwrap(), next());
    let (ana, mark) = existing(Path::new(folder), address);
    let (reached, mark) = (Cell::new(0), mark.as_path());
    let steps = |name: &'static str| {
        reached.set(reached.get() + 1);
        if reached.get() == step {
            std::fs::write(mark, name).unwrap();
            // Nothing is ever sent: the process ends here.
            let _ = std::io::stdin().read(&mut [0]);
        }
    };
    ana.sync_telling(Consent::Given, &steps).unwrap();
}

/// The machine of the parent.
fn existing(folder: &Path, address: &str) -> (Laptop, std::path::PathBuf) {
    let other = Team::new(Kind::Folder);
    let mut ana = other.laptop_at("ana", address);
    ana.store = store::Store::at(folder.join("ana/logs"));
    ana.cache = folder.join("ana/cache");
    (ana, folder.join("mark"))
}

/// Ends a round at a step. Returns its name; `None` if the round had fewer steps.
fn killed_at(team: &Team, step: usize) -> Option<String> {
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
    let (ana, bo) = (team.laptop("ana"), team.laptop("bo"));
    let mut names = Vec::new();
    for (round, step) in steps.enumerate() {
        bo.write(&format!("of bo before {round}"));
        bo.sync();
        ana.write(&format!("of ana before {round}"));
        change(&ana, round);
        let Some(name) = killed_at(&team, step) else { return names };
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
#[cfg(feature = "nats")]
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
fn a_killed_round_that_takes_back_loses_nothing() {
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
