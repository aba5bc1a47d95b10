//! The words: what one line of a log means, and which lines may be written.
//!
//! Pure: no files, no clock, no threads, no randomness. A memory passes through a chain of types: [`Draft`]
//! (the input of a caller) → [`validate`] → [`Event`] → [`clean::clean`] → [`CleanEvent`] (the only type a log
//! accepts) → [`codec::encode`] → one line. [`codec::decode`] reads a line back.
//!
//! Not here: which file an event goes to (`store`), and what several events about one memory add up to
//! (`memory`).

mod audience;
mod author;
mod calendar_day;
mod change;
pub mod clean;
pub mod codec;
mod confidence;
mod draft;
mod envelope;
mod evidence;
mod fields;
mod folder_path;
mod forge_form;
mod forges;
mod id;
mod joined_line;
mod kind;
mod kind_guess;
pub mod limits;
mod link;
mod own_tag;
mod problem;
mod rate;
mod remote_url;
mod repo_key;
mod rule;
mod store_origin;
mod surrogate;
mod suspicion;
mod tag;
mod text_digest;
mod time_text;
mod unknown_field;
mod user_path;
mod validate;

pub use audience::{GLOBAL_REPO, MemoryScope};
pub use author::Author;
pub use calendar_day::{CalendarDay, DayZone};
pub use change::MemoryChange;
pub use clean::CleanEvent;
pub use codec::{DecodedLine, EncodedLine, SkipReason};
pub use confidence::Confidence;
pub use draft::Draft;
pub use envelope::Event;
pub use evidence::{AGENT_FILE, FEEDBACK, HOOK, IMPORTED, SESSION_RECORD, Verdict};
pub use fields::{
    draft_from_json, strings as list_from_json, type_name as json_type, unknown_draft_field,
};
pub use folder_path::FolderPath;
pub use forges::{ForgePlace, code_commit, forge_of_alias};
pub use id::EventId;
pub use joined_line::joined_events;
pub use kind::EventType;
pub use link::{AUTO, Link, MANUAL, Node, Relation, Strength, is_code};
pub use own_tag::{KEY_DIGITS, OwnTag};
pub use problem::{Problem, Problems, quoted};
pub use rate::SuccessRate;
pub use remote_url::RemoteUrl;
pub use repo_key::{RepoKey, RepoKeyError};
pub use rule::{BELOW, is_rule, rule_id};
pub use store_origin::StoreOrigin;
pub use surrogate::{from_json, replace_lone_surrogates};
pub use suspicion::suspicion;
pub use tag::{same_tag, tag_key};
pub use text_digest::text_digest;
pub use time_text::{parse_age, parse_timestamp};
pub use unknown_field::{UnknownField, unknown_field};
pub use user_path::without_user_name;
pub use validate::{Stamp, fits_short_field, validate};

/// An instant of time; lines carry it as RFC 3339 in UTC with whole seconds.
pub use jiff::Timestamp;
