//! A terminal, for what the programs ask a person only on one. Not here: what is asked and what is answered.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// What ends the input on a terminal.
const END: &str = "\u{4}";

/// Runs a command on a terminal on which somebody types these lines, and returns what the terminal showed.
pub fn on_terminal(command: &mut Command, typed: &str) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs =
        File::from(rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
    let end = || Stdio::from(theirs.try_clone().unwrap());
    let mut child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
    // What is shown ends when nobody holds the other end any more, not even the command.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(theirs);
    let mut ours = File::from(ours);
    ours.write_all(format!("{typed}{END}").as_bytes()).unwrap();
    let mut shown = Vec::new();
    // Linux ends with an error.
    let _ = ours.read_to_end(&mut shown);
    assert!(child.wait().unwrap().success(), "{}", String::from_utf8_lossy(&shown));
    String::from_utf8(shown).unwrap()
}
