//! The protocols of external models, by the names that the settings use, and how precisely the model of this machine computes. Not
//! here: the settings of a provider (`embedding_provider`, `rerank_provider`), asking one (`providers`).

use toml::Value;

use super::setting::SettingForm;
use super::value_kinds::{ValueKind, WrongValue};

/// Makes an enum whose values have names in the settings; `none` is the name of no value.
macro_rules! named_values {
    ($(#[$doc:meta])+ $Enum:ident $(, none $none:literal)? { $($(#[$value_doc:meta])+ $Value:ident = $name:literal,)+ }) => {
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub enum $Enum { $($(#[$value_doc])+ $Value,)+ }

        impl $Enum {
            /// Returns its name in the settings.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$Value => $name,)+ }
            }
        }

        impl ValueKind for $Enum {
            type Value = Self;
            const FORM: SettingForm = SettingForm::Text;
            $(const NONE: Option<&'static str> = Some($none);)?

            fn read(value: &Value) -> Result<Self, WrongValue> {
                match value.as_str().unwrap_or_default() {
                    $($name => Ok(Self::$Value),)+
                    other => Err(WrongValue::quoting(other)),
                }
            }

            fn write(value: &Self) -> Option<Value> {
                Some(value.as_str().into())
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": [$($none,)? $($name),+] })
            }
        }
    };
}

named_values! {
    /// The precision of the embedding model. Vectors of memories made with different precisions are never mixed.
    /// The vector of a question may be computed with 8 bits in both cases.
    EmbeddingPrecision {
        /// 32-bit floats, as published.
        #[default]
        Fp32 = "fp32",
        /// Layers in 8 bits: a text of 64 tokens takes two thirds of the time, and the model takes less memory.
        Int8 = "int8",
    }
}

named_values! {
    /// The protocol that a provider of vectors speaks.
    ProviderForm, none "local" {
        /// `/v1/embeddings`, as OpenAI defined it and many local servers have it.
        OpenAi = "openai",
        /// Ollama's `/api/embed`.
        Ollama = "ollama",
        /// Voyage's `/v1/embeddings`, which tells queries from texts.
        Voyage = "voyage",
        /// Cohere's `/v2/embed`.
        Cohere = "cohere",
        /// Gemini's `batchEmbedContents`.
        Gemini = "gemini",
        /// A program with JSON on its standard streams.
        #[default]
        Command = "command",
    }
}

named_values! {
    /// The protocol that a reranker speaks.
    RerankForm, none "off" {
        /// Cohere's `/v2/rerank`.
        Cohere = "cohere",
        /// Voyage's `/v1/rerank`.
        Voyage = "voyage",
        /// Jina's `/v1/rerank`, which llama.cpp and vLLM have too.
        Jina = "jina",
        /// A program with JSON on its standard streams.
        #[default]
        Command = "command",
    }
}

impl ProviderForm {
    /// Returns the address of its maker; empty where there is no single one.
    #[must_use]
    pub fn default_url(self) -> &'static str {
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

impl RerankForm {
    /// Returns the address of its maker; empty for a program.
    #[must_use]
    pub fn default_url(self) -> &'static str {
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
