//! What `sync` and `status` tell programs about sharing with a team. No name here says `key`: what stands beside such a name is
//! taken for a secret. Not here: the text (`team_text`, `status::team_status`).

use crate::{
    FlaggedLine, LeftOutLines, Preview, Seal, SyncReport, TeamState, UnverifiedOrigin, WaitingLines,
};
use event::{RepoKey, StoreOrigin, Timestamp};
use serde::Serialize;

/// What a round did.
#[derive(Debug, Serialize)]
pub struct SyncAnswer<'a> {
    remote: &'a str,
    origin: &'a str,
    renewed_from: Option<&'a str>,
    reached: bool,
    pushed: usize,
    withdrawn: usize,
    fetched: usize,
    fetched_from: usize,
    dropped: usize,
    waiting: Option<UnpushedLines>,
    to_agree: Vec<RepoLines<'a>>,
    left_out: LeftOutCounts,
    flagged_lines: Vec<FlaggedItem<'a>>,
    held: Vec<OriginLines<'a>>,
    unverified: Vec<UnverifiedItem<'a>>,
    silent: Vec<SilentOrigin<'a>>,
    trouble: &'a [String],
}

/// What a round would do, without the lines themselves.
#[derive(Debug, Serialize)]
pub struct PreviewAnswer<'a> {
    remote: &'a str,
    withdrawn: usize,
    to_agree: Vec<RepoLines<'a>>,
    left_out: LeftOutCounts,
    flagged_lines: Vec<FlaggedItem<'a>>,
    not_compared: Option<&'a str>,
}

/// How sharing stands, as a part of `status`.
#[derive(Debug, Serialize)]
pub struct TeamStatus<'a> {
    remote: &'a str,
    reached_at: Option<String>,
    unpushed: Option<UnpushedLines>,
    to_agree: Vec<RepoLines<'a>>,
    origins: usize,
    unverified: Vec<UnverifiedItem<'a>>,
    silent: Vec<SilentOrigin<'a>>,
}

/// Lines that are not pushed.
#[derive(Debug, Serialize)]
struct UnpushedLines {
    lines: usize,
    since: String,
}

/// How many lines of a repository somebody is to agree to.
#[derive(Debug, Serialize)]
struct RepoLines<'a> {
    repo: &'a str,
    lines: usize,
}

/// How many lines stay, and why.
#[derive(Debug, Serialize)]
struct LeftOutCounts {
    private: usize,
    flagged: usize,
    no_event: usize,
    too_long: usize,
    elsewhere: usize,
    unproven: usize,
}

/// How many lines of an origin wait.
#[derive(Debug, Serialize)]
struct OriginLines<'a> {
    origin: &'a str,
    lines: usize,
}

/// A line that stays, as it reads like an order.
#[derive(Debug, Serialize)]
struct FlaggedItem<'a> {
    id: &'a str,
    repo: &'a str,
    why: &'a str,
    opening: &'a str,
    /// The command that lets it pass.
    allow: String,
}

/// An origin of which nothing is taken, because of its signature.
#[derive(Debug, Serialize)]
struct UnverifiedItem<'a> {
    origin: &'a str,
    expected: Option<&'a str>,
    seen: Option<&'a str>,
    state: &'static str,
    why: Option<&'a str>,
}

/// An origin from which nothing came for two weeks.
#[derive(Debug, Serialize)]
struct SilentOrigin<'a> {
    origin: &'a str,
    since: String,
}

impl<'a> SyncAnswer<'a> {
    /// Answers about a round with a remote, which is shown as it may be.
    #[must_use]
    pub fn from_report(report: &'a SyncReport, remote: &'a str) -> Self {
        let held = report.held.iter();
        Self {
            remote,
            origin: report.origin.as_str(),
            renewed_from: report.renewed_from.as_ref().map(StoreOrigin::as_str),
            reached: report.is_reached,
            pushed: report.pushed,
            withdrawn: report.withdrawn,
            fetched: report.fetched,
            fetched_from: report.fetched_from,
            dropped: report.dropped,
            waiting: report.waiting.map(UnpushedLines::from_waiting),
            to_agree: repo_lines(&report.to_agree),
            left_out: (&report.left_out).into(),
            flagged_lines: flagged_items(&report.left_out),
            held: held
                .map(|(origin, lines)| OriginLines { origin: origin.as_str(), lines: *lines })
                .collect(),
            unverified: report.unverified.iter().map(UnverifiedItem::from_held).collect(),
            silent: silent_origins(&report.silent),
            trouble: &report.trouble,
        }
    }
}

impl<'a> PreviewAnswer<'a> {
    /// Answers about what a round would send.
    #[must_use]
    pub fn from_preview(preview: &'a Preview, remote: &'a str) -> Self {
        Self {
            remote,
            withdrawn: preview.withdrawn,
            to_agree: repo_lines(&preview.to_agree),
            left_out: (&preview.left_out).into(),
            flagged_lines: flagged_items(&preview.left_out),
            not_compared: preview.not_compared.as_deref(),
        }
    }
}

impl<'a> TeamStatus<'a> {
    /// Answers about how sharing stands.
    #[must_use]
    pub fn from_state(state: &'a TeamState, remote: &'a str) -> Self {
        Self {
            remote,
            reached_at: state.reached_at.map(|at| format!("{at:.0}")),
            unpushed: state.waiting.map(UnpushedLines::from_waiting),
            to_agree: repo_lines(&state.to_agree),
            origins: state.origins,
            unverified: state.unverified.iter().map(UnverifiedItem::from_held).collect(),
            silent: silent_origins(&state.silent),
        }
    }
}

impl UnpushedLines {
    fn from_waiting(waiting: WaitingLines) -> Self {
        Self { lines: waiting.lines, since: format!("{:.0}", waiting.since) }
    }
}

impl<'a> UnverifiedItem<'a> {
    fn from_held(held: &'a UnverifiedOrigin) -> Self {
        let (state, seen, why) = match &held.seen {
            Seal::Unsigned => ("unsigned", None, None),
            Seal::Signed(key) => ("another", Some(key.as_str()), None),
            Seal::Broken(why) => ("wrong", None, Some(why.as_str())),
            Seal::Unchecked(why) => ("unchecked", None, Some(why.as_str())),
        };
        let (origin, expected) = (held.origin.as_str(), held.expected.as_deref());
        Self { origin, expected, seen, state, why }
    }
}

impl From<&LeftOutLines> for LeftOutCounts {
    fn from(left_out: &LeftOutLines) -> Self {
        let LeftOutLines { private, flagged, no_event, too_long, elsewhere, unproven, .. } =
            *left_out;
        Self { private, flagged, no_event, too_long, elsewhere, unproven }
    }
}

fn repo_lines(repos: &[(RepoKey, usize)]) -> Vec<RepoLines<'_>> {
    let each = repos.iter();
    each.map(|(repo, lines)| RepoLines { repo: repo.as_str(), lines: *lines }).collect()
}

fn silent_origins(silent: &[(StoreOrigin, Timestamp)]) -> Vec<SilentOrigin<'_>> {
    let each = silent.iter();
    each.map(|(origin, since)| SilentOrigin {
        origin: origin.as_str(),
        since: format!("{since:.0}"),
    })
    .collect()
}

fn flagged_items(left_out: &LeftOutLines) -> Vec<FlaggedItem<'_>> {
    let each = left_out.flagged_lines.iter().map(|line| FlaggedItem {
        id: &line.id,
        repo: &line.repo,
        why: &line.why,
        opening: line.opening.as_str(),
        allow: allow_command(line),
    });
    each.collect()
}

/// Returns the command that lets a flagged line pass.
#[must_use]
pub fn allow_command(line: &FlaggedLine) -> String {
    format!("agent-knowledge sync --allow {}", line.short_id)
}
