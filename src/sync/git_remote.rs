//! A git repository as a remote: one reference for each origin, `refs/agent-knowledge/v1/<origin>`, and never a branch, so
//! that no clone, forge or build sees them. The program `git` does the work, with the user's own keys and passwords. Not here:
//! the repository in the cache (`git_repository`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use event::StoreOrigin;
use store::FileLock;

use crate::commit_seal::{mail_of, no_passphrase_prompt, seal_of, signing_error, signing_settings};
use crate::git_output::{PLAIN, SHA256_DIGITS, content_of, is_object, listed, refusal, tip};
use crate::git_repository::{GitRepository, LIST_BYTES_MAX, REFS};
use crate::sync_request::FOLDER;
use crate::transport::{FILES_MAX, ORIGINS_MAX};
use crate::{
    FetchedTips, FilePart, Listing, NextTree, PublishOutcome, RemoteAddress, RemoteHistory,
    RemoteKind, Seal, Signatures, SyncError, Tip, Tips, Transport, TreeFile,
};
use git::GitAnswer;

/// How long a round waits for another one with the same cache, in milliseconds.
const LOCK_MS_MAX: u64 = 2_000;

/// Most references in one fetch, so that they fit into a command line.
const FETCH_MAX: usize = 200;

/// How many fetches in one round may take too long, before the line is thought to be bad.
const WITHOUT_ANSWER_MAX: usize = 2;

/// The message of every commit.
const MESSAGE: &str = "agent-knowledge";

/// A git repository as a remote.
pub struct GitRemote<'a> {
    repository: GitRepository,
    signing_key: Option<PathBuf>,
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
        let folder = cache.join(FOLDER);
        store::own_folder(&folder)?;
        let name = |ending: &str| folder.join(format!("{}.{ending}", remote.hash()));
        let lock = FileLock::acquire(&name("lock"), LOCK_MS_MAX)?;
        let repository = GitRepository::open(name("git"), (url, remote), lookup)?;
        Ok(Self { repository, signing_key: None, _lock: lock, steps })
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

    /// Fetches references one by one, and tells which failed. What git refuses while the remote answers cannot be read; a
    /// fetch without an answer says nothing about what is there.
    fn fetch_each(
        &self,
        origins: &[&StoreOrigin],
        failed: &mut Vec<(StoreOrigin, SyncError)>,
    ) -> Result<(), SyncError> {
        let mut without_answer = 0;
        for &origin in origins {
            match self.fetch(&[origin]) {
                Ok(answer) if answer.is_success => {}
                Ok(answer) => {
                    if failed.is_empty() {
                        // Git refuses in the same way if the line is dead.
                        self.references()?;
                    }
                    let refused = SyncError::Unreadable(self.repository.words(&answer));
                    failed.push((origin.clone(), refused));
                }
                Err(error @ SyncError::Remote { .. }) => {
                    without_answer += 1;
                    if without_answer == WITHOUT_ANSWER_MAX {
                        return Err(error);
                    }
                    failed.push((origin.clone(), error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Asks what the remote has.
    fn references(&self) -> Result<Tips, SyncError> {
        let pattern = format!("{REFS}*");
        let args = ["ls-remote", "--quiet", "--refs", "--", self.repository.url(), &pattern];
        (self.steps)("ls-remote");
        let answer = self.repository.run(&args, Vec::new())?;
        if !answer.is_success {
            return Err(self.repository.remote_error(&self.repository.words(&answer)));
        }
        let mut tips = Tips::default();
        let text = String::from_utf8_lossy(&answer.output);
        for line in text.lines() {
            if line.split('\t').next().is_some_and(|name| name.len() == SHA256_DIGITS) {
                let why = "its objects are named by SHA-256, which sync does not support";
                return Err(self.repository.remote_error(why));
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
        self.named(&answer)
    }

    /// Reads the name of an object.
    fn named(&self, answer: &[u8]) -> Result<String, SyncError> {
        let name = String::from_utf8_lossy(answer).trim().to_owned();
        match is_object(&name) {
            true => Ok(name),
            false => Err(self.repository.cache_error("git names no object")),
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
        self.references()
    }

    fn bring(&mut self, wanted: &[(StoreOrigin, Tip)]) -> Result<FetchedTips, SyncError> {
        let here = self.local()?;
        let missing: Vec<&StoreOrigin> = wanted
            .iter()
            .filter(|(origin, tip)| here.get(origin) != Some(tip))
            .map(|(origin, _)| origin)
            .collect();
        let mut brought = FetchedTips::default();
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
                b"commit" => self.repository.cache_error("a tree is missing"),
                _ => SyncError::Unreadable("it is no commit".to_owned()),
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
                let why = "there are more files than a team writes";
                return Err(SyncError::Unreadable(why.to_owned()));
            }
        }
        Ok(listing)
    }

    fn read(&mut self, _: &StoreOrigin, files: &[&TreeFile]) -> Result<Vec<Vec<u8>>, SyncError> {
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
                .ok_or_else(|| self.repository.cache_error("an object is missing"))?;
            contents.push(content.to_vec());
            rest = after;
        }
        Ok(contents)
    }

    fn prepare(&mut self, next: &NextTree<'_>) -> Result<Tip, SyncError> {
        let tree = self.tree(next)?;
        let settings = self.signing_key.as_deref().map(signing_settings);
        let mut args = Vec::new();
        for setting in settings.iter().flatten() {
            args.extend(["-c", setting]);
        }
        args.extend(["commit-tree", &tree, "-m", MESSAGE]);
        if let Some(Tip(on)) = next.on.filter(|_| next.history == RemoteHistory::Keep) {
            args.extend(["-p", on]);
        }
        if settings.is_some() {
            args.push("-S");
        }
        // The hour is enough, and tells less of when people work.
        let hour = next.at.as_second().div_euclid(3_600) * 3_600;
        let (name, mail) = (next.origin.as_str(), mail_of(next.origin));
        let when = format!("{hour} +0000");
        let mut variables = vec![
            ("GIT_AUTHOR_NAME", name.to_owned()),
            ("GIT_AUTHOR_EMAIL", mail.clone()),
            ("GIT_AUTHOR_DATE", when.clone()),
            ("GIT_COMMITTER_NAME", name.to_owned()),
            ("GIT_COMMITTER_EMAIL", mail),
            ("GIT_COMMITTER_DATE", when),
        ];
        (self.steps)("commit-tree");
        if settings.is_none() {
            return self.object_with(&args, Vec::new(), variables).map(Tip);
        }
        variables.extend(no_passphrase_prompt());
        let answer = self.repository.run_with(&args, variables)?;
        if !answer.is_success {
            return Err(signing_error(&answer));
        }
        self.named(&answer.output).map(Tip)
    }

    fn publish(&mut self, next: &NextTree<'_>, tip: &Tip) -> Result<PublishOutcome, SyncError> {
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
            return Ok(PublishOutcome::Done);
        }
        let told = String::from_utf8_lossy(&answer.output);
        match told.lines().find(|line| line.starts_with('!')) {
            Some(line) => Ok(refusal(line)),
            // Perhaps it may only be read, and what others published can still be fetched.
            None => Ok(PublishOutcome::Refused(self.repository.words(&answer))),
        }
    }

    fn forget(&mut self) -> Result<(), SyncError> {
        self.repository.remove()?;
        self.repository.make()
    }

    fn signatures(&mut self) -> Option<&mut dyn Signatures> {
        Some(self)
    }
}

impl Signatures for GitRemote<'_> {
    fn sign_with(&mut self, key: Option<&Path>) {
        self.signing_key = key.map(Path::to_owned);
    }

    fn seal(&mut self, origin: &StoreOrigin, tip: &Tip) -> Result<Seal, SyncError> {
        (self.steps)("verify-commit");
        seal_of(&self.repository, origin, tip)
    }
}
