//! The command line of `agent-knowledge-eval`, as clap parses it. Not here: what it does (`measurement`), which
//! numbers are allowed (`requests`).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use cli::args::output_format::OutputFormat;

const HELP: &str = "\
A set is a folder, or the published JSON file of LongMemEval or LoCoMo. A folder contains:
  corpus.jsonl    {id, text, timestamp?, group?, title?} per line, or whole events, recognised by their lesson
  queries.jsonl   {id, text, group?, type?, split?} per line
  qrels.tsv       query, document and grade, separated by tabs
  stale.tsv       optional: query, and a document that must not rank above a relevant one
Queries without judgements have no answer and only count in the rate of false answers.

Each set is written into a temporary store. Vectors are kept in the cache, so that the next run embeds only
new texts. Times are those of a whole search, including the text of its reply.

Examples:
  agent-knowledge-eval my-set --mode lexical --save before.json
  agent-knowledge-eval my-set --mode lexical --against before.json --explain-misses
  agent-knowledge-eval locomo10.json --scope group --json | jq .
  agent-knowledge-eval features my-set --mode hybrid --save features.jsonl";

/// Measure how well the memory recalls, on a set of questions with known answers.
#[derive(Debug, Parser)]
#[command(name = "agent-knowledge-eval", version, after_help = HELP, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct CommandLine {
    /// The directory of the logs
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub logs: Option<PathBuf>,
    /// The directory of the embedding model
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub model: Option<PathBuf>,
    /// What is measured.
    #[command(flatten)]
    pub eval: Eval,
    /// Another task.
    #[command(subcommand)]
    pub task: Option<EvalTask>,
}

/// What else can be done with a set.
#[derive(Debug, Subcommand)]
pub enum EvalTask {
    /// Write the numbers of each query's best candidates into the file of --save, as lines of JSON
    ///
    /// The first line names the numbers. A likelihood is fitted on them (benches/likelihood).
    Features(Eval),
}

/// What to measure, and how.
#[derive(Debug, Args)]
pub struct Eval {
    /// Sets to measure with: folders, or published JSON files
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// How to rank [default: every mode that this machine supports]
    #[arg(long, value_enum)]
    pub mode: Option<EvalMode>,
    /// The format of the sets [default: detected from their content]
    #[arg(long, value_enum)]
    pub format: Option<SetForm>,
    /// Where queries search [default: store; group for published files]
    #[arg(long, value_enum)]
    pub scope: Option<EvalScope>,
    /// Which queries to ask
    #[arg(long, value_enum, default_value = "all")]
    pub split: EvalSplit,
    /// Hits to examine for each query, 1 to 20 [default: 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub limit: Option<String>,
    /// The lowest relevance of the best hit, 0 to 100 [default: as in search]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub min_relevance: Option<String>,
    /// The time at which queries are asked [default: a day after the newest document]
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Save the answers to every query in this file
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Compare with the answers saved in this file
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Explain why documents are not among the first five hits, and show N of them [default: 20]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20")]
    pub explain_misses: Option<String>,
    /// Count the tokens of an answer, and of the whole log, full notes, and other tools' formats
    #[arg(long)]
    pub economy: bool,
    /// The seed of the resampling in comparisons [default: 1]
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
    /// All of these
    All,
}

/// The format of a set.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SetForm {
    /// A folder
    Set,
    /// LongMemEval, as published
    Longmemeval,
    /// LoCoMo, as published
    Locomo,
    /// Detected from its content
    Auto,
}

/// Where queries search.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum EvalScope {
    /// Everywhere, from no repository
    Store,
    /// Only in the query's group
    Group,
    /// Everywhere, preferring the query's group
    Here,
}

/// Which queries are asked.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum EvalSplit {
    /// Queries for tuning
    Tune,
    /// Queries for testing
    Test,
    /// All queries
    All,
}

impl EvalMode {
    /// Returns the selected modes; `None` for every mode that this machine supports.
    #[must_use]
    pub fn modes(self) -> Option<Vec<requests::Mode>> {
        match self {
            Self::Lexical => Some(vec![requests::Mode::Lexical]),
            Self::Dense => Some(vec![requests::Mode::Dense]),
            Self::Hybrid => Some(vec![requests::Mode::Hybrid]),
            Self::All => None,
        }
    }
}
