//! The protocols of external models, by the names that the settings use, and how precisely the model of this machine computes. Not
//! here: the settings of a provider (`embedding_provider`, `rerank_provider`), asking one (`providers`).

use toml::Value;

use super::setting::SettingForm;
use super::value_kinds::{Kind, WrongValue, one_of};

/// The precision of the embedding model. Vectors of memories made with different precisions are never mixed.
/// The vector of a question may be computed with 8 bits in both cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EmbeddingPrecision {
    /// 32-bit floats, as published.
    #[default]
    Fp32,
    /// Layers in 8 bits: a text of 64 tokens takes two thirds of the time, and the model takes less memory.
    Int8,
}

impl Kind for EmbeddingPrecision {
    type Value = Self;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<Self, WrongValue> {
        match value.as_str().unwrap_or_default() {
            "fp32" => Ok(Self::Fp32),
            "int8" => Ok(Self::Int8),
            other => Err(WrongValue::quoting(other)),
        }
    }

    fn write(value: &Self) -> Option<Value> {
        Some(if *value == Self::Fp32 { "fp32" } else { "int8" }.into())
    }

    fn schema() -> serde_json::Value {
        one_of(["fp32", "int8"])
    }
}

/// The protocol that a provider of vectors speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProviderForm {
    /// `/v1/embeddings`, as OpenAI defined it and many local servers have it.
    OpenAi,
    /// Ollama's `/api/embed`.
    Ollama,
    /// Voyage's `/v1/embeddings`, which tells queries from texts.
    Voyage,
    /// Cohere's `/v2/embed`.
    Cohere,
    /// Gemini's `batchEmbedContents`.
    Gemini,
    /// A program with JSON on its standard streams.
    #[default]
    Command,
}

impl ProviderForm {
    /// All forms, by the names that the settings use.
    pub const ALL: [(&str, Self); 6] = [
        ("openai", Self::OpenAi),
        ("ollama", Self::Ollama),
        ("voyage", Self::Voyage),
        ("cohere", Self::Cohere),
        ("gemini", Self::Gemini),
        ("command", Self::Command),
    ];

    /// Returns its name in the settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        name_in(&Self::ALL, self)
    }

    /// Returns the address of its maker; empty where there is no single one.
    #[must_use]
    pub fn usual_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Ollama => "http://127.0.0.1:11434",
            Self::Voyage => "https://api.voyageai.com/v1",
            Self::Cohere => "https://api.cohere.com",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Self::Command => "",
        }
    }
}

/// The protocol that a reranker speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RerankForm {
    /// Cohere's `/v2/rerank`.
    Cohere,
    /// Voyage's `/v1/rerank`.
    Voyage,
    /// Jina's `/v1/rerank`, which llama.cpp and vLLM have too.
    Jina,
    /// A program with JSON on its standard streams.
    #[default]
    Command,
}

impl RerankForm {
    /// All forms, by the names that the settings use.
    pub const ALL: [(&str, Self); 4] = [
        ("cohere", Self::Cohere),
        ("voyage", Self::Voyage),
        ("jina", Self::Jina),
        ("command", Self::Command),
    ];

    /// Returns its name in the settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        name_in(&Self::ALL, self)
    }

    /// Returns the address of its maker; empty for a program.
    #[must_use]
    pub fn usual_url(self) -> &'static str {
        match self {
            Self::Cohere => "https://api.cohere.com",
            Self::Voyage => "https://api.voyageai.com",
            Self::Jina => "https://api.jina.ai",
            Self::Command => "",
        }
    }

    /// Returns what follows the address.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Cohere => "/v2/rerank",
            Self::Voyage | Self::Jina => "/v1/rerank",
            Self::Command => "",
        }
    }
}

/// Who makes vectors; none but the model of this machine by default.
pub struct EmbeddingChoice;

impl Kind for EmbeddingChoice {
    type Value = Option<ProviderForm>;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<Self::Value, WrongValue> {
        chosen(&ProviderForm::ALL, &["local"], value)
    }

    fn write(value: &Self::Value) -> Option<Value> {
        Some(value.map_or("local", ProviderForm::as_str).into())
    }

    fn schema() -> serde_json::Value {
        one_of(["local"].into_iter().chain(ProviderForm::ALL.map(|(name, _)| name)))
    }
}

/// Who orders likely hits; nobody by default.
pub struct RerankChoice;

impl Kind for RerankChoice {
    type Value = Option<RerankForm>;
    const FORM: SettingForm = SettingForm::Text;

    fn read(value: &Value) -> Result<Self::Value, WrongValue> {
        chosen(&RerankForm::ALL, &["off", ""], value)
    }

    fn write(value: &Self::Value) -> Option<Value> {
        Some(value.map_or("off", RerankForm::as_str).into())
    }

    fn schema() -> serde_json::Value {
        one_of(["off", ""].into_iter().chain(RerankForm::ALL.map(|(name, _)| name)))
    }
}

fn name_in<T: Copy + PartialEq>(all: &[(&'static str, T)], form: T) -> &'static str {
    all.iter().find(|(_, known)| *known == form).map_or("", |(name, _)| name)
}

/// Finds a form by its name; none for the names of nobody.
fn chosen<T: Copy>(
    all: &[(&str, T)],
    nobody: &[&str],
    value: &Value,
) -> Result<Option<T>, WrongValue> {
    let name = value.as_str().unwrap_or_default();
    let known = all.iter().find(|(known, _)| *known == name);
    match known {
        Some((_, form)) => Ok(Some(*form)),
        None if nobody.contains(&name) => Ok(None),
        None => Err(WrongValue::quoting(name)),
    }
}
