//! A folder that a question names, and which memories were learned in it. Not here: reading what somebody typed (`place`).

use std::collections::BTreeSet;

use super::folder_names::FolderNames;
use event::RepoKey;
use memory::Memory;

/// A folder that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedFolder {
    /// Its path from the top of a repository on, under each name that it has had.
    pub names: FolderNames,
    /// The keys of its repository, where it is one of the caller's work tree; `None` for the folder of this name in every repository.
    pub keys: Option<BTreeSet<RepoKey>>,
}

impl AskedFolder {
    /// Tells whether a memory was learned in it or in a folder below it.
    #[must_use]
    pub fn has(&self, memory: &Memory) -> bool {
        let is_within = memory.folder().is_some_and(|folder| self.names.has(folder));
        is_within && self.keys.as_ref().is_none_or(|keys| keys.contains(&memory.repo))
    }
}

#[cfg(test)]
mod tests {
    use event::FolderPath;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{now, snapshot};
    use crate::{Filter, Hit, Query, search};

    fn note(id: &str, day: u32, folder: &Value) -> Value {
        json!({"id": id, "repo": "shop", "lesson": "the zebra pipe valve", "event_type": id, "source": "agent",
            "timestamp": format!("2026-05-{day:02}T00:00:00Z"), "folder": folder})
    }

    fn found(lines: &[Value], package: Option<&str>, filter: Filter) -> Vec<Hit> {
        let here = Some(RepoKey::parse("shop").unwrap());
        let package = package.and_then(FolderPath::parse).map(FolderNames::from);
        let query = Query { text: "zebra pipe valve", here, package, filter, ..Query::default() };
        search(&snapshot(lines), &query, now(), 9)
    }

    fn ids(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.memory.id.as_str()).collect()
    }

    // S-RANK-4
    #[test]
    fn what_the_package_at_hand_taught_comes_first() {
        let mut lines = vec![
            note("web", 1, &json!("packages/web")),
            note("deep", 2, &json!("packages/web/e2e")),
            note("none", 3, &json!(null)),
            note("above", 4, &json!("packages")),
            note("api", 5, &json!("packages/api")),
            note("odd", 6, &json!("../web")),
        ];
        // Without a kind of their own they would be one text.
        for (line, word) in lines.iter_mut().zip(["one", "two", "three", "four", "five", "six"]) {
            line["lesson"] = format!("the zebra pipe valve {word}").into();
        }
        let order = |package| found(&lines, package, Filter::default());
        let plain = ["odd", "api", "above", "none", "deep", "web"];
        assert_eq!(ids(&order(None)), plain, "the newest first");
        let at_web = order(Some("packages/web"));
        assert_eq!(ids(&at_web), ["deep", "web", "odd", "api", "above", "none"]);
        let parts: Vec<bool> = at_web.iter().map(|hit| hit.score.package > 0.0).collect();
        assert_eq!(parts, [true, true, false, false, false, false]);
        assert_eq!(ids(&order(Some("packages/gone"))), plain, "a package without notes");
        for line in &mut lines {
            line["repo"] = "other".into();
        }
        assert_eq!(ids(&found(&lines, Some("packages/web"), Filter::default())), plain);
    }

    // S-PATH-6
    #[test]
    fn a_renamed_package_keeps_what_was_learned_in_it() {
        let mut lines =
            [note("old", 1, &json!("packages/old")), note("api", 2, &json!("packages/api"))];
        for (line, word) in lines.iter_mut().zip(["one", "two"]) {
            line["lesson"] = format!("the zebra pipe valve {word}").into();
        }
        let folder = |path: &str| FolderPath::parse(path).unwrap();
        let names = FolderNames::new(folder("packages/new"), vec![folder("packages/old")]);
        let here = Some(RepoKey::parse("shop").unwrap());
        let query = |package| Query {
            text: "zebra pipe valve",
            here: here.clone(),
            package,
            ..Query::default()
        };
        let order = |package| ids(&search(&snapshot(&lines), &query(package), now(), 9)).join(" ");
        assert_eq!(order(Some(names.clone())), "old api");
        assert_eq!(order(Some(folder("packages/new").into())), "api old");
        let has = |path: &str| names.has(&folder(path));
        assert!(has("packages/old/src") && has("packages/new") && !has("packages"));
        assert!(
            names.is_named(&folder("packages/old")) && !names.is_named(&folder("packages/old/x"))
        );
        assert!(
            names.is_beside(&folder("packages/api")) && !names.is_beside(&folder("packages/old"))
        );
    }

    // S-FIND-1
    #[test]
    fn a_folder_has_what_was_learned_in_it_or_below() {
        let lines = [
            note("web", 1, &json!("packages/web")),
            note("deep", 2, &json!("packages/web/e2e")),
            note("webby", 3, &json!("packages/webby")),
            note("none", 4, &json!(null)),
        ];
        let snapshot = snapshot(&lines);
        let passing = |path: &str, repo: Option<&str>| {
            let keys = repo.map(|repo| BTreeSet::from([RepoKey::parse(repo).unwrap()]));
            let folders =
                vec![AskedFolder { names: FolderPath::parse(path).unwrap().into(), keys }];
            let filter = Filter { folders, ..Filter::default() };
            let passing = snapshot.memories().iter().filter(|memory| filter.allows(memory));
            passing.map(|memory| memory.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(passing("packages/web", None), ["web", "deep"]);
        assert_eq!(passing("packages/web", Some("shop")), ["web", "deep"]);
        assert_eq!(passing("packages/web", Some("other")), [""; 0]);
        assert_eq!(passing("packages", None), ["web", "deep", "webby"]);
        assert_eq!(passing("web", None), [""; 0]);
    }
}
