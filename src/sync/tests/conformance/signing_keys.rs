//! Keys of SSH for the tests, made by the real ssh-keygen. Not here: anything a test asserts about a promise.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use event::StoreOrigin;
use sync::{FilePart, NextTree, PublishOutcome, RemoteHistory};

use crate::laptops::{Team, noon};

/// Tells whether ssh-keygen is here. Where everything must be tested, it must be.
pub fn has_ssh_keygen() -> bool {
    let mut keygen = Command::new("ssh-keygen");
    keygen.arg("-?").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let is_here = keygen.status().is_ok();
    let is_asked_for = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(is_here || !is_asked_for, "ssh-keygen is not installed");
    if !is_here {
        eprintln!("skipped: ssh-keygen is not installed");
    }
    is_here
}

/// Runs ssh-keygen, and returns what it printed.
fn keygen(args: &[&str]) -> String {
    let output = Command::new("ssh-keygen").args(args).stdin(Stdio::null()).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ssh-keygen {args:?}: {words}");
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a key in the folder of a team.
pub fn key(team: &Team, name: &str) -> PathBuf {
    key_with(team, name, "")
}

/// Makes a key with a passphrase.
pub fn key_with(team: &Team, name: &str, passphrase: &str) -> PathBuf {
    let path = team.folder.path().join(name);
    keygen(&["-q", "-t", "ed25519", "-N", passphrase, "-f", path.to_str().unwrap()]);
    path
}

/// The fingerprint of a key.
pub fn fingerprint(key: &Path) -> String {
    let printed = keygen(&["-l", "-f", key.to_str().unwrap()]);
    printed.split(' ').nth(1).unwrap().to_owned()
}

/// Publishes lines of the log `api` under any origin, signed with any key, as a member of the team could.
pub fn push_as(team: &Team, origin: &StoreOrigin, (line, key): (&str, Option<&Path>)) {
    let mallory = team.laptop("mallory");
    let text = format!("{line}\n");
    mallory.with_transport(&|_| {}, |transport| {
        let tips = transport.tips().unwrap();
        let there: Vec<_> = tips.tips.clone().into_iter().collect();
        transport.bring(&there).unwrap();
        transport.signatures().unwrap().sign_with(key);
        let segment = "github.com+acme+api/000000.jsonl";
        let files = [("FORMAT", &b"1\n"[..]), (segment, text.as_bytes())];
        let next = NextTree {
            origin,
            on: tips.tips.get(origin),
            history: RemoteHistory::Drop,
            files: files.into_iter().map(|(path, bytes)| (path, FilePart::New(bytes))).collect(),
            at: noon(),
        };
        let tip = transport.prepare(&next).unwrap();
        assert_eq!(transport.publish(&next, &tip).unwrap(), PublishOutcome::Done);
    });
    std::fs::remove_dir_all(mallory.cache.parent().unwrap()).unwrap();
}
