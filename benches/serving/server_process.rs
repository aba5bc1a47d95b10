//! Figures of the system about a process (Linux), and ending a process. Not here: starting one.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::Outcome;

/// How long a process may take to end or to appear, so that no wait is endless on a busy machine.
pub const STEP: Duration = Duration::from_secs(120);

/// Memory of one process, in kB.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    pub resident: u64,
    pub private: u64,
}

pub fn memory(pid: u32) -> Outcome<Memory> {
    let told = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let of = |name: &str| -> u64 {
        let line = told.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    Ok(Memory { resident: of("Rss:"), private: of("Private_Clean:") + of("Private_Dirty:") })
}

/// Returns the CPU time so far, in hundredths of a second.
pub fn ticks(pid: u32) -> Outcome<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, rest) = stat.rsplit_once(')').ok_or("no stat")?;
    let fields: Vec<u64> =
        rest.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    Ok(fields.get(11).copied().unwrap_or(0) + fields.get(12).copied().unwrap_or(0))
}

pub fn send(signal: &str, pid: u32) -> Outcome<()> {
    Command::new("kill").args([signal, &pid.to_string()]).status()?;
    Ok(())
}

pub fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.starts_with(" Z")))
}

pub fn wait_for(what: &str, mut happened: impl FnMut() -> bool) -> Outcome<()> {
    let start = Instant::now();
    while !happened() {
        if start.elapsed() > STEP {
            return Err(format!("waited too long: {what}").into());
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    Ok(())
}

/// Returns the size of all files below a folder, in bytes.
pub fn bytes_under(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_under(&entry.path()),
        _ => entry.metadata().map_or(0, |about| about.len()),
    };
    entries.flatten().map(size).sum()
}
