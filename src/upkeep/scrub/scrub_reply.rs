//! What scrubbing did, and what is left for people to do. Never the secret. Not here: doing it.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{ScrubFindings, ScrubMode, ScrubRequest, Scrubbed};
use crate::shown_path::{shown, word};
use guard::text::{Layout, neutralise};
use reply::Reply;
use store::Store;

/// Secrets of one file told to people; `--json` has all.
const SHOWN_MAX: usize = 20;

pub(super) fn reply(request: &ScrubRequest<'_>, all: &[Scrubbed], too_long: usize) -> Reply {
    let mut text = String::new();
    let (removed, left) = (total(all, |file| &file.removed), total(all, |file| &file.left));
    for file in all {
        let verb = match request.how {
            ScrubMode::Change => "removed",
            ScrubMode::DryRun => "found",
        };
        told(&mut text, file, verb, &file.removed);
        told(&mut text, file, "LEFT", &file.left);
    }
    if too_long > 0 {
        let _ = writeln!(
            text,
            "{too_long} lines over 64 MiB, or damaged parts of segments, were not looked at"
        );
    }
    let resealed = all.iter().filter(|file| Store::is_segment(&file.file));
    let resealed = resealed.filter(|file| !file.removed.is_empty()).count();
    if resealed > 0 && request.how == ScrubMode::Change {
        let _ = writeln!(text, "{resealed} segments of old lines were packed anew without them");
    }
    let remains = if removed + left > 0 { remaining(request, all) } else { Vec::new() };
    match (removed, left, request.how) {
        (0, 0, _) => text.push_str("no secrets found"),
        (_, _, ScrubMode::DryRun) => {
            let _ = write!(text, "{} secrets found, nothing changed", removed + left);
        }
        (_, 0, ScrubMode::Change) => {
            let _ = write!(text, "{removed} secrets removed");
        }
        (_, _, ScrubMode::Change) => {
            let _ = write!(
                text,
                "{removed} secrets removed, {left} left: they cannot be taken out without damage; edit those lines by hand"
            );
        }
    }
    if !remains.is_empty() {
        text.push_str("\n\nWhat remains to be done:");
        remains.iter().for_each(|step| text.push_str(&format!("\n- {step}")));
    }
    let files: Vec<Value> = all.iter().map(json_of_file).collect();
    let is_changed = request.how == ScrubMode::Change;
    let json = json!({
        "changed": is_changed && removed > 0, "removed": if is_changed { removed } else { 0 },
        "found": removed + left, "left": if is_changed { left } else { removed + left },
        "not_looked_at": too_long, "files": files, "remains": remains,
    });
    Reply::new(text, json)
}

fn total(all: &[Scrubbed], of: impl Fn(&Scrubbed) -> &Vec<ScrubFindings>) -> usize {
    all.iter().map(|file| of(file).len()).sum()
}

fn told(text: &mut String, file: &Scrubbed, verb: &str, found: &[ScrubFindings]) {
    for ScrubFindings { line, spot, .. } in found.iter().take(SHOWN_MAX) {
        let field = neutralise(&spot.field, Layout::Line);
        let place = if field.is_empty() { String::new() } else { format!(", {field}") };
        let _ = writeln!(text, "{verb:<8}{}: line {line}{place}: {}", shown(&file.file), spot.rule);
    }
    if let Some(more) = found.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "        and {more} more there; --json tells all");
    }
}

/// A secret that stood in a file has been read by whoever could read it.
fn remaining(request: &ScrubRequest<'_>, all: &[Scrubbed]) -> Vec<String> {
    let mut steps = vec![
        "Make the keys worthless: revoke or rotate each of them where it was issued. Nothing else helps for certain.".to_owned(),
    ];
    for file in all {
        let Some(history) = &file.history else { continue };
        let (count, newest) = (history.count, history.newest.join(" "));
        steps.push(format!(
            "git still holds earlier versions of {} in {count} commits ({newest}{}). To take them out of all history: git filter-repo --replace-text FILE, with a FILE outside the repository that lists the secrets, one a line; then push with --force, and have every other clone made anew.",
            word(&file.file),
            if count > history.newest.len() { " ..." } else { "" },
        ));
    }
    steps.push("Copies that other programs made of the logs (backups, synchronised folders, other machines) are as they were.".to_owned());
    steps.push(format!(
        "Stored vectors hold no text, but were made of it. To have them made anew: rm -r {}",
        word(request.cache_dir)
    ));
    steps
}

fn json_of_file(file: &Scrubbed) -> Value {
    let list = |found: &[ScrubFindings]| -> Value {
        let told = found.iter().map(|ScrubFindings { line, offset, spot }| {
            json!({ "line": line, "offset": offset, "field": spot.field, "rule": spot.rule })
        });
        told.collect()
    };
    json!({
        "file": file.file.display().to_string(),
        "secrets": list(&file.removed), "left": list(&file.left),
        "commits": file.history.as_ref().map(|history| history.count),
        "newest_commits": file.history.as_ref().map(|history| history.newest.clone()),
    })
}
