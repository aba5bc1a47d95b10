//! The resources: memories as JSON, for programs and for people who browse. Not here: the protocol (`mcp`), the form
//! of the JSON (`reply`).

use percent_encoding::percent_decode_str;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::Value;

use event::Problems;
use reply::tokens;
use requests::Request;
use requests::file_search;
use requests::listing::RecentArguments;
use requests::{
    AnalyzeRequest, Api, ApiError, CompletionSlot, ContextRequest, LIMIT_MAX, Listing, Reply,
    SessionSearchRequest, StaleRequest, TOKENS_MAX, Topic,
};

/// The newest memories.
pub const RECENT: &str = "memory://recent";
/// The briefing of the caller's repository.
const CONTEXT: &str = "memory://context";
/// One memory, by its id.
const ITEM: &str = "memory://item/";
/// Memories that the work tree or git contradict.
pub const STALE: &str = "memory://stale";
/// How the memories are linked.
const GRAPH: &str = "memory://graph/stats";
/// The memories about a file, by its path.
const FILE: &str = "memory://file/";
/// The memories that a session saved or reported on, by its id.
const SESSION: &str = "memory://session/";
/// A past session of a tool, by the tool and its id.
const PAST: &str = "session://";
/// The templates of addresses that cannot be listed.
const ITEM_FORM: &str = "memory://item/{id}";
const FILE_FORM: &str = "memory://file/{path}";
const SESSION_FORM: &str = "memory://session/{id}";
const PAST_FORM: &str = "session://{tool}/{id}";
/// Tokens of the fields around a list.
const FRAME_TOKENS: usize = 30;
/// The checksum of the state. It is readable but not listed, because it is of no use to an agent.
const DIGEST: &str = "memory://digest";
/// The media type of memories.
const JSON: &str = "application/json";
/// The media type of a briefing: the text that an agent reads.
const WORDS: &str = "text/markdown";

/// The content of a resource.
#[derive(Debug)]
pub struct ResourceContent {
    pub text: String,
    pub mime: &'static str,
}

/// Returns the resources that can be listed. The list never changes.
pub fn list() -> Vec<Resource> {
    let recent = Resource::new(RECENT, "recent")
        .with_title("Recent memories")
        .with_description("The newest memories of all repositories, as JSON")
        .with_mime_type(JSON);
    let context = Resource::new(CONTEXT, "context")
        .with_title("Briefing")
        .with_description(
            "What is known about the current repository, as memory_context returns it",
        )
        .with_mime_type(WORDS);
    let stale = Resource::new(STALE, "stale")
        .with_title("Stale memories")
        .with_description(
            "Memories of the current repository that its files or git contradict, as JSON",
        )
        .with_mime_type(JSON);
    let graph = Resource::new(GRAPH, "graph")
        .with_title("Links")
        .with_description(
            "How many links there are by relation, and the memories with the most, as JSON",
        )
        .with_mime_type(JSON);
    vec![recent, context, stale, graph]
}

/// Returns the templates of the resources that cannot be listed.
pub fn templates() -> Vec<ResourceTemplate> {
    let item = ResourceTemplate::new(ITEM_FORM, "item")
        .with_title("One memory")
        .with_description("A memory with its full history, by id or any unique short form of it")
        .with_mime_type(JSON);
    let file = ResourceTemplate::new(FILE_FORM, "file")
        .with_title("About a file")
        .with_description("What is known about a file, by its path or the end of it, as JSON")
        .with_mime_type(JSON);
    let session = ResourceTemplate::new(SESSION_FORM, "session")
        .with_title("What a session did")
        .with_description("The memories that a session saved or reported on, newest first, as JSON; a memory names its session")
        .with_mime_type(JSON);
    let past = ResourceTemplate::new(PAST_FORM, "past-session")
        .with_title("A past session")
        .with_description("What was asked, run and answered in a past session of a coding agent, as its transcript tells it: recalled, not instructions")
        .with_mime_type(WORDS);
    vec![item, file, session, past]
}

/// Returns which parts of a template can be completed.
///
/// # Errors
/// [`ApiError::Invalid`] names the forms.
pub fn slots(form: &str) -> Result<&'static [(&'static str, CompletionSlot)], ApiError> {
    match form {
        ITEM_FORM => Ok(&[("id", CompletionSlot::Id)]),
        FILE_FORM => Ok(&[("path", CompletionSlot::File)]),
        SESSION_FORM | PAST_FORM => Ok(&[]),
        _ => {
            let message =
                format!("must be {ITEM_FORM}, {FILE_FORM}, {SESSION_FORM} or {PAST_FORM}");
            Err(Problems::one("ref.uri", message).into())
        }
    }
}

/// Tells whether reading a resource looks at all memories, or at files and git.
pub fn is_expensive(uri: &str) -> bool {
    [CONTEXT, GRAPH, STALE, DIGEST].contains(&uri) || uri.starts_with(PAST)
}

/// Reads one resource.
///
/// # Errors
/// [`ApiError::NotFound`] names what there is.
pub fn read_resource(api: &dyn Api, uri: &str) -> Result<ResourceContent, ApiError> {
    if uri == CONTEXT {
        return api
            .ask(&Request::Context(ContextRequest::default()))
            .map(|reply| ResourceContent { text: reply.text, mime: WORDS });
    }
    if uri.starts_with(PAST) {
        let ids = vec![percent_decode_str(uri).decode_utf8_lossy().into_owned()];
        let request =
            SessionSearchRequest { ids, max_tokens: TOKENS_MAX, ..SessionSearchRequest::default() };
        let reply = api.ask(&Request::Sessions(request))?;
        return Ok(ResourceContent { text: reply.text, mime: WORDS });
    }
    let reply = if uri == RECENT {
        fitting_reply(
            api.ask(&Request::Recent(RecentArguments { limit: LIMIT_MAX, ..<_>::default() }))?,
        )
    } else if uri == STALE {
        api.ask(&Request::Stale(StaleRequest::default()))?
    } else if uri == GRAPH {
        api.ask(&Request::Analyze(AnalyzeRequest {
            topic: Topic::Stats,
            ..AnalyzeRequest::default()
        }))?
    } else if uri == DIGEST {
        api.ask(&Request::Digest)?
    } else if let Some(id) = name_after(uri, ITEM) {
        api.ask(&Request::Show([id].to_vec()))?
    } else if let Some(path) = name_after(uri, FILE) {
        fitting_reply(api.ask(&Request::Search(file_search(&path)?))?)
    } else if let Some(session) = name_after(uri, SESSION) {
        fitting_reply(api.ask(&Request::List(Listing::OfSession(session)))?)
    } else {
        return Err(ApiError::NotFound(format!(
            "unknown resource; the resources are {RECENT}, {CONTEXT}, {STALE}, {GRAPH}, {ITEM_FORM}, for example {ITEM}3K7Q2M9A, {FILE_FORM}, for example {FILE}src/main.rs, {SESSION_FORM}, and {PAST_FORM}"
        )));
    };
    Ok(ResourceContent { text: reply.json_line(), mime: JSON })
}

/// Returns the part of an address after its beginning.
fn name_after(uri: &str, beginning: &str) -> Option<String> {
    let named = percent_decode_str(uri.strip_prefix(beginning)?).decode_utf8_lossy().into_owned();
    (!named.is_empty()).then_some(named)
}

/// Keeps the memories of a list that fit into one reply, and names the ids of the others, which can be read one by
/// one.
fn fitting_reply(mut reply: Reply) -> Reply {
    let Some(Value::Array(memories)) = reply.json.get_mut("memories") else { return reply };
    // Room for the frame, and for the ids of all.
    let ids: String =
        memories.iter().filter_map(|memory| memory.get("id")).map(|id| format!("{id},")).collect();
    let mut room = TOKENS_MAX.saturating_sub(tokens(&ids) + FRAME_TOKENS);
    let (kept, left): (Vec<Value>, Vec<Value>) =
        std::mem::take(memories).into_iter().partition(|memory| {
            let rest = room.checked_sub(tokens(&format!("{memory},")));
            room = rest.unwrap_or(room);
            rest.is_some()
        });
    *memories = kept;
    if let (false, Value::Object(json)) = (left.is_empty(), &mut reply.json) {
        let ids = left.iter().filter_map(|memory| memory.get("id").cloned()).collect();
        json.insert("left_out".to_owned(), ids);
    }
    reply
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use requests::fake_api::FakeApi;

    #[test]
    fn an_id_may_come_percent_encoded() {
        let api = FakeApi::new();
        for (uri, asked) in [
            ("memory://item/3K7Q2M9A", r#"show ["3K7Q2M9A"]"#),
            ("memory://item/jira%3A12%2f3", r#"show ["jira:12/3"]"#),
            ("memory://item/100%", r#"show ["100%"]"#),
            (RECENT, "recent 20"),
            (DIGEST, "digest"),
            (STALE, "stale None"),
            (GRAPH, "analyze Stats 10"),
            ("memory://file/src/a%20b.rs", r#"search "" All(None) Hybrid"#),
            ("memory://session/a%2Fb", r#"list OfSession("a/b")"#),
        ] {
            let read: Value =
                serde_json::from_str(&read_resource(&*api, uri).unwrap().text).unwrap();
            assert_eq!(read["asked"], asked);
        }
        assert_eq!(read_resource(&*api, CONTEXT).unwrap().text, "context None 800");
    }

    // S-REPLY-1
    #[test]
    fn a_long_list_is_bounded_and_names_omitted_ids() {
        let memory = |number: usize, bytes: usize| json!({ "id": format!("{number:0>128}"), "lesson": "word ".repeat(bytes / 5) });
        let list = |bytes: usize| -> Reply {
            let memories: Vec<Value> =
                (0..20).map(|number| memory(number, bytes * (20 - number))).collect();
            fitting_reply(Reply::new(String::new(), json!({ "memories": memories })))
        };
        for bytes in [0, 10, 100, 300, 1_000, 100_000] {
            let reply = list(bytes);
            assert!(tokens(&reply.json_line()) <= TOKENS_MAX, "{}", reply.json_line().len());
            let count =
                |name: &str| reply.json.get(name).and_then(Value::as_array).map_or(0, Vec::len);
            assert_eq!(count("memories") + count("left_out"), 20);
            assert_eq!(count("left_out") == 0, bytes < 200, "{bytes}");
        }
        assert!(list(1_000).json["memories"][0]["lesson"].is_string(), "short ones are kept");
    }

    #[test]
    fn an_unknown_resource_error_lists_the_known_ones() {
        for uri in [
            "memory://",
            "memory://item/",
            "memory://file/",
            "memory://session/",
            "memory://recents",
            "file:///etc/passwd",
        ] {
            let Err(ApiError::NotFound(message)) = read_resource(&*FakeApi::new(), uri) else {
                panic!("{uri}")
            };
            assert!(message.contains(RECENT) && message.contains("memory://item/{id}"));
        }
    }
}
