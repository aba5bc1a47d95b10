//! Real transcripts, for the tests of this crate and of those above. They are in `shared/data` beside the project, and never
//! part of it; where they are missing, the tests that need them are skipped, except in CI. Not here: what they hold
//! (`golden`).

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "only tests use it, those of other crates too"
)]

use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Returns the folder of the real transcripts, or nothing where it is missing and may be.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "tests have no main that reads the environment")]
pub fn fixtures() -> Option<PathBuf> {
    let shared_folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/sessions/fixtures");
    if let Some(folder) = Some(shared_folder).filter(|folder| folder.is_dir()) {
        return Some(folder);
    }
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "shared/data/sessions is missing");
    eprintln!("SKIPPED: shared/data/sessions is not here");
    None
}

/// Unpacks a `.gz` into the folder; other files stay where they are.
pub fn unpacked_at(path: &Path, folder: &Path) -> PathBuf {
    let Some(name) = path.file_name().unwrap().to_str().unwrap().strip_suffix(".gz") else {
        return path.to_owned();
    };
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    let target = folder.join(name);
    std::fs::write(&target, bytes).unwrap();
    target
}
