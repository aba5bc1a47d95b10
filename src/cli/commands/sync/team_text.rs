//! What a round did or would do, as text and JSON. Not here: the round (`sync`).

use std::io::Write;

use event::RepoKey;
use guard::secrets::RedactedText;
use guard::text::{Layout, escaped, neutralise};
use requests::Reply;
use serde_json::json;
use sync::{
    AcceptedKey, FlaggedLine, HeldLine, LeftOutLines, Preview, PreviewAnswer, SyncAnswer,
    SyncReport, allow_command, counted,
};
use upkeep::joined_log::JoinedLog;

/// Says what was done.
pub(crate) fn round_reply(report: &SyncReport, remote: &str) -> Reply {
    let mut lines = Vec::new();
    let has_moved = report.pushed + report.withdrawn + report.fetched + report.dropped > 0;
    if report.is_reached && (has_moved || report.to_agree.is_empty()) {
        lines.push(moved_text(report));
    }
    if let Some(waiting) = report.waiting {
        lines.push(format!(
            "not pushed   {} since {:.0}; agent-knowledge sync tries again",
            waiting_text(waiting.lines),
            waiting.since
        ));
    }
    if !report.to_agree.is_empty() {
        lines.push(consent_text(report, remote));
    }
    if report.left_out.lines() > 0 {
        lines.push(format!("not shared   {}", left_out_text(&report.left_out)));
    }
    lines.extend(flagged(&report.left_out).map(|line| format!("flagged      {line}")));
    for (origin, held) in &report.held {
        lines.push(format!("held         {held} of {origin}, for another day"));
    }
    lines.extend(report.unverified.iter().map(|one| format!("unverified   {one}")));
    for (origin, since) in &report.silent {
        lines.push(format!("silent       {origin} since {since:.0}"));
    }
    if let Some(before) = &report.renewed_from {
        lines.push(format!(
            "new name     a copy of this store shares as {before}, so this one is {} now",
            report.origin
        ));
    }
    let trouble = report.trouble.iter().map(|what| neutralise(what, Layout::Line));
    lines.extend(trouble.map(|what| format!("note         {what}")));
    Reply::with_text(lines.join("\n"), &SyncAnswer::from_report(report, remote))
}

/// Says which key is accepted from now on.
pub(crate) fn accepted_key_text(accepted: &AcceptedKey) -> String {
    let origin = &accepted.origin;
    match &accepted.key {
        Some(key) => format!("from now on {origin} signs as {key}"),
        None => format!("from now on {origin} needs no signature, until it signs again"),
    }
}

/// Says what waits. Numbers do not tell everything: lines may have changed, or are only to be removed.
fn waiting_text(lines: usize) -> String {
    if lines == 0 { "changes".to_owned() } else { counted(lines, "line") }
}

fn moved_text(report: &SyncReport) -> String {
    let mut text = format!("pushed       {}", counted(report.pushed, "line"));
    if report.withdrawn > 0 {
        text.push_str(&format!(", removed {} from the remote", report.withdrawn));
    }
    let from = match report.fetched_from {
        0 => String::new(),
        origins => format!(" from {}", counted(origins, "other machine")),
    };
    let dropped = match report.dropped {
        0 => String::new(),
        dropped => format!(", dropped {dropped} that their owners withdrew"),
    };
    format!("{text}\ngot          {}{from}{dropped}", counted(report.fetched, "line"))
}

/// Says what nobody agreed to yet.
pub(crate) fn consent_text(report: &SyncReport, remote: &str) -> String {
    format!(
        "not sent, because nobody agreed yet to share it with {remote}: {}\n  \
         agent-knowledge sync --dry-run   prints the lines\n  \
         agent-knowledge sync --yes       shares them, now and from now on",
        repos_text(&report.to_agree)
    )
}

fn repos_text(repos: &[(RepoKey, usize)]) -> String {
    let each = repos.iter().map(|(repo, lines)| format!("{repo} ({})", counted(*lines, "line")));
    each.collect::<Vec<_>>().join(", ")
}

/// Says of each flagged line which it is, why it stays, and how a person lets it pass.
fn flagged(left_out: &LeftOutLines) -> impl Iterator<Item = String> {
    let named = left_out.flagged_lines.iter().map(|line| {
        let FlaggedLine { short_id, repo, why, opening, .. } = line;
        format!(
            "{short_id} of {repo}: it {why}: \"{opening}\"; {} lets it pass",
            allow_command(line)
        )
    });
    let more = left_out.flagged.saturating_sub(left_out.flagged_lines.len());
    named.chain((more > 0).then(|| format!("and {}", counted(more, "more line"))))
}

/// Says what a person is asked to let pass: the whole lines, since the order may stand at their ends.
pub(crate) fn held_lines_text(held: &[HeldLine], remote: &str) -> String {
    let each = held.iter().map(|held| {
        let FlaggedLine { id, repo, why, .. } = &held.line;
        let head = RedactedText::redact(&format!("{id} of {repo} stays, because it {why}:")).line();
        format!("{head}\n  {}", neutralise(&escaped(&held.text), Layout::Line))
    });
    let lines = each.collect::<Vec<_>>().join("\n");
    format!(
        "{lines}\nA yes shares exactly this with {remote} and every later remote. Agents of others may read it; their stores \
         still mark it."
    )
}

fn left_out_text(left_out: &LeftOutLines) -> String {
    let reasons = [
        (left_out.private, "private"),
        (left_out.flagged, "flagged"),
        (left_out.no_event, "without an event"),
        (left_out.too_long, "too long"),
        (left_out.elsewhere, "of other repositories"),
        (left_out.unproven, "unproven or about a session"),
    ];
    let reasons = reasons.iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons.map(|(count, why)| format!("{count} {why}")).collect();
    format!("{}: {}", counted(left_out.lines(), "line"), reasons.join(", "))
}

/// Says what would be done: the lines are the answer, and what is to know about them goes to the messages.
pub(crate) fn preview_reply(
    preview: &Preview,
    joined: &[JoinedLog],
    remote: &str,
    messages: &mut dyn Write,
) -> Reply {
    let mut notes = vec![match preview.lines.len() {
        0 => format!("nothing would leave for {remote}"),
        lines => format!("{} would leave for {remote}", counted(lines, "line")),
    }];
    if preview.withdrawn > 0 {
        notes.push(format!(
            "{} would be removed from the remote",
            counted(preview.withdrawn, "line")
        ));
    }
    if preview.left_out.lines() > 0 {
        notes.push(format!("not shared: {}", left_out_text(&preview.left_out)));
    }
    notes.extend(flagged(&preview.left_out).map(|line| format!("flagged: {line}")));
    if !preview.to_agree.is_empty() {
        notes.push(format!(
            "only after --yes, for the first time: {}",
            repos_text(&preview.to_agree)
        ));
    }
    notes.extend(joined.iter().map(JoinedLog::preview));
    let compared = preview.not_compared.as_deref();
    notes.extend(compared.map(|why| format!("all lines are shown, because {why}")));
    for note in notes {
        // A note that cannot be delivered changes nothing about the answer.
        let _ = writeln!(messages, "{}", RedactedText::redact(&note).line());
    }
    let text: Vec<String> =
        preview.lines.iter().map(|(_, line)| escaped(line).into_owned()).collect();
    let mut json =
        Reply::with_text(String::new(), &PreviewAnswer::from_preview(preview, remote)).json;
    // These are the very lines, so nothing in them is changed for a reader.
    if let Some(fields) = json.as_object_mut() {
        let lines = preview.lines.iter();
        let lines = lines.map(|(repo, line)| json!({ "repo": repo.as_str(), "line": line }));
        fields.insert("lines".to_owned(), lines.collect());
        let joined = joined.iter().map(|log| json!({ "from": log.from.as_str(), "to": log.to.as_str(), "lines": log.lines.len() }));
        fields.insert("joined".to_owned(), joined.collect());
    }
    Reply { text: text.join("\n"), json }
}
