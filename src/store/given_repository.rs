//! A repository that is given by a path or by a word for the one at hand, in the place of its name. Not here: names (`typed_repo`), and
//! which words those are (`place`).

use std::path::Path;

use event::{RepoKey, quoted};
use place::{Place, PlaceStrength, RepositoryWord, repository_directory};
use settings::Config;

use super::Store;

impl Store {
    /// Returns the place that a text means where a repository is named; nothing if it is a name, a key or a URL. `from` is where its
    /// writer stands, if that is known.
    ///
    /// # Errors
    /// What is allowed, where no project is at the path. It follows the name of the field.
    pub fn place_of_text(
        &self,
        text: &str,
        from: Option<&Path>,
        config: &Config,
    ) -> Result<Option<Place>, String> {
        if RepositoryWord::read(text).is_some() {
            return Ok(from.map(|from| self.place_at(from, config)));
        }
        let Some(directory) = repository_directory(text, self.machine()) else {
            return Ok(from.and_then(|from| self.place_of_folder(text, from, config)));
        };
        let directory = from.map_or_else(|| directory.clone(), |from| from.join(&directory));
        let is_there = directory.is_absolute() && directory.is_dir();
        let place = is_there.then(|| self.place_at(&directory, config));
        let is_at_hand = |place: &Place| {
            from.is_some_and(|from| self.place_at(from, config).repository == place.repository)
        };
        let is_project = |place: &Place| place.strength() >= PlaceStrength::Project;
        place.filter(|place| is_project(place) || is_at_hand(place)).map(Some).ok_or_else(|| {
            format!(
                "must be a repository, for example github.com/acme/api; {} is no project here",
                quoted(text)
            )
        })
    }

    /// Returns the place of a folder that is given as `packages/web`, which could be a name: where no repository has that name, and
    /// the folder is in a repository or a project.
    fn place_of_folder(&self, text: &str, from: &Path, config: &Config) -> Option<Place> {
        let text = text.trim();
        let folder = from.join(text);
        let may_be_folder = text.contains('/') && !text.contains(':') && from.is_absolute();
        if !may_be_folder || !folder.is_dir() {
            return None;
        }
        let key = RepoKey::parse(text).ok();
        let known = self.known_repos();
        let is_known = |key: &RepoKey| {
            config.current(key) != *key || known.contains(key) || !key.longer(&known).is_empty()
        };
        let place = (!key.as_ref().is_some_and(is_known)).then(|| self.place_at(&folder, config));
        place.filter(|place| place.strength() >= PlaceStrength::Project)
    }
}
