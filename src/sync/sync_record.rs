//! The part of sharing that must not be lost, in the file `.sync.json` of the store: which repositories somebody agreed to share
//! with which remote; what this store published last, which distinguishes its tree from that of a copy of the store; the key of
//! each origin; and which flagged lines a person lets pass. Not here: the state that may be lost (`sync_state`).

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::PathBuf;

use event::{RepoKey, StoreOrigin};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use store::{Store, StoreError};

use crate::{AllowedLines, RemoteAddress, Seal, SyncError, Tip, UnverifiedOrigin};

/// The file, inside the store.
const RECORD: &str = ".sync.json";

/// The keys of the origins, by origin.
const KEYS: &str = "keys";

/// The signatures that were last seen of held origins, by origin.
const UNVERIFIED: &str = "unverified";

/// The flagged lines that a person lets pass, by id: for the sum of each line, when the person was first asked. They count for
/// every remote.
const ALLOWED: &str = "allowed";

/// The longest record that is read, in bytes.
const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The record of one store, as far as it is about one remote. Fields of others are kept.
#[derive(Debug)]
pub(crate) struct SyncRecord {
    path: PathBuf,
    remote: String,
    whole: Map<String, Value>,
    /// The fields about the remote.
    fields: Map<String, Value>,
}

impl SyncRecord {
    /// Reads the record; an empty one if there is none.
    ///
    /// # Errors
    /// [`SyncError::Store`] if it cannot be read, or is damaged: who agreed to what is not to be guessed.
    pub(crate) fn read(store: &Store, remote: &RemoteAddress) -> Result<Self, SyncError> {
        let path = store.root().join(RECORD);
        let mut whole = match store::open_own_file(&path)? {
            None => Map::new(),
            Some(file) => {
                let mut text = String::new();
                let read = file.take(RECORD_BYTES_MAX).read_to_string(&mut text);
                read.map_err(StoreError::io("read", &path))?;
                serde_json::from_str(&text).map_err(|error| {
                    let why = std::io::Error::other(format!("{error}; delete it, and agree again"));
                    StoreError::io("understand", &path)(why)
                })?
            }
        };
        let remotes = whole.entry("remotes").or_insert_with(|| json!({}));
        let own = remotes.get(remote.hash()).and_then(Value::as_object);
        let mut fields = own.cloned().unwrap_or_default();
        fields.insert("remote".to_owned(), remote.shown().into());
        Ok(Self { path, remote: remote.hash().to_owned(), whole, fields })
    }

    /// Tells whether somebody agreed to share a repository with the remote.
    pub(crate) fn is_agreed(&self, repo: &RepoKey) -> bool {
        self.fields.get("agreed").is_some_and(|agreed| agreed.get(repo.as_str()).is_some())
    }

    /// Records that somebody agreed.
    pub(crate) fn agree(&mut self, repo: &RepoKey, now: Timestamp) {
        let agreed = self.fields.entry("agreed").or_insert_with(|| json!({}));
        if let Value::Object(agreed) = agreed {
            let when = || Value::from(format!("{now:.0}"));
            agreed.entry(repo.as_str()).or_insert_with(when);
        }
    }

    /// Tells whether this store published, or was about to publish, the tree of a tip.
    pub(crate) fn has_published(&self, tip: &Tip) -> bool {
        ["published", "publishing"].iter().any(|name| self.text(name) == Some(&tip.0))
    }

    /// Returns the tip that this store published last.
    pub(crate) fn published_tip(&self) -> Option<&str> {
        self.text("published")
    }

    /// Returns how many lines the remote has, as far as is known.
    pub(crate) fn lines(&self) -> usize {
        let lines = self.fields.get("lines").and_then(Value::as_u64).unwrap_or_default();
        usize::try_from(lines).unwrap_or(usize::MAX)
    }

    /// Records what is about to be published.
    pub(crate) fn publishing(&mut self, tip: &Tip) {
        self.fields.insert("publishing".to_owned(), tip.0.as_str().into());
    }

    /// Records what was published, with its number of lines.
    pub(crate) fn published(&mut self, tip: &Tip, lines: usize) {
        self.fields.insert("published".to_owned(), tip.0.as_str().into());
        self.fields.remove("publishing");
        self.fields.insert("lines".to_owned(), lines.into());
    }

    /// Forgets what was published, since it was under another origin.
    pub(crate) fn forget_published(&mut self) {
        for name in ["published", "publishing", "lines"] {
            self.fields.remove(name);
        }
    }

    /// Returns the fingerprint of the key that an origin signs with. It holds for every remote.
    pub(crate) fn key_of(&self, origin: &StoreOrigin) -> Option<&str> {
        self.whole.get(KEYS)?.get(origin.as_str())?.get("key")?.as_str()
    }

    /// Keeps the key of an origin.
    pub(crate) fn keep_key(&mut self, origin: &StoreOrigin, key: &str, now: Timestamp) {
        let keys = self.whole.entry(KEYS).or_insert_with(|| json!({}));
        if let Value::Object(keys) = keys {
            let kept = json!({ "key": key, "since": format!("{now:.0}") });
            keys.insert(origin.as_str().to_owned(), kept);
        }
    }

    /// Forgets the key of an origin that no longer signs.
    pub(crate) fn forget_key(&mut self, origin: &StoreOrigin) {
        if let Some(Value::Object(keys)) = self.whole.get_mut(KEYS) {
            keys.remove(origin.as_str());
        }
    }

    /// Returns the flagged lines that a person lets pass.
    pub(crate) fn allowed(&self) -> AllowedLines {
        let mut allowed = AllowedLines::default();
        let ids = self.whole.get(ALLOWED).and_then(Value::as_object).into_iter().flatten();
        for (id, sums) in ids {
            for sum in sums.as_object().into_iter().flat_map(Map::keys) {
                allowed.insert(id, sum);
            }
        }
        allowed
    }

    /// Records that a person lets the line with this sum pass.
    pub(crate) fn allow(&mut self, id: &str, sum: &str, now: Timestamp) {
        let ids = self.whole.entry(ALLOWED).or_insert_with(|| json!({}));
        if let Value::Object(ids) = ids {
            let sums = ids.entry(id).or_insert_with(|| json!({}));
            if let Value::Object(sums) = sums {
                sums.entry(sum).or_insert_with(|| Value::from(format!("{now:.0}")));
            }
        }
    }

    /// Returns the origins of the remote of which nothing is taken, because of their signatures.
    pub(crate) fn unverified(&self) -> Vec<UnverifiedOrigin> {
        let held = self.fields.get(UNVERIFIED).and_then(Value::as_object);
        let read = |(name, seen): (&String, &Value)| {
            let origin = StoreOrigin::parse(name)?;
            let expected = self.key_of(&origin).map(str::to_owned);
            let seen = serde_json::from_value::<Seal>(seen.clone()).ok()?;
            Some(UnverifiedOrigin { origin, expected, seen })
        };
        held.into_iter().flatten().filter_map(read).collect()
    }

    /// Records these origins instead of the earlier ones. Returns whether they differ.
    pub(crate) fn record_unverified(&mut self, held: &[UnverifiedOrigin]) -> bool {
        let noted = |entry: &UnverifiedOrigin| {
            let seen = serde_json::to_value(&entry.seen).unwrap_or_default();
            (entry.origin.as_str().to_owned(), seen)
        };
        let held: Map<String, Value> = held.iter().map(noted).collect();
        let before = match held.is_empty() {
            true => self.fields.remove(UNVERIFIED),
            false => self.fields.insert(UNVERIFIED.to_owned(), Value::Object(held.clone())),
        };
        before.unwrap_or_else(|| json!({})) != Value::Object(held)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// Writes the record, so that it survives a crash of the machine.
    ///
    /// # Errors
    /// [`SyncError::Store`].
    pub(crate) fn write(&mut self) -> Result<(), SyncError> {
        if let Some(Value::Object(remotes)) = self.whole.get_mut("remotes") {
            remotes.insert(self.remote.clone(), Value::Object(self.fields.clone()));
        }
        let text = format!("{:#}\n", Value::Object(self.whole.clone()));
        let new = self.path.with_extension("json.new");
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).write(true);
        let written = store::open_private(&mut options, &new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        let moved = written.and_then(|()| std::fs::rename(&new, &self.path));
        moved.map_err(StoreError::io("write", &self.path))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-3
    #[test]
    fn a_yes_is_kept_for_one_repository_and_one_remote() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        let path = store.root().join(RECORD);
        std::fs::write(&path, r#"{"note":1,"remotes":{"x":{"y":2}}}"#).unwrap();
        let remotes = ["/srv/a.git", "/srv/b.git"].map(|url| RemoteAddress::parse(url).unwrap());
        let read = |remote| SyncRecord::read(&store, remote).unwrap();
        let [api, web] = ["api", "web"].map(|key| RepoKey::parse(key).unwrap());
        let mut record = read(&remotes[0]);
        assert!(!record.is_agreed(&api));
        record.agree(&api, Timestamp::UNIX_EPOCH);
        record.publishing(&Tip("t1".to_owned()));
        record.published(&Tip("t1".to_owned()), 3);
        record.publishing(&Tip("t2".to_owned()));
        record.write().unwrap();
        let record = read(&remotes[0]);
        assert!(record.is_agreed(&api) && !record.is_agreed(&web));
        let known = ["t1", "t2", "t3"].map(|tip| record.has_published(&Tip(tip.to_owned())));
        assert_eq!((known, record.lines()), ([true, true, false], 3));
        assert!(!read(&remotes[1]).is_agreed(&api));
        let text = std::fs::read_to_string(&path).unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&whole["note"], &whole["remotes"]["x"]["y"]), (&json!(1), &json!(2)));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::write(&path, "{").unwrap();
        assert!(SyncRecord::read(&store, &remotes[0]).is_err());
    }

    /// A record as stores have it. It must be understood for ever.
    const FIXTURE: &str = r#"{"allowed":{"01J0000000000000000000000A":{
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08":"2026-11-28T04:00:00Z","new":7}},
        "remotes":{}}"#;

    // S-SYNC-14
    #[test]
    fn a_line_that_may_pass_is_known_from_a_record_of_any_age() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        let remote = RemoteAddress::parse("/srv/a.git").unwrap();
        std::fs::write(store.root().join(RECORD), FIXTURE).unwrap();
        let mut record = SyncRecord::read(&store, &remote).unwrap();
        let id = "01J0000000000000000000000A";
        assert!(record.allowed().has(id, b"test\n") && !record.allowed().has(id, b"test2"));
        assert!(!record.allowed().has("other", b"test"));
        record.allow(id, "more", Timestamp::UNIX_EPOCH);
        record.write().unwrap();
        let text = std::fs::read_to_string(store.root().join(RECORD)).unwrap();
        assert!(text.contains("2026-11-28T04:00:00Z") && text.contains("more"), "{text}");
        assert!(SyncRecord::read(&store, &remote).unwrap().allowed().has(id, b"test"));
    }

    // S-SYNC-13
    #[test]
    fn a_key_holds_for_every_remote() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        let remotes = ["/srv/a.git", "/srv/b.git"].map(|url| RemoteAddress::parse(url).unwrap());
        let read = |remote| SyncRecord::read(&store, remote).unwrap();
        let [ana, bo] = [("ana", 1), ("bo", 2)].map(|(host, bits)| StoreOrigin::mint(host, bits));
        let mut record = read(&remotes[0]);
        record.keep_key(&ana, "SHA256:a", Timestamp::UNIX_EPOCH);
        let held = |origin: &StoreOrigin, expected: Option<&str>, seen| UnverifiedOrigin {
            origin: origin.clone(),
            expected: expected.map(str::to_owned),
            seen,
        };
        let both = [
            held(&ana, Some("SHA256:a"), Seal::Signed("SHA256:b".to_owned())),
            held(&bo, None, Seal::Unsigned),
        ];
        assert!(record.record_unverified(&both) && !record.record_unverified(&both));
        record.write().unwrap();
        let mut record = read(&remotes[0]);
        assert_eq!(record.unverified(), both);
        assert!(record.record_unverified(&[]) && !record.record_unverified(&[]));
        record.write().unwrap();
        let mut record = read(&remotes[1]);
        assert_eq!((record.unverified(), record.key_of(&ana)), (Vec::new(), Some("SHA256:a")));
        record.forget_key(&ana);
        record.write().unwrap();
        assert_eq!(
            (read(&remotes[0]).key_of(&ana), read(&remotes[0]).unverified().len()),
            (None, 0)
        );
    }
}
