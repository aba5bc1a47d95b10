//! The files of a draft, as they are kept: from the top of the work tree that the writer stands in. Not here: how one path is read
//! (`place::FileViewpoint`).

use std::collections::BTreeSet;
use std::path::Path;

use event::{Draft, IMPORTED, RepoKey};
use place::{FilePresence, FileViewpoint};
use settings::Config;
use store::Store;

/// Gives the files of a draft the form in which they are kept, as seen from a directory. Returns those that are nowhere.
pub(super) fn keep_files(
    draft: &mut Draft,
    repo: &RepoKey,
    directory: &Path,
    (store, config): (&Store, &Config),
) -> Vec<String> {
    // What another program wrote says files from the top on, whoever imports it.
    if draft.files.is_empty() || draft.source.as_deref() == Some(IMPORTED) {
        return Vec::new();
    }
    let place = directory.is_absolute().then(|| store.place_at(directory, config));
    let place = place.filter(|place| place.repository.as_ref() == Some(repo));
    let home = store.machine().home.as_deref();
    let viewpoint = FileViewpoint::new(place.as_ref(), directory, home);
    let (mut files, mut missing): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for file in std::mem::take(&mut draft.files) {
        if draft.kept_files.contains(&file) {
            files.push(file);
            continue;
        }
        for kept in viewpoint.kept_paths(&[file]) {
            if kept.presence == FilePresence::Missing {
                missing.push(kept.text.clone());
            }
            files.push(kept.text);
        }
    }
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(file.clone()));
    draft.files = files;
    missing
}

/// Says which files are nowhere; `None` where all are there.
pub(super) fn missing_files_notice(missing: &[String]) -> Option<String> {
    let noun = if missing.len() == 1 { "file" } else { "files" };
    (!missing.is_empty()).then(|| format!("no such {noun}: {}; saved as given", missing.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Moment, Writer};
    use store::Durability;

    // S-PATH-1, S-PATH-2
    #[test]
    fn files_are_written_from_the_top_on() {
        let folder = tempfile::tempdir().unwrap();
        let (top, package) = (folder.path().join("shop"), folder.path().join("shop/packages/web"));
        for file in ["packages/web/src/cart.ts", "src/cart.ts", "Makefile"] {
            std::fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            std::fs::write(top.join(file), "").unwrap();
        }
        std::fs::create_dir(top.join(".git")).unwrap();
        std::fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let writer = Writer {
            store: Store::at(folder.path().join("logs")),
            config: Config::default(),
            directory: package,
            identity: Identity::default(),
        };
        let written = |repo: Option<&str>, source: Option<&str>, files: &[&str]| {
            let draft = Draft {
                lesson: Some("x".to_owned()),
                event_type: Some("fact".to_owned()),
                repo: repo.map(str::to_owned),
                source: source.map(str::to_owned),
                files: files.iter().map(|&file| file.to_owned()).collect(),
                ..Draft::default()
            };
            let moment = Moment { now: "2026-01-02T03:04:05Z".parse().unwrap(), random: 7 };
            let prepared = writer.prepare(draft, moment).unwrap();
            let files = prepared.event().files.clone();
            let receipt = writer.append(prepared, Durability::Written).unwrap();
            (files, receipt.notices())
        };
        let named = ["src/cart.ts:3", "../../Makefile,../../src/cart.ts", "no.ts"];
        let (files, notices) = written(None, None, &named);
        assert_eq!(files, ["packages/web/src/cart.ts:3", "Makefile", "src/cart.ts", "no.ts"]);
        assert_eq!(notices, ["no such file: no.ts; saved as given"]);
        let kept = Draft {
            files: vec!["src/cart.ts".to_owned()],
            lesson: Some("y".to_owned()),
            ..Draft::default()
        };
        let kept =
            Draft { kept_files: kept.files.clone(), event_type: Some("fact".to_owned()), ..kept };
        let moment = Moment { now: "2026-01-02T03:04:05Z".parse().unwrap(), random: 8 };
        let prepared = writer.prepare(kept, moment).unwrap();
        assert_eq!(prepared.event().files, ["src/cart.ts"], "it is of an earlier version");
        let as_given = (vec!["src/cart.ts".to_owned()], Vec::new());
        assert_eq!(written(Some("other"), None, &["src/cart.ts"]), as_given);
        assert_eq!(written(None, Some(IMPORTED), &["src/cart.ts"]), as_given);
        assert_eq!(written(Some("shop"), None, &["src/cart.ts"]).0, ["packages/web/src/cart.ts"]);
    }
}
