//! Which words of a query are filters: those that name something that there is. Not here: the form of a filter
//! (`search::ParsedQuery`), what memories have (`search::is_known_value`), joining filters (`filters`).

use crate::local::repositories;
use crate::local::{Local, snapshots};
use requests::{ApiError, QuerySyntax, SearchRequest};
use search::snapshot::Snapshot;
use search::{FilterWord, ParsedQuery, is_known_value};

/// Splits the query of a request. A filter by something that no memory has is text, so where there may be one, the
/// logs are read first.
///
/// # Errors
/// A store that cannot be read.
pub(super) fn parsed_query(
    local: &Local,
    request: &SearchRequest,
) -> Result<ParsedQuery, ApiError> {
    let query = &request.query;
    if [request.syntax, QuerySyntax::of_text(query)].contains(&QuerySyntax::Pasted) {
        return Ok(ParsedQuery::of_text(query));
    }
    let parsed = ParsedQuery::with_every_filter(query);
    if !parsed.has_filters() {
        return Ok(parsed);
    }
    let snapshot = snapshots::answerable(local)?.snapshot;
    Ok(ParsedQuery::parse(query, &|filter| is_known(local, filter, &snapshot)))
}

/// Tells whether a filter names something that there is.
fn is_known(local: &Local, filter: &FilterWord, snapshot: &Snapshot) -> bool {
    match filter {
        FilterWord::Repo(name) => {
            let known = repositories::named_repos(local, name, snapshot);
            known.iter().any(|repo| repositories::has_memories(repo, snapshot))
        }
        FilterWord::File(path) => is_known_value(snapshot, filter) || is_file_here(local, path),
        FilterWord::Folder(folder) => local.is_folder_known(folder, snapshot),
        other => is_known_value(snapshot, other),
    }
}

/// Tells whether a path is one of the caller's directory. Somebody of another machine is told nothing of our files.
fn is_file_here(local: &Local, path: &str) -> bool {
    let directory = &local.writer.directory;
    !local.is_of_others() && directory.is_absolute() && directory.join(path).exists()
}
