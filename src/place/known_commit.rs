//! Whether a git repository has a commit, by its files: as a file of its own, or named in the index of a pack. This tells a repository
//! that was cloned anew from another one in the same place. Not here: what a commit says (`git` is asked for that).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Most packs that are looked into. Git packs anew from fifty on.
const PACKS_MAX: usize = 256;

/// The beginning of an index of a pack, as git has written it since 2008.
const INDEX_START: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];

/// Where the names of the objects begin: after the start and 256 counts.
const NAMES_AT: u64 = 8 + 256 * 4;

/// Tells whether a repository has a commit. `None` where its files cannot tell: it borrows objects from another one, or has too many
/// packs.
#[must_use]
pub fn has_commit(common_dir: &Path, commit: &str) -> Option<bool> {
    let name = bytes_of(commit)?;
    let objects = common_dir.join("objects");
    let (folder, file) = commit.split_at_checked(2)?;
    if objects.join(folder).join(file).is_file() {
        return Some(true);
    }
    let entries = objects.join("pack").read_dir().into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let indexes = paths.filter(|path| path.extension().is_some_and(|ending| ending == "idx"));
    for (number, index) in indexes.enumerate() {
        if number == PACKS_MAX {
            return None;
        }
        if is_in_index(&index, &name)? {
            return Some(true);
        }
    }
    (!objects.join("info/alternates").exists()).then_some(false)
}

/// Reads the name of an object, of 20 or 32 bytes.
fn bytes_of(commit: &str) -> Option<Vec<u8>> {
    let is_whole = matches!(commit.len(), 40 | 64);
    let digits = (0..commit.len()).step_by(2).map(|at| commit.get(at..at + 2));
    let bytes = digits.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect::<Option<_>>();
    bytes.filter(|_| is_whole)
}

/// Looks an object up in an index, whose names are sorted. `None`: this is no such index.
fn is_in_index(index: &Path, name: &[u8]) -> Option<bool> {
    let mut file = File::open(index).ok()?;
    let mut start = [0; 8];
    file.read_exact(&mut start).ok()?;
    if start != INDEX_START {
        return None;
    }
    let first = u64::from(*name.first()?);
    // How many names begin with a byte up to this one.
    let mut count = |byte: u64| {
        let mut bytes = [0; 4];
        file.seek(SeekFrom::Start(8 + 4 * byte)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        Some(u64::from(u32::from_be_bytes(bytes)))
    };
    let mut low = if first == 0 { 0 } else { count(first - 1)? };
    let mut high = count(first)?;
    let width = u64::try_from(name.len()).ok()?;
    let mut read = vec![0; name.len()];
    while low < high {
        let middle = low + (high - low) / 2;
        file.seek(SeekFrom::Start(NAMES_AT + middle * width)).ok()?;
        file.read_exact(&mut read).ok()?;
        match read.as_slice().cmp(name) {
            std::cmp::Ordering::Equal => return Some(true),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(top: &Path, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(top).env("HOME", top).env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]).args(args);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    // S-REPO-9
    #[test]
    fn a_commit_is_found_loose_and_in_a_pack() {
        for format in ["sha1", "sha256"] {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path();
            let form = format!("--object-format={format}");
            git(top, &["init", "--quiet", &form]);
            let mut commits = Vec::new();
            for number in 0..6 {
                git(top, &["commit", "--quiet", "--allow-empty", "-m", &number.to_string()]);
                commits.push(git(top, &["rev-parse", "HEAD"]));
            }
            let common = top.join(".git");
            let zeros = "0".repeat(commits[0].len());
            for packed in [false, true] {
                if packed {
                    git(top, &["gc", "--quiet", "--prune=now"]);
                    assert_eq!(common.join("objects/pack").read_dir().unwrap().count() > 1, packed);
                }
                for commit in &commits {
                    assert_eq!(has_commit(&common, commit), Some(true), "{commit} {packed}");
                }
                assert_eq!(has_commit(&common, &zeros), Some(false));
                assert_eq!(has_commit(&common, &zeros.replace('0', "f")), Some(false));
            }
            std::fs::write(common.join("objects/info/alternates"), "/elsewhere\n").unwrap();
            assert_eq!(has_commit(&common, &zeros), None, "the other one may have it");
        }
        for wrong in ["", "HEAD", "abc", "é"] {
            assert_eq!(has_commit(Path::new("nowhere"), wrong), None, "{wrong}");
        }
        assert_eq!(has_commit(Path::new("nowhere"), &"a".repeat(40)), Some(false));
    }
}
