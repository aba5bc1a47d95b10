//! A repository that is given by a path or by a word for the one at hand, in the place of its name. Not here: names (`typed_repo`), and
//! which words those are (`place`).

use std::path::Path;

use event::quoted;
use place::{Place, RepositoryWord, repository_directory};
use settings::Config;

use super::Store;

impl Store {
    /// Returns the place that a text means where a repository is named; nothing if it is a name, a key or a URL. `from` is where its
    /// writer stands, if that is known.
    ///
    /// # Errors
    /// What is allowed, where no directory is at the path. It follows the name of the field.
    pub fn place_of_text(
        &self,
        text: &str,
        from: Option<&Path>,
        config: &Config,
    ) -> Result<Option<Place>, String> {
        if RepositoryWord::read(text).is_some() {
            return Ok(from.map(|from| self.place_at(from, config)));
        }
        let Some(directory) = repository_directory(text, self.machine()) else { return Ok(None) };
        let directory = from.map_or_else(|| directory.clone(), |from| from.join(&directory));
        if directory.is_absolute() && directory.is_dir() {
            return Ok(Some(self.place_at(&directory, config)));
        }
        Err(format!(
            "must be a repository, for example github.com/acme/api; there is no directory {} here",
            quoted(text)
        ))
    }
}
