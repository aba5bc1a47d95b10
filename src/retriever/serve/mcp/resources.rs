//! The resources: memories as JSON, for programs and for people who browse. Not here: the protocol
//! (`mcp`), how JSON is formed (`render`).

use percent_encoding::percent_decode_str;
use rmcp::model::{Resource, ResourceTemplate};

use super::super::api::{Api, ApiError, LIMIT_MAX, Reply};

/// The newest memories.
pub(super) const RECENT: &str = "memory://recent";
/// One memory; its id follows.
const ITEM: &str = "memory://item/";
/// What every resource is.
pub(super) const MIME: &str = "application/json";

/// Returns the resources that can be listed. The list never changes.
pub(super) fn list() -> Vec<Resource> {
    vec![
        Resource::new(RECENT, "recent")
            .with_title("Recent memories")
            .with_description("The newest memories of all repositories, as JSON")
            .with_mime_type(MIME),
    ]
}

/// Returns the forms of the resources that cannot be listed.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("memory://item/{id}", "item")
            .with_title("One memory")
            .with_description(
                "A memory with its whole history, by id or any unique short form of it",
            )
            .with_mime_type(MIME),
    ]
}

/// Reads one resource.
///
/// # Errors
/// [`ApiError::NotFound`] names what there is.
pub(super) fn read(api: &dyn Api, uri: &str) -> Result<Reply, ApiError> {
    if uri == RECENT {
        return api.recent(LIMIT_MAX);
    }
    match uri
        .strip_prefix(ITEM)
        .map(|id| percent_decode_str(id).decode_utf8_lossy().into_owned())
        .filter(|id| !id.is_empty())
    {
        Some(id) => api.show(&[id]),
        None => Err(ApiError::NotFound(format!(
            "no resource has this address; there are {RECENT} and {ITEM}{{id}}, for example {ITEM}3K7Q2M9A"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fake::Fake;
    use super::*;

    #[test]
    fn an_id_may_come_percent_encoded() {
        let api = Fake::new();
        for (uri, asked) in [
            ("memory://item/3K7Q2M9A", r#"show ["3K7Q2M9A"]"#),
            ("memory://item/jira%3A12%2f3", r#"show ["jira:12/3"]"#),
            ("memory://item/100%", r#"show ["100%"]"#),
            (RECENT, "recent 20"),
        ] {
            assert_eq!(read(&*api, uri).unwrap().text, asked);
        }
    }

    #[test]
    fn an_unknown_address_is_answered_with_the_known_ones() {
        for uri in ["memory://", "memory://item/", "memory://recents", "file:///etc/passwd"] {
            let Err(ApiError::NotFound(message)) = read(&*Fake::new(), uri) else {
                panic!("{uri}")
            };
            assert!(message.contains(RECENT) && message.contains("memory://item/{id}"));
        }
    }
}
