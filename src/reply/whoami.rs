//! The repository of the working directory and how it was found, as text. Not here: finding it (`store`).

use std::fmt::Write;
use std::path::Path;

use serde_json::json;

use super::reply::Reply;
use event::RepoKey;
use guard::text::{Layout, neutralise};

/// The content of the reply.
pub struct Whoami<'a> {
    /// The key, with aliases followed.
    pub repo: &'a RepoKey,
    /// The key before aliases.
    pub found: &'a RepoKey,
    /// The source of the key.
    pub because: String,
    /// The directory of the logs.
    pub store: &'a Path,
    /// The repository's log.
    pub log: &'a Path,
    /// The number of its memories.
    pub memories: usize,
    /// The caller.
    pub agent: &'a str,
    /// The caller's session.
    pub session: Option<&'a str>,
    /// Other repositories of the same short name.
    pub alike: &'a [String],
}

/// Writes the reply.
#[must_use]
pub fn whoami(identity: &Whoami<'_>) -> Reply {
    // Paths and names of agents are foreign text.
    let plain = |text: &str| neutralise(text, Layout::Line);
    let mut text = format!("repo      {}\nbecause   {}\n", identity.repo, plain(&identity.because));
    if identity.repo != identity.found {
        let _ = writeln!(text, "alias of  {}", identity.found);
    }
    let _ = writeln!(text, "log       {}", plain(&identity.log.display().to_string()));
    let _ = write!(text, "memories  {}\nagent     {}", identity.memories, plain(identity.agent));
    if !identity.alike.is_empty() {
        let list = identity.alike.join(", ");
        let _ = write!(
            text,
            "\nsimilar   {list} (if these are one repository, join them under [aliases] in the configuration)"
        );
    }
    let json = json!({
        "repo": identity.repo.as_str(), "because": identity.because, "log": identity.log.display().to_string(),
        "memories": identity.memories, "agent": identity.agent, "session": identity.session,
        "store": identity.store.display().to_string(), "alike": identity.alike,
    });
    Reply::new(text, json)
}
