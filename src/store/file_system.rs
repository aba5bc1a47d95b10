//! The file system that a path is on, as the system lists what is mounted: its type, and whether anything can be written there.
//! Remedies look at it before they name a command. Not here: the remedies (`remedy`).

#![cfg_attr(not(unix), expect(dead_code, reason = "modes are looked at on Unix alone"))]

use std::path::Path;

/// What is mounted where a path is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MountedFileSystem {
    kind: String,
    options: String,
    pub(super) is_read_only: bool,
}

/// File systems that keep no modes: whatever `chmod` is told, the modes stay those of the mount.
const WITHOUT_MODES: [&str; 11] = [
    "vfat", "exfat", "msdos", "ntfs", "ntfs3", "fuseblk", "cifs", "smb3", "vboxsf", "drvfs",
    "wslfs",
];

impl MountedFileSystem {
    /// Returns the file system of a path that exists; nothing is known where the system has no such list.
    pub(super) fn of_path(path: &Path) -> Self {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        Self::find(&mounts, &real)
    }

    /// Finds the mount with the longest path above a path; of several at the same place, the last one is seen.
    fn find(mounts: &str, path: &Path) -> Self {
        let mounts = mounts.lines().filter_map(|line| {
            let (place, system) = line.split_once(" - ")?;
            let mut place = place.split(' ').skip(4);
            let point = place.next()?.replace("\\040", " ");
            let is_read_only = place.next()?.split(',').any(|option| option == "ro");
            let mut system = system.split(' ');
            let kind = system.next()?.to_owned();
            let options = system.collect::<Vec<_>>().join(" ");
            let is_read_only =
                is_read_only || options.rsplit(' ').next()?.split(',').any(|option| option == "ro");
            path.starts_with(&point).then_some((point.len(), Self { kind, options, is_read_only }))
        });
        mounts.max_by_key(|(length, _)| *length).map(|(_, found)| found).unwrap_or_default()
    }

    /// Tells whether it is a drive of Windows as WSL mounts it.
    pub(super) fn is_windows_drive(&self) -> bool {
        matches!(self.kind.as_str(), "drvfs" | "wslfs")
            || self.kind == "9p" && self.options.contains("drvfs")
    }

    /// Returns its type, if it keeps no modes.
    pub(super) fn kind_without_modes(&self) -> Option<&str> {
        let keeps_none = self.is_windows_drive() || WITHOUT_MODES.contains(&self.kind.as_str());
        let has_metadata = self.is_windows_drive() && self.options.contains("metadata");
        (keeps_none && !has_metadata).then_some(self.kind.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
24 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
31 24 0:5 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\;uid=1000
32 24 0:6 / /mnt/d rw,noatime - 9p D:\\134 rw,aname=drvfs;path=D:\\;metadata
33 24 0:7 / /media/my\\040stick rw - vfat /dev/sdb1 rw,umask=0000
34 24 0:8 / /etc/ak ro,relatime - tmpfs tmpfs rw
35 24 0:9 / /image rw - squashfs /dev/loop0 ro
";

    // S-STORE-9
    #[test]
    fn the_mount_of_a_path_says_what_chmod_can_do() {
        let find = |path: &str| MountedFileSystem::find(MOUNTS, Path::new(path));
        for (path, windows, kind, read_only) in [
            ("/home/me", false, None, false),
            ("/mnt/c/Users/me", true, Some("9p"), false),
            ("/mnt/d/logs", true, None, false),
            ("/mnt/data", false, None, false),
            ("/media/my stick/logs", false, Some("vfat"), false),
            ("/etc/ak", false, None, true),
            ("/image/logs", false, None, true),
        ] {
            let found = find(path);
            let seen = (found.is_windows_drive(), found.kind_without_modes(), found.is_read_only);
            assert_eq!(seen, (windows, kind, read_only), "{path}: {found:?}");
        }
        assert_eq!(MountedFileSystem::find("", Path::new("/a")), MountedFileSystem::default());
    }
}
