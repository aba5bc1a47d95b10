//! Twin of `https.rs` for builds without the feature `providers`: the same function, saying so.

use serde_json::Value;

pub(super) fn ask(_url: &str, _key: Option<String>, _request: &Value) -> Result<String, String> {
    Err("this build reaches no server over https: build with `--features providers`, or name a command such as curl"
        .to_owned())
}
