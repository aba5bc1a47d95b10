//! `model use`: another model makes vectors. It tells what would be sent where, asks, tries the provider once, and writes the
//! settings; the running retriever sees them within a second. Not here: the change itself (`engine`), the text of the file
//! (`settings::ConfigText`).

use std::io::Write;

use serde_json::json;

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::commands::config::setting_rows::{open_config, replace_config};
use crate::program::Program;
use crate::question::{DefaultAnswer, ask_yes_or_no};
use engine::ModelInput;
use providers::ModelName;
use requests::{ApiError, Reply};
use retriever::failure::{refuse_unknown_keys, store_error};
use retriever::model_plan::ModelPlaces;
use retriever::options::{GlobalOptions, MemoryNeed};
use retriever::resolved_settings::ResolvedSettings;
use search::snapshot::Snapshot;
use settings::{Config, ConfigTable, ConfigText, EmbeddingProvider, ProviderForm};
use store::{ConfigTurn, StoreError, trusted};
use writer::exit::Exit;

/// Bytes of a token of English, for the estimate.
const TOKEN_BYTES: usize = 4;

/// What would be sent.
#[derive(Debug, Default, PartialEq, Eq)]
struct SendingCost {
    texts: usize,
    bytes: usize,
    withheld: usize,
}

/// The model that is to make vectors.
#[derive(Debug, Args)]
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
    fn settings(&self) -> Vec<(&'static str, Vec<&str>)> {
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

impl Program<'_> {
    /// Changes the model.
    pub(crate) fn use_model(
        &self,
        settings: &GlobalOptions,
        command: &ModelUse,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        // The table is written anew: a rule in it that this version does not know must not be lost.
        refuse_unknown_keys(&self.resolve_settings(settings)?.config, ConfigTable::Embedding)?;
        let path = self.config_path().ok_or_else(|| store_error(&StoreError::NoPlace))?;
        trusted(&path).map_err(|error| store_error(&error))?;
        // What is refused makes no folder and no lock.
        let wanted = changed(open_config(&path)?, command)?.1;
        let settled = self.resolve_settings(settings)?;
        let places = ModelPlaces::from_settings(&settled);
        let (cost, text) = self.cost_of(settings, &settled, &places, wanted.as_ref())?;
        if !command.yes {
            match ask_yes_or_no(&text, "Use this model?", DefaultAnswer::No, messages)? {
                Some(true) => {}
                Some(false) => {
                    return Ok(Reply::new(
                        "nothing is changed".to_owned(),
                        json!({ "changed": false }),
                    ));
                }
                None => {
                    let message =
                        format!("{text}\nnothing is changed: there is nobody to ask, so add --yes");
                    return Err(ApiError::Failed { exit: Exit::Usage, message });
                }
            }
        }
        if let Some(provider) = &wanted {
            self.tried(provider, &settled)?;
        }
        let turn = ConfigTurn::acquire(&path).map_err(|error| store_error(&error))?;
        let (file, _) = changed(open_config(&path)?, command)?;
        replace_config(&turn, &path, &file.checked().map_err(invalid)?)?;
        let text = format!(
            "{text}\nset in {}; a retriever that runs begins within a second, and agent-knowledge model status tells how far it is",
            path.display()
        );
        let json = json!({ "changed": true, "file": path.display().to_string(),
            "texts": cost.texts, "tokens_estimated": cost.bytes / TOKEN_BYTES, "withheld": cost.withheld });
        Ok(Reply::new(text, json))
    }

    /// Returns what the change costs and sends, in numbers and in words.
    fn cost_of(
        &self,
        settings: &GlobalOptions,
        settled: &ResolvedSettings,
        places: &ModelPlaces,
        wanted: Option<&EmbeddingProvider>,
    ) -> Result<(SendingCost, String), ApiError> {
        let from = shown(settled.config.provider.as_ref(), settled);
        let to = shown(wanted, settled);
        let Some(provider) = wanted else {
            let text = format!(
                "from    {from}\nto      {to}\nsends   nothing any more; what {from} has seen cannot be taken back\n\
                 until   all memories have a vector, words alone answer"
            );
            return Ok((SendingCost::default(), text));
        };
        let snapshot = self.open_local(settings, MemoryNeed::Words)?.engine().snapshot_for_upkeep();
        let snapshot = snapshot.map_err(|_| invalid("the logs could not be read".to_owned()))?;
        let dense = places.dense(Some(provider));
        let cost = SendingCost::estimate(&snapshot, provider, dense.may_see.as_ref());
        let place = match provider.form {
            ProviderForm::Command => "to the program, which may send them anywhere".to_owned(),
            _ if provider.url.starts_with("http://") => "to this machine alone".to_owned(),
            _ => "over the network".to_owned(),
        };
        let text = format!(
            "from    {from}\nto      {to}\nsends   {} texts of memories, about {} tokens, and every later memory and query, {place}\n\
             keeps   {} memories here, which are private or of repositories that are left out\n\
             until   all of them have a vector, the present model answers; then all answers change at once",
            cost.texts,
            cost.bytes / TOKEN_BYTES,
            cost.withheld,
        );
        Ok((cost, text))
    }

    /// Embeds one fixed sentence, so that what cannot work changes nothing.
    fn tried(
        &self,
        provider: &EmbeddingProvider,
        settled: &ResolvedSettings,
    ) -> Result<(), ApiError> {
        let key = provider.key_env.as_deref().and_then(self.surroundings.lookup);
        let key = key.and_then(|key| key.into_string().ok());
        match providers::open(provider, key, &settled.cache_dir) {
            Ok(_) | Err(index::embed::EmbedError::ProviderChanged { .. }) => Ok(()),
            Err(error) => {
                let message = format!("nothing is changed: {error}");
                Err(ApiError::Failed { exit: Exit::Unavailable, message })
            }
        }
    }
}

impl SendingCost {
    fn estimate(
        snapshot: &Snapshot,
        provider: &EmbeddingProvider,
        may_see: Option<&engine::ModelAccess>,
    ) -> Self {
        let mut cost = Self::default();
        let chars = usize::try_from(provider.max_chars).unwrap_or(usize::MAX);
        for memory in snapshot.memories().iter() {
            if may_see.is_some_and(|may_see| !may_see(ModelInput::Memory(memory))) {
                cost.withheld += 1;
                continue;
            }
            cost.texts += 1;
            let text = memory.meaning_text();
            let sent = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
            cost.bytes += sent + provider.text_prefix.len();
        }
        cost
    }
}

/// Puts the settings into a file, and returns the provider that it names then.
fn changed(
    mut file: ConfigText,
    command: &ModelUse,
) -> Result<(ConfigText, Option<EmbeddingProvider>), ApiError> {
    let text = file.with_embedding(&command.settings()).map_err(invalid)?;
    let config = Config::parse(&text)
        .map_err(|fault| invalid(format!("nothing is changed: {}", fault.why)))?;
    match config.hold(ConfigTable::Embedding) {
        Some(finding) => Err(invalid(format!("nothing is changed: {}", finding.why))),
        None => Ok((file, config.provider)),
    }
}

fn invalid(message: String) -> ApiError {
    ApiError::Failed { exit: Exit::Invalid, message }
}

/// Names a model for people.
fn shown(provider: Option<&EmbeddingProvider>, settled: &ResolvedSettings) -> String {
    provider.map_or_else(
        || "all-MiniLM-L6-v2 on this machine".to_owned(),
        |provider| ModelName::from_provider(provider, &settled.cache_dir).shown().to_owned(),
    )
}
