//! The command line of `agent-knowledge-eval`, as clap reads it. Not here: what it does (`program`), which
//! numbers are allowed (`api::requests`).

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use retriever::args::OutputFormat;

const HELP: &str = "\
A set is a folder of corpus.jsonl ({id, text, timestamp?, group?, title?} on each line, or whole events,
known by their lesson), queries.jsonl ({id, text, group?, type?, split?}), qrels.tsv (query, document and
grade, with tabs between them), and perhaps stale.tsv (query, and a document that must not stand above the
right one); or the published JSON file of LongMemEval or LoCoMo. Queries without judgements have no answer:
they only count in the rate of false answers.

Each set is written into a store of its own, which is removed again. Vectors are kept in the cache, so that
the next run embeds only what is new. Times are of a whole search, with the words of its reply.

Examples:
  agent-knowledge-eval my-set --mode lexical --save before.json
  agent-knowledge-eval my-set --mode lexical --against before.json --explain-misses
  agent-knowledge-eval locomo10.json --scope group --json | jq .";

/// Measure how well the memory recalls, on a set of questions with known answers.
#[derive(Debug, Parser)]
#[command(name = "agent-knowledge-eval", version, after_help = HELP, max_term_width = 100)]
pub struct CommandLine {
    /// The directory of the logs
    #[arg(long, value_name = "DIR", help_heading = "Settings")]
    pub logs: Option<PathBuf>,
    /// The directory of the embedding model
    #[arg(long, value_name = "DIR", help_heading = "Settings")]
    pub model: Option<PathBuf>,
    /// What is measured.
    #[command(flatten)]
    pub eval: Eval,
}

/// What is measured, and how.
#[derive(Debug, Args)]
pub struct Eval {
    /// Sets to measure with: folders, or published JSON files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// How to rank [default: all that this machine can]
    #[arg(long, value_enum)]
    pub mode: Option<EvalMode>,
    /// The form of the sets [default: told by what is in them]
    #[arg(long, value_enum)]
    pub format: Option<SetForm>,
    /// Where queries look [default: store; group for published files]
    #[arg(long, value_enum)]
    pub scope: Option<EvalScope>,
    /// Which queries are asked
    #[arg(long, value_enum, default_value = "all")]
    pub split: EvalSplit,
    /// Hits looked at for each query, 1 to 20 [default: 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub limit: Option<String>,
    /// How likely the best hit must be an answer, 0 to 100 [default: as in search]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub min_relevance: Option<String>,
    /// When the queries are asked [default: a day after the newest document]
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Keep what each query came to in this file
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Compare with what was kept in this file
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Tell why documents are not among the first five hits, and show N of them [default: 20]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20")]
    pub explain_misses: Option<String>,
    /// Count the tokens of an answer beside those of the whole log, full notes, and the forms of others
    #[arg(long)]
    pub economy: bool,
    /// What the resampling of comparisons begins with [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub seed: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Which rankings are measured.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum EvalMode {
    /// By words
    Lexical,
    /// By meaning
    Dense,
    /// By words and by meaning
    Hybrid,
    /// Each of them
    All,
}

/// How a set is written down.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SetForm {
    /// A folder
    Set,
    /// LongMemEval, as published
    Longmemeval,
    /// LoCoMo, as published
    Locomo,
    /// Told by what is in it
    Auto,
}

/// Where queries look.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum EvalScope {
    /// Everywhere, from no repository
    Store,
    /// Only in the query's group
    Group,
    /// Everywhere, the query's group preferred
    Here,
}

/// Which queries are asked.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum EvalSplit {
    /// Those to tune with
    Tune,
    /// Those to test with
    Test,
    /// All of them
    All,
}

impl EvalMode {
    /// Returns the modes it stands for; `None` for all that this machine can.
    #[must_use]
    pub fn modes(self) -> Option<Vec<api::Mode>> {
        match self {
            Self::Lexical => Some(vec![api::Mode::Lexical]),
            Self::Dense => Some(vec![api::Mode::Dense]),
            Self::Hybrid => Some(vec![api::Mode::Hybrid]),
            Self::All => None,
        }
    }
}
