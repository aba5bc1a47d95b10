//! A git repository as a remote: one reference for each origin, `refs/agent-knowledge/v1/<origin>`, and never a branch, so
//! that no clone, forge or build sees them. The program `git` does the work, with the user's own keys and passwords. Not here:
//! the repository in the cache (`git_repository`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use event::StoreOrigin;
use store::FileLock;

use crate::git_call::GitAnswer;
use crate::git_repository::{GitRepository, LIST_BYTES_MAX, REFS};
use crate::transport::{FILES_MAX, ORIGINS_MAX};
use crate::{
    Brought, FilePart, History, Listed, Listing, NextTree, Published, RemoteAddress, RemoteKind,
    SyncError, Tip, Tips, Transport,
};

/// How long one exchange waits for another one with the same cache, in milliseconds.
const LOCK_MS_MAX: u64 = 2_000;

/// Most references in one fetch, so that they fit into a command line.
const FETCH_MAX: usize = 200;

/// How many fetches in one exchange may take too long, before the line is thought to be bad.
const WITHOUT_ANSWER_MAX: usize = 2;

/// The mode of a plain file in a tree.
const PLAIN: &str = "100644";

/// The message of every commit.
const MESSAGE: &str = "agent-knowledge";

/// Where mail for an origin would go: nowhere.
const NO_MAIL: &str = "agent-knowledge.invalid";

/// A git repository as a remote.
pub struct GitRemote<'a> {
    repository: GitRepository,
    _lock: FileLock,
    steps: &'a dyn Fn(&'static str),
}

impl<'a> GitRemote<'a> {
    /// Opens the cache of a remote, below the folder of all caches. `lookup` returns an environment variable, and `steps` is
    /// told each step.
    ///
    /// # Errors
    /// [`SyncError`]; [`store::StoreError::Busy`] while another process uses the same cache.
    pub fn open(
        cache: &Path,
        remote: &RemoteAddress,
        lookup: &dyn Fn(&str) -> Option<OsString>,
        steps: &'a dyn Fn(&'static str),
    ) -> Result<Self, SyncError> {
        let RemoteKind::Git(url) = remote.kind() else {
            return Err(SyncError::Address(format!("{} is a folder", remote.shown())));
        };
        let folder = cache.join("sync");
        store::own_folder(&folder)?;
        let name = |ending: &str| folder.join(format!("{}.{ending}", remote.hash()));
        let lock = FileLock::take(&name("lock"), LOCK_MS_MAX)?;
        let repository = GitRepository::open(name("git"), (url, remote), lookup)?;
        Ok(Self { repository, _lock: lock, steps })
    }

    /// Returns the URL of the remote `origin` of the code in a directory, if it has one. Only asks for the setting.
    #[must_use]
    pub fn origin_url(directory: &Path) -> Option<String> {
        let url = GitRepository::setting_of(directory, "remote.origin.url")?;
        (!url.is_empty()).then_some(url)
    }

    fn reference(origin: &StoreOrigin) -> String {
        format!("{REFS}{}", origin.as_str())
    }

    /// Fetches references by name. The history does not come along.
    fn fetch(&self, origins: &[&StoreOrigin]) -> Result<GitAnswer, SyncError> {
        let both = |origin: &&StoreOrigin| format!("+{0}:{0}", Self::reference(origin));
        let specs: Vec<String> = origins.iter().map(both).collect();
        let mut args = vec!["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head"];
        args.extend(["--refmap=", "--", self.repository.url()]);
        args.extend(specs.iter().map(String::as_str));
        (self.steps)("fetch");
        self.repository.run(&args, Vec::new())
    }

    /// Fetches references one by one, and tells which failed.
    fn fetch_each(
        &self,
        origins: &[&StoreOrigin],
        failed: &mut Vec<(StoreOrigin, String)>,
    ) -> Result<(), SyncError> {
        let mut without_answer = 0;
        for &origin in origins {
            match self.fetch(&[origin]) {
                Ok(answer) if answer.is_success => {}
                Ok(answer) => failed.push((origin.clone(), self.repository.words(&answer))),
                Err(error @ SyncError::Remote { .. }) => {
                    without_answer += 1;
                    if without_answer == WITHOUT_ANSWER_MAX {
                        return Err(error);
                    }
                    failed.push((origin.clone(), error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The tips that the cache has.
    fn local(&self) -> Result<BTreeMap<StoreOrigin, Tip>, SyncError> {
        let format = "--format=%(objectname) %(refname)";
        let listed = self.repository.ask(&["for-each-ref", format, REFS], Vec::new())?;
        let text = String::from_utf8_lossy(&listed);
        Ok(text.lines().filter_map(|line| line.split_once(' ')).filter_map(tip).collect())
    }

    /// Writes the contents of the new files, and returns the entries of the tree.
    fn entries(&self, next: &NextTree<'_>) -> Result<Vec<u8>, SyncError> {
        let mut entries = Vec::new();
        for (path, part) in &next.files {
            let object = match part {
                FilePart::Same(object) => (*object).to_owned(),
                FilePart::New(bytes) => {
                    (self.steps)("hash-object");
                    self.object(&["hash-object", "-w", "--stdin"], bytes.to_vec())?
                }
            };
            entries.extend_from_slice(format!("{PLAIN} {object} 0\t{path}\0").as_bytes());
        }
        Ok(entries)
    }

    /// Runs a command that prints the name of an object.
    fn object(&self, args: &[&str], input: Vec<u8>) -> Result<String, SyncError> {
        self.object_with(args, input, Vec::new())
    }

    fn object_with(
        &self,
        args: &[&str],
        input: Vec<u8>,
        variables: Vec<(&'static str, String)>,
    ) -> Result<String, SyncError> {
        let answer = self.repository.ask_with(args, input, variables)?;
        let name = String::from_utf8_lossy(&answer).trim().to_owned();
        match is_object(&name) {
            true => Ok(name),
            false => Err(self.repository.damaged("git names no object")),
        }
    }

    fn tree(&self, next: &NextTree<'_>) -> Result<String, SyncError> {
        let index = format!("ak.index.{}", std::process::id());
        let variables = || vec![("GIT_INDEX_FILE", index.clone())];
        let entries = self.entries(next)?;
        (self.steps)("update-index");
        // `read-tree --empty` replaces what a killed process left.
        self.repository.ask_with(&["read-tree", "--empty"], Vec::new(), variables())?;
        let update = ["update-index", "-z", "--index-info"];
        self.repository.ask_with(&update, entries, variables())?;
        (self.steps)("write-tree");
        self.object_with(&["write-tree"], Vec::new(), variables())
    }
}

impl Transport for GitRemote<'_> {
    fn tips(&mut self) -> Result<Tips, SyncError> {
        let pattern = format!("{REFS}*");
        let args = ["ls-remote", "--quiet", "--refs", "--", self.repository.url(), &pattern];
        (self.steps)("ls-remote");
        let answer = self.repository.run(&args, Vec::new())?;
        if !answer.is_success {
            return Err(self.repository.unreachable(&self.repository.words(&answer)));
        }
        let mut tips = Tips::default();
        let text = String::from_utf8_lossy(&answer.output);
        for line in text.lines() {
            if line.split('\t').next().is_some_and(|name| name.len() == SHA256_DIGITS) {
                let why = "its objects are named by SHA-256, which sync does not support";
                return Err(self.repository.unreachable(why));
            }
            match line.split_once('\t').and_then(tip) {
                Some((origin, tip)) if tips.tips.len() < ORIGINS_MAX => {
                    tips.tips.insert(origin, tip);
                }
                _ => tips.odd += 1,
            }
        }
        Ok(tips)
    }

    fn bring(&mut self, wanted: &[(StoreOrigin, Tip)]) -> Result<Brought, SyncError> {
        let here = self.local()?;
        let missing: Vec<&StoreOrigin> = wanted
            .iter()
            .filter(|(origin, tip)| here.get(origin) != Some(tip))
            .map(|(origin, _)| origin)
            .collect();
        let mut brought = Brought::default();
        for some in missing.chunks(FETCH_MAX) {
            // One of them may be refused, or be too big for one call; the others then come one by one.
            if !self.fetch(some).is_ok_and(|answer| answer.is_success) {
                self.fetch_each(some, &mut brought.failed)?;
            }
        }
        let here = if missing.is_empty() { here } else { self.local()? };
        let is_wanted = |origin: &StoreOrigin| {
            let failed = brought.failed.iter().any(|(one, _)| one == origin);
            !failed && wanted.iter().any(|(one, _)| one == origin)
        };
        brought.tips = here.into_iter().filter(|(origin, _)| is_wanted(origin)).collect();
        Ok(brought)
    }

    fn list(&mut self, _: &StoreOrigin, tip: &Tip) -> Result<Listing, SyncError> {
        (self.steps)("ls-tree");
        let answer = self.repository.run(&["ls-tree", "-r", "-z", "-l", &tip.0], Vec::new())?;
        if !answer.is_success {
            // An origin may name something else than a commit. If the commit is here, its tree is missing.
            let kind = self.repository.ask(&["cat-file", "-t", &tip.0], Vec::new())?;
            return Err(match kind.trim_ascii() {
                b"commit" => self.repository.damaged("a tree is missing"),
                _ => self.repository.unreachable("it is no commit"),
            });
        }
        let mut listing = Listing::default();
        let entries = answer.output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        for entry in entries {
            match std::str::from_utf8(entry).ok().and_then(listed) {
                Some(file) => listing.files.push(file),
                None => listing.odd += 1,
            }
            if listing.files.len() + listing.odd > FILES_MAX {
                return Err(self.repository.unreachable("there are more files than a team writes"));
            }
        }
        Ok(listing)
    }

    fn read(&mut self, _: &StoreOrigin, files: &[&Listed]) -> Result<Vec<Vec<u8>>, SyncError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        (self.steps)("cat-file");
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let names: String = files.iter().map(|file| format!("{}\n", file.sum)).collect();
        let bytes_max = bytes.saturating_add(LIST_BYTES_MAX);
        let args = ["cat-file", "--batch"];
        let answer = self.repository.run_long(&args, names.into_bytes(), bytes_max)?;
        let mut rest = answer.output.as_slice();
        let mut contents = Vec::new();
        for file in files {
            let (content, after) = content_of(rest, file)
                .ok_or_else(|| self.repository.damaged("an object is missing"))?;
            contents.push(content.to_vec());
            rest = after;
        }
        Ok(contents)
    }

    fn prepare(&mut self, next: &NextTree<'_>) -> Result<Tip, SyncError> {
        let tree = self.tree(next)?;
        let mut args = vec!["commit-tree", &tree, "-m", MESSAGE];
        if let Some(Tip(on)) = next.on.filter(|_| next.history == History::Keep) {
            args.extend(["-p", on]);
        }
        // The hour is enough, and tells less of when people work.
        let hour = next.at.as_second().div_euclid(3_600) * 3_600;
        let (name, mail) = (next.origin.as_str(), format!("{}@{NO_MAIL}", next.origin.as_str()));
        let when = format!("{hour} +0000");
        let variables = vec![
            ("GIT_AUTHOR_NAME", name.to_owned()),
            ("GIT_AUTHOR_EMAIL", mail.clone()),
            ("GIT_AUTHOR_DATE", when.clone()),
            ("GIT_COMMITTER_NAME", name.to_owned()),
            ("GIT_COMMITTER_EMAIL", mail),
            ("GIT_COMMITTER_DATE", when),
        ];
        (self.steps)("commit-tree");
        self.object_with(&args, Vec::new(), variables).map(Tip)
    }

    fn publish(&mut self, next: &NextTree<'_>, tip: &Tip) -> Result<Published, SyncError> {
        let reference = Self::reference(next.origin);
        let on = next.on.map(|tip| tip.0.as_str()).unwrap_or_default();
        let lease = format!("--force-with-lease={reference}:{on}");
        let spec = format!("{}:{reference}", tip.0);
        let args = ["push", "--quiet", "--porcelain", "--no-verify", &lease, "--"];
        (self.steps)("push");
        let args = [&args[..], &[self.repository.url(), &spec]].concat();
        let answer = self.repository.run(&args, Vec::new())?;
        if answer.is_success {
            (self.steps)("update-ref");
            self.repository.ask(&["update-ref", &reference, &tip.0], Vec::new())?;
            return Ok(Published::Done);
        }
        let told = String::from_utf8_lossy(&answer.output);
        match told.lines().find(|line| line.starts_with('!')) {
            Some(line) => Ok(refusal(line)),
            // Perhaps it may only be read, and what others published can still be fetched.
            None => Ok(Published::Refused(self.repository.words(&answer))),
        }
    }

    fn forget(&mut self) -> Result<(), SyncError> {
        self.repository.remove()?;
        self.repository.make()
    }
}

/// Reads why one reference was refused: `!<tab>from:to<tab>[rejected] (reason)`.
fn refusal(line: &str) -> Published {
    let reason = line.rsplit('\t').next().unwrap_or_default();
    if reason.starts_with("[rejected]") {
        return Published::Taken;
    }
    let reason = guard::text::neutralise(reason, guard::text::Layout::Line);
    Published::Refused(reason.chars().take(200).collect())
}

/// Reads `<object> <reference>`.
fn tip((object, reference): (&str, &str)) -> Option<(StoreOrigin, Tip)> {
    let origin = StoreOrigin::parse(reference.strip_prefix(REFS)?)?;
    is_object(object).then(|| (origin, Tip(object.to_owned())))
}

/// The length of an object's name in a repository that uses SHA-256.
const SHA256_DIGITS: usize = 64;

/// Tells whether a text is the SHA-1 name of an object.
fn is_object(name: &str) -> bool {
    name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads an entry of a tree: `<mode> <type> <object> <length><tab><path>`. `None` for anything but a plain file.
fn listed(entry: &str) -> Option<Listed> {
    let (head, path) = entry.split_once('\t')?;
    let mut parts = head.split_ascii_whitespace();
    let (mode, kind, object) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes = parts.next()?.parse().ok()?;
    let is_plain = mode == PLAIN && kind == "blob" && is_object(object);
    is_plain.then(|| Listed { path: path.to_owned(), sum: object.to_owned(), bytes })
}

/// Reads one answer of `cat-file --batch`, and returns it with what follows.
fn content_of<'a>(answer: &'a [u8], file: &Listed) -> Option<(&'a [u8], &'a [u8])> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    let is_it = head == format!("{} blob {}", file.sum, file.bytes);
    let rest = answer.get(end + 1..).filter(|_| is_it)?;
    let (content, rest) = rest.split_at_checked(usize::try_from(file.bytes).ok()?)?;
    Some((content, rest.strip_prefix(b"\n")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-5
    #[test]
    fn only_plain_files_of_a_tree_are_read() {
        let object = "a".repeat(40);
        let entry = |head: &str| listed(&head.replace('@', &object));
        let file = entry("100644 blob @      12\tapi/000000.jsonl").unwrap();
        assert_eq!((file.bytes, file.path.as_str()), (12, "api/000000.jsonl"));
        for other in [
            "120000 blob @ 12\tlink",
            "160000 commit @ -\tsubmodule",
            "100755 blob @ 12\tprogram",
            "100644 blob @ BAD\tmissing",
            "100644 blob @ 12",
        ] {
            assert_eq!(entry(other), None, "{other}");
        }
    }

    // S-SYNC-4
    #[test]
    fn each_refusal_means_what_git_says() {
        let refused = |reason: &str| refusal(&format!("!\ta:b\t{reason}"));
        assert_eq!(refused("[rejected] (stale info)"), Published::Taken);
        assert_eq!(refused("[rejected] (fetch first)"), Published::Taken);
        let hook = "[remote rejected] (pre-receive hook declined)";
        assert_eq!(refused(hook), Published::Refused(hook.to_owned()));
    }

    #[test]
    fn a_batch_is_read_as_it_was_asked() {
        let file = |bytes| Listed { path: String::new(), sum: "a".repeat(40), bytes };
        let answer = format!("{} blob 3\none\nrest", "a".repeat(40));
        let (content, rest) = content_of(answer.as_bytes(), &file(3)).unwrap();
        assert_eq!((content, rest), (&b"one"[..], &b"rest"[..]));
        assert_eq!(content_of(answer.as_bytes(), &file(4)), None);
        assert_eq!(content_of(b"aaa missing\n", &file(3)), None);
    }
}
