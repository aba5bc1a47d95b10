//! The repository of the working directory and how it was found, as text. Not here: finding it (`store`).

use std::fmt::Write;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
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
    /// Sentences about repositories that this one was before, each with the command that joins it.
    pub former: &'a [String],
}

/// Which repository a directory belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhoamiAnswer {
    /// The key of the repository, with aliases followed.
    pub repo: String,
    /// How it was found.
    pub because: String,
    /// Its log.
    pub log: String,
    /// How many memories it has.
    pub memories: usize,
    /// The caller.
    pub agent: String,
    /// The session of the caller.
    pub session: Option<String>,
    /// The directory of the logs.
    pub store: String,
    /// Other repositories of the same short name.
    #[serde(default)]
    pub alike: Vec<String>,
    /// Sentences about repositories that this one was before, each with the command that joins it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<String>,
}

impl Answer for WhoamiAnswer {}

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
    for sentence in identity.former {
        let _ = write!(text, "\nbefore    {}", plain(sentence));
    }
    let answer = WhoamiAnswer {
        repo: identity.repo.to_string(),
        because: identity.because.clone(),
        log: identity.log.display().to_string(),
        memories: identity.memories,
        agent: identity.agent.to_owned(),
        session: identity.session.map(str::to_owned),
        store: identity.store.display().to_string(),
        alike: identity.alike.to_vec(),
        former: identity.former.to_vec(),
    };
    Reply::with_text(text, &answer)
}
