//! Every setting once: one table makes the parser of the configuration file, the rows that `agent-knowledge config` shows and changes,
//! the page of the settings and their JSON schema.
//!
//! Pure: texts come in, values and sentences go out. Not here: reading and replacing files (`store`), the environment (the programs
//! pass it in), what a setting does (the rooms that use it).

mod config;
mod config_fault;
mod config_finding;
mod config_table;
#[cfg(feature = "edit")]
mod config_text;
mod embedding_provider;
mod engine_setting;
mod home_path;
mod judge;
mod memory_mib;
mod past_position;
mod platform_dirs;
mod project_config;
mod provider_form;
mod repo_pattern;
mod rerank_provider;
mod section_budgets;
mod session_policy;
mod setting;
mod setting_fields;
mod setting_lines;
mod setting_macro;
mod settings_page;
mod settings_schema;
mod sync_policy;
mod table;
mod team_trust;
mod unknown_keys;
mod value_kinds;
pub mod variables;

pub use config::Config;
pub use config_fault::ConfigFault;
pub use config_finding::ConfigFinding;
pub use config_table::{ConfigTable, UnknownRule};
#[cfg(feature = "edit")]
pub use config_text::{ConfigText, SetError};
pub use engine_setting::EngineSetting;
pub use home_path::{absolute_path, checked_path, expanded};
pub use judge::Judge;
pub use memory_mib::MemoryMib;
pub use past_position::PastPosition;
pub use platform_dirs::PlatformDirs;
pub use project_config::ProjectConfig;
pub use provider_form::{EmbeddingPrecision, ProviderForm, RerankForm};
pub use section_budgets::BRIEFING_SECTIONS;
pub use setting::{Setting, SettingForm};
pub use settings_page::settings_page;
pub use settings_schema::settings_schema;
pub use table::{
    EmbeddingProvider, EngineSettings, GeneralSettings, JudgeSettings, RerankProvider,
    SessionPolicy, SyncPolicy,
};
pub use team_trust::{SignatureRule, TeamTrust};
pub use value_kinds::Switch;
