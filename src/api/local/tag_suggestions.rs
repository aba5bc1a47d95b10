//! Answers which tags a memory could have. Not here: finding them (`search`), adding them (the command `tag`).

use serde_json::{Value, json};

use super::citation;
use event::Problems;
use reply::Reply;
use requests::ApiError;
use requests::listing::TagsRequest;
use search::snapshot::Snapshot;
use search::suggested_tags;

pub(super) fn suggest(request: &TagsRequest, snapshot: &Snapshot) -> Result<Reply, ApiError> {
    let cited = citation::cited_memories(std::slice::from_ref(&request.id), snapshot)?;
    let memory = cited.first().ok_or_else(|| Problems::one("id", "is missing"))?;
    let mut numbered = (0..).zip(snapshot.memories().iter());
    let number = numbered.find(|(_, one)| one.id == memory.id).map(|(number, _)| number);
    let found = suggested_tags(snapshot, number.unwrap_or(u32::MAX), request.limit);
    let (short, operand) = (memory.id.short(), reply::operands(&[&memory.id]));
    let rows = found.iter().map(|one| (one.tag.as_str(), why(one.similar, one.is_named)));
    let width = found.iter().map(|one| one.tag.chars().count()).max().unwrap_or(0);
    let lines: String = rows.map(|(tag, why)| format!("  {tag:<width$}  {why}\n")).collect();
    let text = if found.is_empty() {
        format!(
            "No tag suggests itself for {short}. Add your own: agent-knowledge tag {operand} TAG"
        )
    } else {
        format!(
            "Tags that {short} could have:\n{lines}Add all of them: agent-knowledge tag {operand} --apply"
        )
    };
    let tags: Vec<Value> = found
        .iter()
        .map(|one| json!({ "tag": one.tag, "similar": one.similar, "named": one.is_named }))
        .collect();
    Ok(Reply::new(text, json!({ "id": memory.id.as_str(), "suggested": tags })))
}

fn why(similar: usize, is_named: bool) -> String {
    let have = match similar {
        0 => None,
        1 => Some("1 similar memory has it".to_owned()),
        many => Some(format!("{many} similar memories have it")),
    };
    let named = is_named.then(|| "named here".to_owned());
    named.into_iter().chain(have).collect::<Vec<_>>().join(", ")
}
