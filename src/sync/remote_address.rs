//! The address of a remote as a person types it: a URL, a path, or a folder. Not here: reaching it (`git_remote`,
//! `folder_remote`, `nats_remote`), and what `origin` stands for, which the caller asks git ([`crate::GitRemote::origin_url`]).

use std::path::{Path, PathBuf};

use guard::text::{Layout, neutralise};

use crate::SyncError;
use crate::content_sum::short_sum;

/// What begins the address of a plain folder.
const FOLDER: &str = "folder:";

/// Longest address, in bytes.
const ADDRESS_BYTES_MAX: usize = 1_024;

/// The address of a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAddress {
    kind: RemoteKind,
    shown: String,
    hash: String,
}

/// What is at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteKind {
    /// A git repository, by its URL or path.
    Git(String),
    /// A folder.
    Folder(PathBuf),
    /// A stream of JetStream.
    Nats(crate::TeamAddress),
}

impl RemoteAddress {
    /// Reads an address. `origin` must have been replaced by what it stands for.
    ///
    /// # Errors
    /// [`SyncError::Address`] for an address that git could take for an option or for a program to start, and for a path that
    /// is not absolute.
    pub fn parse(text: &str) -> Result<Self, SyncError> {
        let text = text.trim();
        let refuse = |why: &str| Err(SyncError::Address(format!("the remote {why}; {EXAMPLES}")));
        if text.is_empty() || text.len() > ADDRESS_BYTES_MAX {
            return refuse("is empty or too long");
        }
        if text.starts_with('-') || text.contains("::") || text.chars().any(char::is_control) {
            return refuse("is no address");
        }
        if let Some(folder) = text.strip_prefix(FOLDER) {
            let folder = Path::new(folder);
            return match folder.is_absolute() {
                true => Ok(Self::new(RemoteKind::Folder(folder.to_owned()), text)),
                false => refuse("must be an absolute path"),
            };
        }
        if text.starts_with("nats://") || text.starts_with("tls://") {
            return Self::of_stream(text);
        }
        let is_scheme = |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_url = match text.split_once("://") {
            Some((scheme, _)) if !SCHEMES.contains(&scheme) => {
                return refuse("begins with no scheme that is allowed");
            }
            Some((scheme, _)) => is_scheme(scheme),
            None => text.split_once(':').is_some_and(|(host, _)| !host.contains('/')),
        };
        if !is_url && !Path::new(text).is_absolute() {
            return refuse("must be a URL or an absolute path");
        }
        Ok(Self::new(RemoteKind::Git(text.to_owned()), text))
    }

    fn of_stream(text: &str) -> Result<Self, SyncError> {
        let kind = crate::TeamAddress::parse(text).map(RemoteKind::Nats);
        let kind = kind.ok_or_else(|| {
            let why = "the remote is no address of a stream; for example nats://a.example.org,b.example.org/AK1";
            SyncError::Address(why.to_owned())
        })?;
        Ok(Self::new(kind, text))
    }

    fn new(kind: RemoteKind, text: &str) -> Self {
        Self { kind, shown: shown(text), hash: short_sum(text.as_bytes(), 16) }
    }

    /// Returns what is there.
    #[must_use]
    pub fn kind(&self) -> &RemoteKind {
        &self.kind
    }

    /// Returns what people are shown: the address without user and password.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns sixteen hexadecimal digits that stand for the address in names of files.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// The schemes that git may use.
const SCHEMES: [&str; 5] = ["file", "git", "http", "https", "ssh"];

const EXAMPLES: &str = "for example git@example.org:acme/memory.git, https://example.org/acme/memory.git, or folder:/mnt/team/memory";

/// Leaves out the password of a URL, and the user unless it says how to reach the server.
fn shown(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return neutralise(text, Layout::Line);
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    neutralise(&format!("{scheme}://{host}/{path}"), Layout::Line)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-5
    #[test]
    fn only_addresses_that_start_no_program_are_taken() {
        for (text, shown) in [
            ("git@example.org:acme/m.git", "git@example.org:acme/m.git"),
            ("https://u:secret@example.org/m.git", "https://example.org/m.git"),
            (" ssh://git@example.org:22/m.git ", "ssh://example.org:22/m.git"),
            ("/srv/m.git", "/srv/m.git"),
            ("folder:/mnt/team", "folder:/mnt/team"),
        ] {
            assert_eq!(RemoteAddress::parse(text).unwrap().shown(), shown);
        }
        for text in [
            "",
            "-oProxyCommand=x",
            "--upload-pack=x",
            "ext::sh -c x",
            "transport::address",
            "origin",
            "../m.git",
            "folder:m",
            "ftp://example.org/m",
            "a\nb:c",
        ] {
            assert!(matches!(RemoteAddress::parse(text), Err(SyncError::Address(_))), "{text}");
        }
    }

    // S-NATS-1
    #[test]
    fn a_stream_is_shown_without_its_password() {
        for text in ["nats://a.example.org/AK1", "tls://u:secret@a.example.org,b.example.org"] {
            let read = RemoteAddress::parse(text);
            assert!(!read.unwrap().shown().contains("secret"));
            assert!(RemoteAddress::parse("nats://a/b/c").is_err());
        }
    }

    #[test]
    fn every_address_has_a_name_of_its_own() {
        let hash = |text| RemoteAddress::parse(text).unwrap().hash().to_owned();
        assert_eq!(hash("/a").len(), 16);
        assert_ne!(hash("/a"), hash("/b"));
    }
}
