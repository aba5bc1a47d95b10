//! `man-pages`: writes the manual pages into a directory, for packages and for who has only the program. Not here: what is in them
//! (`args::man_pages`).

use std::io;
use std::path::Path;

use serde_json::json;

use crate::args::man_pages;
use api::{ApiError, Reply};
use writer::exit::Exit;

/// Writes the pages, in the place of older ones.
pub(super) fn write(directory: &Path) -> Result<Reply, ApiError> {
    let names = write_all(directory).map_err(|error| ApiError::Failed {
        exit: Exit::Io,
        message: format!("failed to write the pages into {}: {error}", directory.display()),
    })?;
    let text = format!("wrote {} pages into {}", names.len(), directory.display());
    let json = json!({ "directory": directory.display().to_string(), "files": names });
    Ok(Reply::new(text, json))
}

fn write_all(directory: &Path) -> io::Result<Vec<String>> {
    std::fs::create_dir_all(directory)?;
    let mut names = Vec::new();
    for page in man_pages::pages(&writer::help())? {
        std::fs::write(directory.join(&page.file), &page.text)?;
        names.push(page.file);
    }
    Ok(names)
}
