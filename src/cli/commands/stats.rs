//! `stats`: what the memory did over the last days, by repository and by agent. It adds up answers that other calls give.
//! Not here: what counts as helped, and how tokens are estimated (`api`).

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use serde_json::{Value, json};

use crate::args::output_format::OutputFormat;
use crate::args::whole_number::whole_number;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use retriever::options::MemoryNeed;

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
    told: BTreeSet<String>,
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
    /// Whether some were left out of the tallies and of the memories told.
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
    Ok(CommandEnd::answer(command.form, counted(&*api, usize::from(command.days))?))
}

/// Asks for everything, and makes the answer.
fn counted(api: &dyn Api, days: usize) -> Result<Reply, ApiError> {
    let savings = api.ask(&Request::List(Listing::Savings(SavingsRequest { days })))?.json;
    let timeline = TimelineRequest { days, repo: None };
    let timeline = api.ask(&Request::LogEvents(LogEventsRequest::Timeline(timeline)))?.json;
    let since = items(&timeline, "days").first().map(|day| word(day, "day")).unwrap_or_default();
    let added: u64 = items(&timeline, "days").iter().map(|day| number(day, "added")).sum();
    let mut stats = WeekStats::default();
    stats.count_events(api, &since)?;
    stats.count_answers(api, &since)?;
    stats.all.added = added;
    Ok(Reply::new(stats.words(&savings, &since, days), stats.json(&savings, &since, days)))
}

impl WeekStats {
    fn count_events(&mut self, api: &dyn Api, since: &str) -> Result<(), ApiError> {
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let request = AuditRequest {
                agent: None,
                repo: None,
                since: TimePoint::parse(since),
                cursor,
                limit: PAGE,
            };
            let page = api.ask(&Request::LogEvents(LogEventsRequest::Audit(request)))?.json;
            for event in items(&page, "events").iter().filter(|event| event["deed"] == "added") {
                self.each(event, |tally| tally.added += 1);
            }
            cursor = next(&page);
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
            let page = api.ask(&Request::List(Listing::Injected(Box::new(request))))?.json;
            let entries = items(&page, "entries");
            // The newest comes first.
            for entry in entries.iter().take_while(|entry| word(entry, "at").as_str() >= since) {
                self.count_answer(entry);
            }
            let is_over = entries.last().is_none_or(|last| word(last, "at").as_str() < since);
            cursor = next(&page);
            if cursor.is_none() || is_over {
                return Ok(());
            }
        }
        self.is_cut = true;
        Ok(())
    }

    fn count_answer(&mut self, entry: &Value) {
        let agent = word(entry, "agent");
        let ids = |name: &str| {
            let ids = items(entry, name).iter().filter_map(Value::as_str).map(str::to_owned);
            ids.collect::<Vec<_>>()
        };
        let by_agent = |name: &str| ids(name).into_iter().map(|id| (agent.clone(), id));
        let (told, helped, failed) = (ids("memories"), by_agent("helped"), by_agent("failed"));
        let (helped, failed): (Vec<_>, Vec<_>) = (helped.collect(), failed.collect());
        let count = |tally: &mut Tally| {
            tally.tokens += number(entry, "tokens");
            tally.told.extend(told.iter().cloned());
            tally.helped.extend(helped.iter().cloned());
            tally.failed.extend(failed.iter().cloned());
        };
        self.each(entry, count);
        count(&mut self.all);
    }

    /// Changes the tallies of the repository and of the agent that an entry names.
    fn each(&mut self, entry: &Value, count: impl Fn(&mut Tally)) {
        let name = |field: &str| {
            let name = word(entry, field);
            if name.is_empty() { "unknown".to_owned() } else { name }
        };
        count(self.by_repo.entry(name("repo")).or_default());
        count(self.by_agent.entry(name("agent")).or_default());
    }

    fn words(&self, savings: &Value, since: &str, days: usize) -> String {
        let answers = number(savings, "answers");
        let days =
            if days == 1 { "The last day".to_owned() } else { format!("The last {days} days") };
        let mut lines = vec![format!("{days}, since {since}:\n")];
        let mut line = |name: &str, said: String| lines.push(format!("  {name:<16}{said}"));
        line("added", plural(self.all.added, "memory", "memories"));
        let told = plural(self.all.told.len() as u64, "memory", "memories");
        line(
            "told",
            match answers {
                0 => "nothing yet".to_owned(),
                _ => format!("{told} in {}", plural(answers, "answer", "answers")),
            },
        );
        let (helped, failed) = (number(savings, "helped"), number(savings, "failed"));
        let report = |count: u64| match helped + failed {
            0 => "no report yet".to_owned(),
            _ => count.to_string(),
        };
        line("helped", report(helped));
        line("failed", report(failed));
        line("tokens told", number(savings, "tokens_given").to_string());
        let logs = number(savings, "tokens_of_logs");
        line(
            "tokens of logs",
            match answers {
                0 => "nothing to compare yet".to_owned(),
                _ => format!("{logs}, which reading the logs instead would have cost"),
            },
        );
        for (title, tallies) in [("By repository", &self.by_repo), ("By agent", &self.by_agent)] {
            lines.extend(table(title, tallies));
        }
        if self.is_cut {
            let cut = "\nThere were more than 10,000 events or answers: the tables and the memories told leave out the oldest.";
            lines.push(cut.to_owned());
        }
        lines.extend(notices(savings).map(|notice| format!("\n{notice}")));
        lines.join("\n")
    }

    fn json(&self, savings: &Value, since: &str, days: usize) -> Value {
        let rows = |tallies: &Tallies, name: &str| {
            let rows = tallies.iter().map(|(of, tally)| {
                json!({ name: of, "added": tally.added, "told": tally.told.len(), "helped": tally.helped.len(),
                    "failed": tally.failed.len(), "tokens_given": tally.tokens })
            });
            rows.collect::<Vec<_>>()
        };
        json!({ "days": days, "since": since, "added": self.all.added, "told": self.all.told.len(),
            "answers": savings["answers"], "silent": savings["silent"], "helped": savings["helped"],
            "failed": savings["failed"], "tokens_given": savings["tokens_given"],
            "tokens_of_logs": savings["tokens_of_logs"], "is_cut": self.is_cut,
            "by_repo": rows(&self.by_repo, "repo"), "by_agent": rows(&self.by_agent, "agent"),
            "notices": notices(savings).collect::<Vec<_>>() })
    }
}

/// Makes a table, the busiest first; nothing where there is nothing to tell.
fn table(title: &str, tallies: &Tallies) -> Vec<String> {
    let mut rows: Vec<(&String, &Tally)> = tallies.iter().collect();
    rows.sort_by_key(|(name, tally)| {
        (std::cmp::Reverse(tally.told.len() as u64 + tally.added), name.as_str())
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
    lines.extend(rows.into_iter().map(|(name, tally)| {
        let counts = [tally.told.len(), tally.helped.len(), tally.failed.len()]
            .map(|count| count.to_string());
        let [told, helped, failed] = counts;
        line(name, [tally.added.to_string(), told, helped, failed, tally.tokens.to_string()])
    }));
    if left_out > 0 {
        lines.push(format!("  and {left_out} more (--json has all)"));
    }
    if tallies.is_empty() { Vec::new() } else { lines }
}

/// Returns where the next page begins.
fn next(page: &Value) -> Option<String> {
    page.get("next").and_then(Value::as_str).map(str::to_owned)
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn notices(savings: &Value) -> impl Iterator<Item = &str> {
    items(savings, "notices").iter().filter_map(Value::as_str)
}

fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or(0)
}

fn word(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
