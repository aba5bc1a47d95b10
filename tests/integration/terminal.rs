//! A terminal, for what the programs ask a person only on one. Not here: what is asked and what is answered.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// What ends the input on a terminal.
const END: &str = "\u{4}";

/// Runs a command on a terminal on which somebody types these lines, and returns what the terminal showed.
pub fn on_terminal(command: &mut Command, typed: &str) -> String {
    let (ours, theirs) = both_ends();
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

/// Makes a terminal: the end of the person, and that of programs.
fn both_ends() -> (OwnedFd, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (ours, File::from(theirs))
}

/// A person at a terminal, who reads before they type. Standard output of the command is not the terminal.
pub struct Typist {
    ours: File,
    child: Child,
    pieces: Receiver<Vec<u8>>,
    shown: String,
}

/// How long something may take to be shown: far longer than any screen does.
const SHOWN_SECONDS_MAX: u64 = 60;

impl Typist {
    /// Starts a command on a terminal of this size.
    pub fn at(command: &mut Command, rows: u16, columns: u16) -> Self {
        let (ours, theirs) = both_ends();
        let typist = |ours: OwnedFd, child: Child| {
            let ours = File::from(ours);
            let (send, pieces) = channel();
            let mut reader = ours.try_clone().unwrap();
            std::thread::spawn(move || {
                let mut bytes = [0; 65_536];
                while let Ok(count @ 1..) = reader.read(&mut bytes) {
                    if send.send(bytes[..count].to_vec()).is_err() {
                        return;
                    }
                }
            });
            Self { ours, child, pieces, shown: String::new() }
        };
        resize(&ours, rows, columns);
        let end = || Stdio::from(theirs.try_clone().unwrap());
        let child = command.stdin(end()).stdout(Stdio::piped()).stderr(end()).spawn().unwrap();
        command.stdin(Stdio::null()).stderr(Stdio::null());
        typist(ours, child)
    }

    /// Waits until this is shown, after what was seen before. Returns what was shown up to its end.
    pub fn sees(&mut self, text: &str) -> String {
        let until = Instant::now() + Duration::from_secs(SHOWN_SECONDS_MAX);
        loop {
            if let Some(place) = self.shown.find(text) {
                let rest = self.shown.split_off(place + text.len());
                return std::mem::replace(&mut self.shown, rest);
            }
            let left = until.saturating_duration_since(Instant::now());
            let piece = self.pieces.recv_timeout(left);
            let piece = piece.unwrap_or_else(|_| panic!("{text:?} is not in {:?}", self.shown));
            self.shown.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    pub fn types(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).unwrap();
    }

    /// The process of the command.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Tells whether the terminal passes every key at once.
    pub fn is_raw(&self) -> bool {
        !tcgetattr(&self.ours).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    pub fn resizes(&self, rows: u16, columns: u16) {
        resize(&self.ours, rows, columns);
    }

    /// Waits for the command; returns its exit and its standard output.
    pub fn ends(&mut self) -> (Option<i32>, String) {
        let mut output = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        (self.child.wait().unwrap().code(), output)
    }
}

fn resize(terminal: impl std::os::fd::AsFd, rows: u16, columns: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}
