//! External models, which a user may configure: embeddings, chat and reranking, over HTTP or by a program. Nothing here runs
//! unless the settings name a provider.
//!
//! In reading order: `provider_url` (where a request may go), `provider_client` (one request: retries, bounds, errors), `said` (what a
//! provider says of an error), `provider_command` (a program), `vector_forms` (the protocols), `checked_vectors`,
//! `remote_embedder` (an [`index::embed::Embedder`]), `rerank_forms`, `remote_reranker` (scores of texts), `chat`, [`chat_model`] (what
//! the model of `[judge]` is asked), `probe_record` (has the model changed?). Not here: which memories may be sent and when another
//! model answers (the retriever and the engine), sending over HTTP (`http_client`), the model of this machine (`index`).

mod chat;
pub mod chat_model;
mod checked_vectors;
#[cfg(test)]
mod faults;
mod open_embedder;
#[cfg(test)]
mod paid_once;
mod probe_record;
mod provider_client;
mod provider_command;
mod provider_error;
mod provider_message;
mod provider_url;
mod remote_embedder;
mod remote_reranker;
mod rerank_forms;
#[cfg(test)]
mod stand_in;
mod vector_forms;

pub use open_embedder::{ModelName, open};
pub use provider_error::ProviderError;
pub use provider_url::provider_url;
pub use remote_reranker::RemoteReranker;
