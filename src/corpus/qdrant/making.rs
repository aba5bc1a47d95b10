//! Makes the collections, with an index for every field that is filtered by: a server in strict mode refuses to filter by others. Not
//! here: what is in them.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::rest_client::{CollectionKind, HttpMethod, QdrantCorpus, wrong};
use super::sending::{PayloadPoint, StatePayload, UpdateStatus, upsert};
use super::visible_state::{BatchState, STATE, look_up_points, state_with};
use crate::contract::Deadline;
use crate::corpus_error::CorpusError;
use crate::counting::VECTOR_DIMENSIONS;

/// How long making the collections may take.
const MAKING: Duration = Duration::from_secs(60);
/// The first version of the server that answers every query of ours.
const VERSION_MIN: (u32, u32) = (1, 13);

/// What the server says of itself.
#[derive(Deserialize)]
struct Banner {
    version: String,
}

/// Makes what is missing.
pub(super) fn make_collections(corpus: &QdrantCorpus) -> Result<(), CorpusError> {
    let until = Deadline::within(MAKING);
    let banner: Banner = serde_json::from_slice(&corpus.banner(until)?).map_err(|_| wrong())?;
    let mut numbers = banner.version.split('.').map(|part| part.parse::<u32>().ok());
    let version = numbers.next().flatten().zip(numbers.next().flatten()).ok_or_else(wrong)?;
    if version < VERSION_MIN {
        let (major, minor) = VERSION_MIN;
        return Err(CorpusError::Wrong(format!("Qdrant {major}.{minor} at least is needed")));
    }
    let sparse = json!({"words": {}});
    let dense = json!({"meaning": {"size": VECTOR_DIMENSIONS, "distance": "Cosine"}});
    let integer = |name: &'static str| (name, json!("integer"));
    let keyword = |name: &'static str| (name, json!("keyword"));
    let of_tenant = ("repo", json!({"type": "keyword", "is_tenant": true}));
    let fields = [
        integer("from"),
        integer("until"),
        integer("live"),
        integer("time"),
        of_tenant,
        keyword("kind"),
        keyword("agent"),
        keyword("tags"),
    ];
    // What we write is taken away again by its fields, so nothing is written to a collection of somebody else.
    let is_ours = is_there(corpus, CollectionKind::Lookup, until)? && has_state(corpus, until)?;
    if !is_ours && is_there(corpus, CollectionKind::Search, until)? {
        return Err(CorpusError::Wrong("the collection is not ours; name a new one".to_owned()));
    }
    // The vectors are there because a collection must have some; no point has one.
    let kept_fields = [integer("from"), integer("until"), integer("count.since"), keyword("shape")];
    made(
        corpus,
        CollectionKind::Lookup,
        (&json!({"sparse_vectors": sparse}), &kept_fields),
        until,
    )?;
    // The state comes before the collection of searches: it says that this is ours.
    if !is_ours {
        let state = StatePayload { state: BatchState::default() };
        upsert(
            corpus,
            CollectionKind::Lookup,
            [PayloadPoint::new(STATE.to_owned(), state)],
            until,
        )?;
    }
    let form = json!({"vectors": dense, "sparse_vectors": sparse});
    made(corpus, CollectionKind::Search, (&form, &fields), until)?;
    state_with(corpus, &[], until).map(drop)
}

fn is_there(
    corpus: &QdrantCorpus,
    of: CollectionKind,
    until: Deadline,
) -> Result<bool, CorpusError> {
    #[derive(Deserialize)]
    struct Exists {
        exists: bool,
    }
    let there: Exists = corpus.call((HttpMethod::Get, of, "/exists"), &[], until)?;
    Ok(there.exists)
}

fn has_state(corpus: &QdrantCorpus, until: Deadline) -> Result<bool, CorpusError> {
    let points = look_up_points::<IgnoredAny>(corpus, &[STATE.to_owned()], &["state"], until)?;
    Ok(!points.is_empty())
}

fn made(
    corpus: &QdrantCorpus,
    of: CollectionKind,
    (form, fields): (&Value, &[(&str, Value)]),
    until: Deadline,
) -> Result<(), CorpusError> {
    if !is_there(corpus, of, until)? {
        let _: IgnoredAny =
            corpus.call((HttpMethod::Put, of, ""), form.to_string().as_bytes(), until)?;
    }
    // One that is there is fine, and one that was broken off is made good.
    for (name, schema) in fields {
        let body = json!({"field_name": name, "field_schema": schema}).to_string();
        let done: UpdateStatus =
            corpus.call((HttpMethod::Put, of, "/index?wait=true"), body.as_bytes(), until)?;
        done.check()?;
    }
    Ok(())
}
