//! Checks of the machine: change notifications, and the file system of the store. Not here: following the logs,
//! which every query checks by itself.

use std::path::Path;

use super::diagnosis::Diagnosis;
use engine::watch::{Watch, WatchMode};
use store::Store;

/// File systems on which locks and change notifications of other machines are unreliable.
const SHARED: [&str; 9] =
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afpfs", "drvfs"];

pub(super) fn watching(store: &Store, watching: WatchMode) -> Diagnosis {
    let about = "watching";
    if !store.root().is_dir() {
        return Diagnosis::fine(about, "starts once there is a store");
    }
    let watch = Watch::over(store.root(), watching, || ());
    match (watch.trouble(), watching) {
        (None, _) => Diagnosis::fine(about, "the system reports changes"),
        (Some(_), WatchMode::PollOnly) => Diagnosis::fine(about, "by polling only, as configured"),
        (Some(trouble), WatchMode::System) => {
            let says = format!("by polling only, before every answer: {trouble}");
            let finding = Diagnosis::warn(about, says);
            // The watcher's wording of ENOSPC and EMFILE from inotify.
            let is_limit = ["limit", "os error 28", "os error 24"]
                .iter()
                .any(|word| trouble.to_lowercase().contains(word));
            if !is_limit {
                return finding;
            }
            finding.with_fix(
                "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"
                    .to_owned(),
            )
        }
    }
}

/// Warns about a store on a file system that machines share. Only Linux is checked.
pub(super) fn file_system(store: &Store) -> Option<Diagnosis> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let root = store.root().canonicalize().ok()?;
    let kind = kind_of(&mounts, &root).filter(|kind| SHARED.contains(kind))?;
    let says = format!(
        "the store is on {kind}: locks and changes of other machines may be invisible there; keep it on a local disk"
    );
    Some(Diagnosis::warn("file system", says))
}

/// Returns the type of the file system of a path: that of the mount point with the longest matching prefix. If
/// several are mounted there, the last one covers the others.
fn kind_of<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let points = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((unescaped(words.next()?), words.next()?))
    });
    let fitting = points.filter(|(point, _)| path.starts_with(point));
    fitting.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind)
}

/// Decodes a mount point, in which a space is written as its octal number.
fn unescaped(point: &str) -> String {
    point.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_on_the_innermost_mount() {
        let mounts = "/dev/sda1 / ext4 rw 0 0\nsrv:/x /home nfs4 rw 0 0\ntmpfs /home/me\\040too tmpfs rw 0 0\nC: /mnt/c 9p rw 0 0\n/dev/sdb /mnt/c ext4 rw 0 0\n";
        for (path, kind) in [
            ("/var/x", "ext4"),
            ("/home/you", "nfs4"),
            ("/home/me too/logs", "tmpfs"),
            ("/homework", "ext4"),
            ("/mnt/c/logs", "ext4"),
        ] {
            assert_eq!(kind_of(mounts, Path::new(path)), Some(kind), "{path}");
        }
        assert_eq!(kind_of("", Path::new("/")), None);
    }
}
