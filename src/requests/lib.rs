//! Every request is defined here, once. One entry of a [`define::ApiRequest`] names a field, its text, its bounds,
//! its default and its spelling on the command line. From it come the field of the struct (which crosses the wire by
//! serde), the JSON schema that models read, the options and the help of the command line, and the reading of a
//! call, which reports every problem at once. A new field is one entry here and the code that uses it.
//!
//! In reading order: [`parameter`] (what faces know of a parameter), [`rule`] (how one is read), [`define`] (the
//! macro), then one file per request. Not here: the answers (`api`), the schemas of MCP (`mcp`) and clap (`cli`).

pub mod analysis;
mod api_error;
pub mod bounds;
pub mod browse;
pub mod bulk_change;
pub mod caller;
pub mod change;
pub mod context;
pub mod define;
#[cfg(any(test, feature = "testing"))]
pub mod fake_api;
pub mod fields;
pub mod injected;
pub mod links;
pub mod listing;
pub mod log_events;
pub mod parameter;
pub mod prompts;
pub mod related;
mod request;
pub mod rest_forms;
pub mod rights;
pub mod rule;
pub mod save;
pub mod search;
pub mod sessions;
#[cfg(test)]
mod tests;
pub mod tool;
pub mod tool_arguments;
pub mod verb;
mod verb_arguments;
pub mod verbs;

use std::ops::RangeInclusive;

use serde_json::Map;

pub use self::analysis::{
    AcceptedPattern, AnalyzeRequest, FINDINGS_DEFAULT, FINDINGS_MAX, PatternsRequest, Topic,
};
pub use self::api_error::ApiError;
pub use self::bounds::{
    ANALYSIS_TOKENS_DEFAULT, BRIEF_TOKENS_DEFAULT, CONTEXT_TOKENS_DEFAULT, EXPORT_TOKENS_DEFAULT,
    IDS_MAX, LIMIT_DEFAULT, LIMIT_MAX, MIN_RELEVANCE_PERCENT_DEFAULT, QUERY_BYTES_MAX,
    SEARCH_TOKENS_DEFAULT, TOKENS_MAX, TOKENS_MIN,
};
pub use self::bulk_change::{ChangeExtent, Sweep, SweepRequest};
pub use self::change::{ChangeRequest, Voice, WantedChange};
pub use self::context::{BriefingReader, ContextRequest};
pub use self::define::ApiRequest;
pub use self::links::{EDITS_MAX, LinkAction, LinkEdit, LinkRequest, LinkTerms, NumberedEdit};
pub use self::listing::{Listing, ReviewRequest, StaleRequest};
pub use self::log_events::LogEventsRequest;
pub use self::prompts::CompleteRequest;
pub use self::related::{DEPTH_DEFAULT, DEPTH_IMPACT, DEPTH_MAX, RelatedRequest, WalkStart};
pub use self::request::{Api, Request, unread_answer};
pub use self::search::{Mode, SearchRequest, SearchScope};
pub use self::sessions::{FailedCommand, SessionSearchRequest};
pub use ::search::links::LinkDirection;
pub use ::search::staleness::UnmergedPolicy;
pub use ::search::{CompletionSlot, Failure, Flagged, QuerySyntax, Tiers, TimePoint, as_pasted};
pub use reply::{Explain, Reply, Shape};

use self::fields::Fields;
use self::parameter::Parameter;
use event::Problems;

/// Returns how the command line spells a field, for a message about it.
#[must_use]
pub fn spelling(field: &str) -> Option<String> {
    let all: [fn() -> Vec<Parameter>; 15] = [
        SearchRequest::parameters,
        ContextRequest::parameters,
        change::FeedbackArguments::parameters,
        change::ForgetArguments::parameters,
        change::SupersedeArguments::parameters,
        change::DistinctArguments::parameters,
        change::PinArguments::parameters,
        RelatedRequest::parameters,
        related::ImpactArguments::parameters,
        links::LinkArguments::parameters,
        links::UnlinkArguments::parameters,
        AnalyzeRequest::parameters,
        analysis::PatternsArguments::parameters,
        listing::ShowArguments::parameters,
        ReviewRequest::parameters,
    ];
    let of_field = |parameter: &Parameter| parameter.name == field;
    all.into_iter()
        .flat_map(|parameters| parameters())
        .filter(of_field)
        .find_map(|one| one.spelling())
}

/// Reads the path of a file, and returns the search for what is known about it: the newest first.
///
/// # Errors
/// What is wrong with it.
pub fn file_search(path: &str) -> Result<SearchRequest, Problems> {
    let given = Map::from_iter([("path".to_owned(), vec![path].into())]);
    let mut fields = Fields::new(&["path"], &[], given);
    let no_path = "is empty; give the path of a file or the end of it, such as src/main.rs";
    let files = bounds::files_rule().with_name("path").at_least_one(no_path).read(&mut fields);
    fields.finish(SearchRequest { files, limit: LIMIT_MAX, ..<_>::default() })
}

/// Reads a whole number that may be left out.
///
/// # Errors
/// What is allowed.
pub fn number(
    name: &str,
    given: Option<String>,
    allowed: RangeInclusive<usize>,
) -> Result<Option<usize>, Problems> {
    let mut fields = Fields::new(&[name], &[], Map::from_iter([(name.to_owned(), given.into())]));
    let number = fields.number(name, allowed);
    fields.finish(number)
}
