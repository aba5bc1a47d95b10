//! What an answer is: a value whose fields programs read as JSON, and one text view for agents and people. Its schema in the OpenAPI
//! document follows from the type. Not here: the answers (a file each), what is removed from both forms (`reply`).

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An answer as a value. Its JSON is a format that others read: a new field stands last and may be absent, and no field changes
/// its place or its name. Whoever reads an answer may ask an older server, so a field that was added later has a default.
pub trait Answer: Serialize + DeserializeOwned + JsonSchema {}

/// An answer whose text follows from its fields alone.
pub trait TextView: Answer {
    /// For agents and people. Names and texts of others are neutralised in it.
    fn text(&self) -> String;
}
