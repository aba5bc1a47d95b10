//! What is related to a memory or a file. Not here: how links are followed (`local::related`).

use serde::{Deserialize, Serialize};

use super::bounds::{SEARCH_TOKENS_DEFAULT, max_tokens_rule, repo_rule};
use super::define::request;
use super::parameter::Presence;
use super::rule::{Rule, both, choice, text, time, whole};
use event::Relation;
use event::limits::FILE_BYTES_MAX;
use search::TimePoint;
use search::links::LinkDirection;

/// Most steps of a walk: further on everything is connected with everything.
pub const DEPTH_MAX: usize = 3;
/// Steps of a walk from a memory by default.
pub const DEPTH_DEFAULT: usize = 1;
/// Steps of a walk from a file that is to change, by default: the memories that name it, and what they are linked to.
pub const DEPTH_IMPACT: usize = 2;

request! {
    /// What is related to a memory or a file.
    #[derive(Eq)]
    pub struct RelatedRequest {
        /// Where the walk begins
        start: WalkStart = start();
        /// How many steps to follow
        depth: Option<usize> = whole(1..=DEPTH_MAX).described_default("1").option("depth", "N").for_tools("");
        /// Which links to follow: outbound, inbound or both
        way: LinkDirection = choice().with_name("direction").or_word(LinkDirection::Both).option("direction", "WAY").unlisted();
        /// Only by this relation
        relation: Option<Relation> = choice().option("relation", "RELATION").for_tools("e.g. depends_on");
        /// Use the links of that time: a time, a day or an age
        as_of: Option<TimePoint> = time().option("as-of", "TIME").unlisted();
        /// The repository of a file
        repo: Option<String> = repo_rule().described_default("that of this directory").for_tools("");
        /// Most tokens of the answer
        max_tokens: usize = max_tokens_rule().or(SEARCH_TOKENS_DEFAULT);
    }
}

request! {
    /// What a change to a file may affect.
    pub struct ImpactArguments {
        /// The file
        file: String = text(FILE_BYTES_MAX).required("is empty; give the path of a file")
            .positional("FILE", Presence::Required);
        /// How many steps to follow
        depth: usize = whole(1..=DEPTH_MAX).or(DEPTH_IMPACT).option("depth", "N");
        /// The repository
        repo: Option<String> = repo_rule().described_default("that of this directory");
        /// Most tokens of the answer
        max_tokens: usize = max_tokens_rule().or(SEARCH_TOKENS_DEFAULT);
    }
}

/// Where a walk begins, and what for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalkStart {
    /// A memory, by id or any unique short form of it, or a file: what is related to it.
    Thing(String),
    /// A file: what a change to it may affect.
    Change(String),
}

impl RelatedRequest {
    /// Returns how many steps to follow.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth.unwrap_or(match self.start {
            WalkStart::Thing(_) => DEPTH_DEFAULT,
            WalkStart::Change(_) => DEPTH_IMPACT,
        })
    }
}

impl From<ImpactArguments> for RelatedRequest {
    fn from(ImpactArguments { file, depth, repo, max_tokens }: ImpactArguments) -> Self {
        let start = WalkStart::Change(file);
        Self { start, depth: Some(depth), repo, max_tokens, ..Self::default() }
    }
}

fn start() -> Rule<WalkStart> {
    let id = text(FILE_BYTES_MAX).with_name("id").with_text("The id of a memory, or a file");
    let file = text(FILE_BYTES_MAX).with_name("file").with_text("A file that you will change");
    let id = id.positional("ID|FILE", Presence::Required).for_tools("A memory");
    both(id, file.for_tools(""), |id, file, fields| {
        match (&id, &file) {
            (None, None) => {
                fields.report_missing("id", "is empty; give the id of a memory, or a file")
            }
            (Some(_), Some(_)) => {
                fields.report_missing("file", "cannot be given together with id; give one of them");
            }
            _ => {}
        }
        match file {
            Some(file) => WalkStart::Change(file),
            None => WalkStart::Thing(id.unwrap_or_default()),
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::define::ApiRequest;
    use event::Problems;

    fn read(value: &Value) -> Result<RelatedRequest, Problems> {
        RelatedRequest::from_tool(value.as_object().unwrap().clone())
    }

    // S-LINK-9, S-LINK-10
    #[test]
    fn a_call_names_a_memory_or_a_file() {
        let memory = read(
            &json!({"id": "m1", "depth": "2", "relation": "depends-on", "direction": "Outbound"}),
        )
        .unwrap();
        assert_eq!((memory.depth(), &memory.start), (2, &WalkStart::Thing("m1".to_owned())));
        assert_eq!(
            (memory.relation, memory.way),
            (Some(Relation::DependsOn), LinkDirection::Outbound)
        );
        let file = read(&json!({"file": "src/a.rs", "id": null})).unwrap();
        assert_eq!((file.depth(), file.way), (DEPTH_IMPACT, LinkDirection::Both));
        assert_eq!(file.start, WalkStart::Change("src/a.rs".to_owned()));
        let wrong = json!({"depth": 4, "direction": "up", "relation": "likes"});
        let problems = read(&wrong).unwrap_err().to_string();
        for told in [
            "id: is empty",
            "depth: must be a whole number from 1 to 3",
            "direction: must be one of outbound, inbound, both",
            "relation: must be one of",
        ] {
            assert!(problems.contains(told), "{told}: {problems}");
        }
        assert!(read(&json!({"id": "a", "file": "b"})).is_err());
    }
}
