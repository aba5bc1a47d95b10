//! What an answer is: a value whose fields programs read as JSON, and one text view for agents and people. Its schema in the OpenAPI
//! document follows from the type. Not here: the answers (a file each), what is removed from both forms (`reply`).

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An answer as a value. Its JSON is a format that others read: a new field stands last and may be absent, and no field changes
/// its place or its name. Whoever reads an answer may ask an older server, so a field that was added later has a default.
pub trait Answer: Serialize + DeserializeOwned + JsonSchema {}

/// An answer whose text follows from its fields alone.
pub trait TextView: Answer {
    /// For agents and people. Names and texts of others are neutralised in it.
    fn text(&self) -> String;
}

/// An answer that has no type yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct UntypedAnswer(pub Map<String, Value>);

impl Answer for UntypedAnswer {}
