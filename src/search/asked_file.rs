//! A file that a question names, and which memories are about it. Not here: reading what somebody typed (`place`).

use std::collections::BTreeSet;

use event::{Event, RepoKey};

/// A file that a question names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedFile {
    /// Its path: from the top of a work tree on where that is known, else as somebody typed it.
    path: String,
    known: Option<KnownFile>,
}

/// A file of the caller's work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownFile {
    /// The keys of its repository. Elsewhere only what somebody typed counts.
    keys: BTreeSet<RepoKey>,
    /// As somebody typed it.
    typed: String,
    /// Other files of the work tree whose path is an end of this one's.
    others: Vec<String>,
    /// The paths that it had before it was renamed, or has now.
    other_paths: Vec<String>,
}

impl From<&str> for AskedFile {
    fn from(typed: &str) -> Self {
        Self { path: typed.trim().to_owned(), known: None }
    }
}

impl From<String> for AskedFile {
    fn from(typed: String) -> Self {
        typed.as_str().into()
    }
}

impl AskedFile {
    /// A file that is in the work tree of a repository. `is_file` tells which other paths are files there.
    #[must_use]
    pub fn in_tree(
        path: &str,
        typed: &str,
        keys: BTreeSet<RepoKey>,
        is_file: impl Fn(&str) -> bool,
    ) -> Self {
        let ends = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..));
        let others = ends.filter(|end| is_file(end)).map(str::to_owned).collect();
        let typed = typed.trim().to_owned();
        let known = KnownFile { keys, typed, others, other_paths: Vec::new() };
        Self { path: path.to_owned(), known: Some(known) }
    }

    /// Adds paths that a file of the work tree had before it was renamed.
    #[must_use]
    pub fn with_other_paths(mut self, paths: Vec<String>) -> Self {
        if let Some(known) = &mut self.known {
            known.other_paths = paths;
        }
        self
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Tells whether an event of a repository names it, in its list or in its texts, by its path or the end of it.
    pub(super) fn is_named_by(&self, event: &Event, repo: &RepoKey) -> bool {
        let is_in = |spelling: &str| event.symptoms.iter().any(|text| is_in_text(text, spelling));
        self.is_known_to(event, repo) || self.spellings(repo).any(is_in)
    }

    /// Tells the same without what was seen: whatever a pasted message names need not be a file that somebody knows.
    pub(super) fn is_known_to(&self, event: &Event, repo: &RepoKey) -> bool {
        let listed = event.files.iter().any(|other| self.has_path(other, repo));
        let texts = [&event.context, &event.lesson, &event.command];
        let is_in = |spelling: &str| texts.iter().any(|text| is_in_text(text, spelling));
        listed || self.spellings(repo).any(is_in)
    }

    /// Tells whether a path that a memory of a repository names is of this file, as far as it says.
    #[must_use]
    pub fn has_path(&self, other: &str, repo: &RepoKey) -> bool {
        let Some(known) = &self.known else { return same_file(other, &self.path) };
        if !known.keys.contains(repo) {
            return same_file(other, &known.typed);
        }
        let other = bare(other);
        // Lines of another machine may have whole paths.
        let is_whole = other.starts_with(['/', '~']) || other.get(1..2) == Some(":");
        let is_other_file = || known.others.iter().any(|known| known == other);
        let is_of = |path: &String| {
            other == path
                || (is_whole && ends_with_path(other, path))
                || (ends_with_path(path, other) && !is_other_file())
        };
        is_of(&self.path) || known.other_paths.iter().any(is_of)
    }

    /// Returns how a text may write it.
    fn spellings(&self, repo: &RepoKey) -> impl Iterator<Item = &str> {
        let typed = self.known.as_ref().and_then(|known| {
            let is_own = known.keys.contains(repo);
            let is_other = is_own && known.others.iter().any(|other| *other == bare(&known.typed));
            (!is_other).then_some(known.typed.as_str())
        });
        let other_paths = self.known.iter().filter(|known| known.keys.contains(repo));
        let other_paths = other_paths.flat_map(|known| known.other_paths.iter());
        let own = [Some(self.path.as_str()), typed].into_iter().flatten();
        own.chain(other_paths.map(String::as_str))
    }
}

/// Tells whether a text names a file. A name without an extension is a common word; only a path or a real file name may match text.
fn is_in_text(text: &str, file: &str) -> bool {
    let file = bare(file);
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_telling = file.contains('/') || name.contains('.');
    is_telling && text.contains(file)
}

/// Tells whether two paths are of one file as far as they say: one is the end of the other, from a folder on.
#[must_use]
pub fn same_file(left: &str, right: &str) -> bool {
    let (left, right) = (bare(left), bare(right));
    ends_with_path(left, right) || ends_with_path(right, left)
}

fn bare(path: &str) -> &str {
    path.trim().trim_start_matches("./")
}

fn ends_with_path(whole: &str, end: &str) -> bool {
    !end.is_empty()
        && whole
            .strip_suffix(end)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PATH-4
    #[test]
    fn a_file_of_the_tree_is_not_that_of_another_package() {
        let repo = RepoKey::parse("github.com/acme/shop").unwrap();
        let elsewhere = RepoKey::parse("github.com/acme/api").unwrap();
        let asked = |path: &str, typed: &str, others: &[&str]| {
            AskedFile::in_tree(path, typed, BTreeSet::from([repo.clone()]), |end| {
                others.contains(&end)
            })
        };
        let web = asked("packages/web/src/cart.ts", "src/cart.ts", &["src/cart.ts"]);
        for (path, expected) in [
            ("packages/web/src/cart.ts", true),
            ("./packages/web/src/cart.ts", true),
            ("web/src/cart.ts", true),
            ("cart.ts", true),
            ("/home/ana/shop/packages/web/src/cart.ts", true),
            ("~/shop/packages/web/src/cart.ts", true),
            ("src/cart.ts", false),
            ("packages/api/src/cart.ts", false),
        ] {
            assert_eq!(web.has_path(path, &repo), expected, "{path}");
        }
        assert!(web.has_path("src/cart.ts", &elsewhere), "another repository has its own");
        let top = asked("src/cart.ts", "src/cart.ts", &[]);
        assert!(top.has_path("src/cart.ts", &repo) && top.has_path("cart.ts", &repo));
        assert!(!top.has_path("packages/web/src/cart.ts", &repo));
        assert!(AskedFile::from("src/cart.ts").has_path("packages/web/src/cart.ts", &repo));
        let moved = top.with_other_paths(vec!["lib/basket.ts".to_owned()]);
        for (path, expected) in [
            ("src/cart.ts", true),
            ("lib/basket.ts", true),
            ("basket.ts", true),
            ("/home/ana/shop/lib/basket.ts", true),
            ("old/basket.ts", false),
        ] {
            assert_eq!(moved.has_path(path, &repo), expected, "{path}");
        }
        assert!(!moved.has_path("lib/basket.ts", &elsewhere));
    }
}
