//! The programs that sign and check: one that is missing, and an agent that has the key. Rounds run in processes of their own,
//! since programs and agents are found by variables.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use sync::UnverifiedOrigin;

use crate::laptops::{Kind, Laptop, Team};
use crate::signed_trees::signing_team;
use crate::signing_keys::{fingerprint, key_with};

/// Tells the child where its team is.
const CHILD: &str = "AGENT_KNOWLEDGE_TEST_SIGNED_ROUND";

/// One round in a process of its own, since programs are found by a variable. Run as a test of its own it does nothing.
#[test]
#[ignore = "a process that the tests below start, and no test of its own"]
fn child() {
    let Some(told) = std::env::var_os(CHILD) else { return };
    let told = told.into_string().unwrap();
    let (folder, rest) = told.split_once('|').unwrap();
    let (host, address) = rest.split_once('|').unwrap();
    let (other, folder) = (Team::new(Kind::Folder), Path::new(folder));
    let mut laptop = other.laptop_at(host, address);
    laptop.store = store::Store::at(folder.join(host).join("logs"));
    laptop.cache = folder.join(host).join("cache");
    let public = folder.join("key-of-agent.pub");
    laptop.policy.signing_key = public.exists().then_some(public);
    let report = laptop.sync();
    let told: Vec<String> = report.unverified.iter().map(UnverifiedOrigin::to_string).collect();
    let told = [told, report.trouble].concat().join("\n");
    std::fs::write(folder.join("told"), told).unwrap();
}

/// One round with a variable. Returns what it told.
fn round_with(team: &Team, laptop: &Laptop, (name, value): (&str, &Path)) -> String {
    let folder = team.folder.path().display();
    let told = format!("{folder}|{}|{}", laptop.host, team.address());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "signing_programs::child", "--ignored"])
        .env(CHILD, told)
        .env(name, value);
    let status = child.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
    std::fs::read_to_string(team.folder.path().join("told")).unwrap()
}

// S-SYNC-13
#[test]
fn without_ssh_keygen_known_keys_are_held() {
    let Some((team, ana, bo)) = signing_team() else { return };
    let programs = team.folder.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let paths = std::env::var_os("PATH").unwrap();
    let git = std::env::split_paths(&paths).map(|path| path.join("git")).find(|git| git.exists());
    std::os::unix::fs::symlink(git.unwrap(), programs.join("git")).unwrap();
    let cy = team.laptop("cy");
    ana.write("one");
    ana.sync();
    bo.sync();
    ana.write("two");
    ana.sync();
    let without = ("PATH", programs.as_path());
    let told = round_with(&team, &bo, without);
    assert!(told.contains("the program ssh-keygen is not there"), "{told}");
    assert_eq!(bo.mirror(&ana.origin()).len(), 1, "{told}");
    // Who has no key of it yet goes on as without signatures, and is told.
    let told = round_with(&team, &cy, without);
    assert!(told.contains("cannot be checked here: the program ssh-keygen"), "{told}");
    assert_eq!(cy.mirror(&ana.origin()).len(), 2);
    assert_eq!(bo.sync().fetched, 1, "with it, all is well");
}

/// An agent that ends with its test.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// S-SYNC-12
#[test]
fn an_agent_signs_for_a_public_key() {
    let Some((team, _, bo)) = signing_team() else { return };
    let (cy, socket) = (team.laptop("cy"), team.folder.path().join("agent"));
    let key = key_with(&team, "key-of-agent", "");
    let mut agent = Command::new("ssh-agent");
    agent.args(["-D", "-a", socket.to_str().unwrap()]).stdout(Stdio::null()).stderr(Stdio::null());
    let agent = Agent(agent.spawn().unwrap());
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let is_added = || {
        let mut add = Command::new("ssh-add");
        add.arg(&key).env("SSH_AUTH_SOCK", &socket).stdin(Stdio::null()).stderr(Stdio::null());
        add.status().unwrap().success()
    };
    // It takes a moment until the agent listens.
    while !is_added() {
        assert!(std::time::Instant::now() < deadline, "ssh-agent did not begin");
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
    std::fs::remove_file(&key).unwrap();
    cy.write("one");
    let told = round_with(&team, &cy, ("SSH_AUTH_SOCK", &socket));
    drop(agent);
    assert_eq!((told.as_str(), bo.sync().fetched), ("", 1));
    let public = key.with_extension("pub");
    let record = std::fs::read_to_string(bo.store.root().join(".sync.json")).unwrap();
    assert!(record.contains(&fingerprint(&public)));
}
