//! `stats`: what the memory did over the last days, by repository and by agent. It adds up answers that other calls give.
//! Not here: what counts as helped, and how tokens are estimated (`api`).

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use serde::Serialize;

use crate::args::output_format::OutputFormat;
use crate::args::whole_number::whole_number;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use retriever::options::MemoryNeed;

use reply::{
    AuditAnswer, InjectedAnswer, InjectedEntry, LoggedAction, SavingsAnswer, TimelineAnswer,
    with_notice,
};
use requests::injected::{InjectedRequest, SavingsRequest};
use requests::log_events::{AuditRequest, TimelineRequest};
use requests::{Api, ApiError, Listing, LogEventsRequest, Reply, Request, TimePoint};

/// Pages that are read at most: 10,000 events and 10,000 answers. What was added, helped, failed and cost is counted without
/// pages.
const PAGES_MAX: usize = 100;

/// Entries of a page, as many as there may be.
const PAGE: usize = 100;

/// Rows of a table that the text shows; the JSON has all.
const ROWS_SHOWN: usize = 10;

/// What one repository or one agent did.
#[derive(Debug, Default, Clone)]
struct Tally {
    added: u64,
    tokens: u64,
    delivered: BTreeSet<String>,
    helped: BTreeSet<(String, String)>,
    failed: BTreeSet<(String, String)>,
}

/// The tallies of all repositories, or of all agents.
type Tallies = BTreeMap<String, Tally>;

/// Everything, counted.
#[derive(Debug, Default)]
struct WeekStats {
    all: Tally,
    by_repo: Tallies,
    by_agent: Tallies,
    /// Whether some were left out of the tallies and of the delivered memories.
    is_cut: bool,
}

const STATS_HELP: &str = "\
told: memories that hooks and tools gave to agents. helped and failed: those that an agent
reported on after it was told them. tokens of logs: what reading the log of the repository
instead would have cost, once for each session.";

/// Show what was added, told to agents and reported over the last days
#[derive(Debug, Args)]
#[command(after_help = STATS_HELP)]
pub struct Stats {
    /// How many days, of which today is the last, 1 to 366; a day begins at 0:00 UTC
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = whole_number::<u16>(1..=366, 30))]
    pub days: u16,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn stats(context: &mut CommandContext<'_, '_>, command: &Stats) -> CommandResult {
    let api = context.open(MemoryNeed::Words)?;
    Ok(CommandEnd::answer(command.form, stats_reply(&*api, usize::from(command.days))?))
}

/// Asks for everything, and makes the answer.
fn stats_reply(api: &dyn Api, days: usize) -> Result<Reply, ApiError> {
    let savings: SavingsAnswer =
        api.ask_for(&Request::List(Listing::Savings(SavingsRequest { days })))?;
    let timeline = LogEventsRequest::Timeline(TimelineRequest { days, repo: None });
    let timeline: TimelineAnswer = api.ask_for(&Request::LogEvents(timeline))?;
    let since = timeline.days.first().map(|day| day.day.clone()).unwrap_or_default();
    let mut stats = WeekStats::default();
    stats.count_events(api, &since)?;
    stats.count_answers(api, &since)?;
    stats.all.added = timeline.days.iter().map(|day| day.added).sum();
    let report = stats.report(savings, since, days);
    let reply = Reply::with_text(report.text(), &report);
    // The sums may have said the same.
    let unsaid = timeline.notices.iter().filter(|notice| !reply.text.contains(notice.as_str()));
    let unsaid: Vec<&String> = unsaid.collect();
    Ok(unsaid.into_iter().fold(reply, |reply, notice| with_notice(reply, notice)))
}

impl WeekStats {
    fn count_events(&mut self, api: &dyn Api, since: &str) -> Result<(), ApiError> {
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let request = AuditRequest {
                agent: None,
                repo: None,
                // The days of the timeline are those of UTC.
                since: TimePoint::parse(&format!("{since}T00:00:00Z")),
                cursor,
                limit: PAGE,
            };
            let page: AuditAnswer =
                api.ask_for(&Request::LogEvents(LogEventsRequest::Audit(request)))?;
            let events = page.events.into_iter().map(|row| row.event);
            for event in events.filter(|event| event.deed == LoggedAction::Added) {
                self.each(event.repo.as_deref(), event.agent.as_deref(), |tally| tally.added += 1);
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
        self.is_cut = true;
        Ok(())
    }

    fn count_answers(&mut self, api: &dyn Api, since: &str) -> Result<(), ApiError> {
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let request = InjectedRequest {
                agent: None,
                session: None,
                repo: None,
                memory: None,
                cursor,
                limit: PAGE,
            };
            let page: InjectedAnswer =
                api.ask_for(&Request::List(Listing::Injected(Box::new(request))))?;
            // The newest comes first.
            for entry in page.entries.iter().take_while(|entry| *entry.at >= *since) {
                self.count_answer(entry);
            }
            let is_over = page.entries.last().is_none_or(|last| *last.at < *since);
            cursor = page.next;
            if cursor.is_none() || is_over {
                return Ok(());
            }
        }
        self.is_cut = true;
        Ok(())
    }

    fn count_answer(&mut self, entry: &InjectedEntry) {
        let by_agent = |id: &String| (entry.agent.clone(), id.clone());
        let count = |tally: &mut Tally| {
            tally.tokens += entry.tokens;
            tally.delivered.extend(entry.memories.iter().cloned());
            tally.helped.extend(entry.helped.iter().map(by_agent));
            tally.failed.extend(entry.failed.iter().map(by_agent));
        };
        self.each(entry.repo.as_deref(), Some(&entry.agent), count);
        count(&mut self.all);
    }

    /// Changes the tallies of a repository and of an agent.
    fn each(&mut self, repo: Option<&str>, agent: Option<&str>, count: impl Fn(&mut Tally)) {
        let name = |name: Option<&str>| {
            name.filter(|name| !name.is_empty()).unwrap_or("unknown").to_owned()
        };
        count(self.by_repo.entry(name(repo)).or_default());
        count(self.by_agent.entry(name(agent)).or_default());
    }

    fn report(self, savings: SavingsAnswer, since: String, days: usize) -> StatsReport {
        let (by_repo, by_agent) = (self.by_repo.into_iter(), self.by_agent.into_iter());
        StatsReport {
            days,
            since,
            added: self.all.added,
            told: self.all.delivered.len() as u64,
            answers: savings.answers,
            silent: savings.silent,
            helped: savings.helped,
            failed: savings.failed,
            tokens_given: savings.tokens_given,
            tokens_of_logs: savings.tokens_of_logs,
            is_cut: self.is_cut,
            by_repo: by_repo
                .map(|(repo, tally)| RepoStats { repo, counts: tally.into() })
                .collect(),
            by_agent: by_agent
                .map(|(agent, tally)| AgentStats { agent, counts: tally.into() })
                .collect(),
            notices: savings.notices,
        }
    }
}

/// What the command prints.
#[derive(Debug, Serialize)]
struct StatsReport {
    days: usize,
    since: String,
    added: u64,
    told: u64,
    answers: u64,
    silent: u64,
    helped: u64,
    failed: u64,
    tokens_given: u64,
    tokens_of_logs: u64,
    is_cut: bool,
    by_repo: Vec<RepoStats>,
    by_agent: Vec<AgentStats>,
    notices: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RepoStats {
    repo: String,
    #[serde(flatten)]
    counts: StatsCounts,
}

#[derive(Debug, Serialize)]
struct AgentStats {
    agent: String,
    #[serde(flatten)]
    counts: StatsCounts,
}

#[derive(Debug, Serialize)]
struct StatsCounts {
    added: u64,
    told: usize,
    helped: usize,
    failed: usize,
    tokens_given: u64,
}

impl From<Tally> for StatsCounts {
    fn from(tally: Tally) -> Self {
        Self {
            added: tally.added,
            told: tally.delivered.len(),
            helped: tally.helped.len(),
            failed: tally.failed.len(),
            tokens_given: tally.tokens,
        }
    }
}

impl StatsReport {
    fn text(&self) -> String {
        let days = match self.days {
            1 => "The last day".to_owned(),
            days => format!("The last {days} days"),
        };
        let mut lines = vec![format!("{days}, since {}:\n", self.since)];
        let mut line = |name: &str, said: String| lines.push(format!("  {name:<16}{said}"));
        line("added", plural(self.added, "memory", "memories"));
        let told = plural(self.told, "memory", "memories");
        line(
            "told",
            match self.answers {
                0 => "nothing yet".to_owned(),
                answers => format!("{told} in {}", plural(answers, "answer", "answers")),
            },
        );
        let report = |count: u64| match self.helped + self.failed {
            0 => "no report yet".to_owned(),
            _ => count.to_string(),
        };
        line("helped", report(self.helped));
        line("failed", report(self.failed));
        line("tokens told", self.tokens_given.to_string());
        let logs = self.tokens_of_logs;
        line(
            "tokens of logs",
            match self.answers {
                0 => "nothing to compare yet".to_owned(),
                _ => format!("{logs}, which reading the logs instead would have cost"),
            },
        );
        let by_repo = self.by_repo.iter().map(|one| (one.repo.as_str(), &one.counts));
        let by_agent = self.by_agent.iter().map(|one| (one.agent.as_str(), &one.counts));
        lines.extend(table("By repository", by_repo.collect()));
        lines.extend(table("By agent", by_agent.collect()));
        if self.is_cut {
            let cut = "\nThere were more than 10,000 events or answers: the tables and the memories told leave out the oldest.";
            lines.push(cut.to_owned());
        }
        lines.extend(self.notices.iter().map(|notice| format!("\n{notice}")));
        lines.join("\n")
    }
}

/// Makes a table, the busiest first; nothing where there is nothing to tell.
fn table(title: &str, mut rows: Vec<(&str, &StatsCounts)>) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    rows.sort_by_key(|(name, counts)| {
        (std::cmp::Reverse(counts.told as u64 + counts.added), *name)
    });
    let left_out = rows.len().saturating_sub(ROWS_SHOWN);
    rows.truncate(ROWS_SHOWN);
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let width = width.max(title.chars().count());
    let line = |name: &str, cells: [String; 5]| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>8}")).collect();
        format!("  {name:<width$}{cells}")
    };
    let heads = ["added", "told", "helped", "failed", "tokens"].map(str::to_owned);
    let mut lines = vec![format!("\n{}", line(title, heads))];
    lines.extend(rows.into_iter().map(|(name, counts)| {
        let StatsCounts { added, told, helped, failed, tokens_given } = counts;
        let [told, helped, failed] = [told, helped, failed].map(ToString::to_string);
        line(name, [added.to_string(), told, helped, failed, tokens_given.to_string()])
    }));
    if left_out > 0 {
        lines.push(format!("  and {left_out} more (--json has all)"));
    }
    lines
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
