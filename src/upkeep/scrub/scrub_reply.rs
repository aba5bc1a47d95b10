//! The report of a scrub: what was removed, and what is left to people. It never contains the secret. Not here:
//! scrubbing.

use std::fmt::Write;

use serde_json::{Value, json};

use super::scrub_request::{ScrubFindings, ScrubMode, ScrubRequest, ScrubbedFile};
use crate::display_path::{display_path, shell_word};
use crate::own_files::OwnFiles;
use guard::text::{Layout, neutralise};
use reply::Reply;
use store::Store;

/// Most secrets of one file that the text lists; `--json` lists all.
const SHOWN_MAX: usize = 20;

pub(super) fn reply(
    request: &ScrubRequest<'_>,
    all: &[ScrubbedFile],
    own: &OwnFiles,
    too_long: usize,
) -> Reply {
    let mut text = String::new();
    let (in_logs, left) = (total(all, |file| &file.removed), total(all, |file| &file.left));
    let removed = in_logs + own.found.len();
    for file in all {
        let verb = match request.how {
            ScrubMode::Change => "removed",
            ScrubMode::DryRun => "found",
        };
        list_secrets(&mut text, file, verb, &file.removed);
        list_secrets(&mut text, file, "LEFT", &file.left);
    }
    text.push_str(&own.text(match request.how {
        ScrubMode::Change => "removed",
        ScrubMode::DryRun => "found",
    }));
    if too_long > 0 {
        let _ = writeln!(
            text,
            "{too_long} lines over 64 MiB, or damaged parts of segments, were not checked"
        );
    }
    let resealed = all.iter().filter(|file| Store::is_segment(&file.file));
    let resealed = resealed.filter(|file| !file.removed.is_empty()).count();
    if resealed > 0 && request.how == ScrubMode::Change {
        let _ = writeln!(text, "{resealed} segments of old lines were rewritten without them");
    }
    let remains = if removed + left > 0 { remaining(request, all) } else { Vec::new() };
    match (removed, left, request.how) {
        (0, 0, _) => text.push_str("no secrets found"),
        (_, _, ScrubMode::DryRun) => {
            let _ = write!(text, "{} secrets found; nothing was changed", removed + left);
        }
        (_, 0, ScrubMode::Change) => {
            let _ = write!(text, "{removed} secrets removed");
        }
        (_, _, ScrubMode::Change) => {
            let _ = write!(
                text,
                "{removed} secrets removed, {left} left: they cannot be removed without damage; edit those lines by hand"
            );
        }
    }
    if !remains.is_empty() {
        text.push_str("\n\nRemaining steps:");
        remains.iter().for_each(|step| text.push_str(&format!("\n- {step}")));
    }
    let files: Vec<Value> = all.iter().map(json_of_file).collect();
    let is_changed = request.how == ScrubMode::Change;
    let json = json!({
        "changed": is_changed && removed > 0, "removed": if is_changed { removed } else { 0 },
        "found": removed + left, "left": if is_changed { left } else { removed + left },
        "not_looked_at": too_long, "files": files, "elsewhere": own.json(), "troubles": own.troubles, "remains": remains,
    });
    Reply::new(text, json)
}

fn total(all: &[ScrubbedFile], of: impl Fn(&ScrubbedFile) -> &Vec<ScrubFindings>) -> usize {
    all.iter().map(|file| of(file).len()).sum()
}

fn list_secrets(text: &mut String, file: &ScrubbedFile, verb: &str, found: &[ScrubFindings]) {
    for ScrubFindings { line, spot, .. } in found.iter().take(SHOWN_MAX) {
        let field = neutralise(&spot.field, Layout::Line);
        let place = if field.is_empty() { String::new() } else { format!(", {field}") };
        let _ = writeln!(
            text,
            "{verb:<8}{}: line {line}{place}: {}",
            display_path(&file.file),
            spot.rule
        );
    }
    if let Some(more) = found.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "        and {more} more in this file; --json lists all");
    }
}

/// Returns the steps that remain, because everybody with access to the file may have read the secrets.
fn remaining(request: &ScrubRequest<'_>, all: &[ScrubbedFile]) -> Vec<String> {
    let mut steps = vec![
        "Make the keys worthless: revoke or rotate each key where it was issued. Only this is certain to help.".to_owned(),
    ];
    for file in all {
        let Some(history) = &file.history else { continue };
        let (count, newest) = (history.count, history.newest.join(" "));
        steps.push(format!(
            "git still has earlier versions of {} in {count} commits ({newest}{}). To remove the secrets from all history: git filter-repo --replace-text FILE, where FILE is outside the repository and lists the secrets, one per line; then push with --force, and replace every other clone.",
            shell_word(&file.file),
            if count > history.newest.len() { " ..." } else { "" },
        ));
    }
    steps.push("Copies of the logs elsewhere (backups, synchronised folders, other machines) still contain the secrets.".to_owned());
    steps.push(format!(
        "Stored vectors contain no text, but were computed from it. To have them computed again: rm -r {}",
        shell_word(request.places.cache)
    ));
    steps
}

fn json_of_file(file: &ScrubbedFile) -> Value {
    let list = |found: &[ScrubFindings]| -> Value {
        let items = found.iter().map(|ScrubFindings { line, offset, spot }| {
            json!({ "line": line, "offset": offset, "field": spot.field, "rule": spot.rule })
        });
        items.collect()
    };
    json!({
        "file": file.file.display().to_string(),
        "secrets": list(&file.removed), "left": list(&file.left),
        "commits": file.history.as_ref().map(|history| history.count),
        "newest_commits": file.history.as_ref().map(|history| history.newest.clone()),
    })
}
