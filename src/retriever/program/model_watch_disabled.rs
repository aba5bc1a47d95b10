//! Twin of `model_watch.rs` for builds without the feature `providers`: no external model is followed.

use std::path::PathBuf;
use std::sync::Arc;

use super::ResolvedSettings;
use api::local::Core;

pub(super) fn start(_: &Arc<Core>, _: &ResolvedSettings, _: Option<PathBuf>) {}
