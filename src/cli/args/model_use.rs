//! The arguments of `model use`. Not here: what it does (`program::model_use`).

use clap::Args;

use crate::args::output_format::OutputFormat;

/// The model that is to make vectors.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = EXAMPLES)]
pub struct ModelUse {
    /// local, openai (any /v1/embeddings), ollama, voyage, cohere, gemini or command
    pub provider: String,
    /// The name of the model
    pub name: Option<String>,
    /// The address, if it is not the maker's: https, or http on this machine
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The variable of the environment that holds the key
    #[arg(long, value_name = "VARIABLE")]
    pub key_env: Option<String>,
    /// Numbers per vector, if the model lets one choose
    #[arg(long, value_name = "COUNT")]
    pub dimensions: Option<String>,
    /// Most texts in one request
    #[arg(long, value_name = "COUNT")]
    pub batch: Option<String>,
    /// Characters of a text that are sent
    #[arg(long, value_name = "COUNT")]
    pub max_chars: Option<String>,
    /// What stands before each query, such as "search_query: "
    #[arg(long, value_name = "TEXT")]
    pub query_prefix: Option<String>,
    /// What stands before each text
    #[arg(long, value_name = "TEXT")]
    pub text_prefix: Option<String>,
    /// Repositories of which nothing is sent; * stands for any text
    #[arg(long, value_name = "REPO", num_args = 1..)]
    pub off: Vec<String>,
    /// For command: the program and its arguments
    #[arg(long, value_name = "WORD", num_args = 1.., allow_hyphen_values = true)]
    pub command: Vec<String>,
    /// Do it without asking
    #[arg(long, short)]
    pub yes: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

const EXAMPLES: &str = "Examples:
  agent-knowledge model use ollama nomic-embed-text
  agent-knowledge model use openai text-embedding-3-small --key-env OPENAI_API_KEY
  agent-knowledge model use local

It first tells how many texts would be sent where, and asks. Until all are embedded the present model answers.";

impl ModelUse {
    /// Returns the settings that it stands for, by their names in `[embedding]`; an empty list for none.
    #[must_use]
    pub fn settings(&self) -> Vec<(&'static str, Vec<&str>)> {
        fn one<'a>(
            name: &'static str,
            value: &'a Option<String>,
        ) -> Option<(&'static str, &'a str)> {
            Some((name, value.as_deref()?))
        }
        let texts = [
            Some(("provider", self.provider.as_str())),
            one("model", &self.name),
            one("url", &self.url),
            one("key_env", &self.key_env),
            one("dimensions", &self.dimensions),
            one("batch", &self.batch),
            one("max_chars", &self.max_chars),
            one("query_prefix", &self.query_prefix),
            one("text_prefix", &self.text_prefix),
        ];
        let texts = texts.into_iter().flatten().map(|(name, value)| (name, vec![value]));
        let lists = [("off_repos", &self.off), ("command", &self.command)];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let lists = lists.map(|(name, list)| (name, list.iter().map(String::as_str).collect()));
        texts.chain(lists).collect()
    }
}
