//! How well the built server finds what developers look for, on notes and symptoms of real projects:
//! over MCP, from a directory that belongs to none of them. Not here: tuning; the floors are plain
//! BM25 with identifiers as measured by reference code, and only tell when something broke.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::pieces;
use crate::raw_client::{Client, Era};
use crate::world::World;

/// What plain BM25 with identifiers reaches.
const FLOOR_600: f64 = 0.803;
const FLOOR_FULL: f64 = 0.905;

/// A set of documents, queries, and which document answers which.
struct RetrievalSet {
    documents: Vec<Value>,
    queries: Vec<Value>,
    /// From a query's id to the numbers of its documents.
    relevant: BTreeMap<String, Vec<usize>>,
}

fn json_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl RetrievalSet {
    fn read(folder: &Path) -> Self {
        let documents = json_lines(&folder.join("corpus.jsonl"));
        let ids = documents.iter().map(|document| text(document, "id"));
        let numbers: BTreeMap<&str, usize> = ids.zip(0..).collect();
        let mut relevant: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for line in std::fs::read_to_string(folder.join("qrels.tsv")).unwrap().lines() {
            let [query, document, _] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            relevant.entry(query.to_owned()).or_default().push(numbers[document]);
        }
        let queries = json_lines(&folder.join("queries.jsonl"));
        assert_eq!(
            (documents.len(), queries.len()),
            (484, 782),
            "not the set that the floors are of"
        );
        Self { documents, queries, relevant }
    }

    /// Writes each document as one event, as an agent would have: what happened, and what it learned.
    fn write(&self, world: &World) {
        let mut logs: BTreeMap<&str, String> = BTreeMap::new();
        for (number, document) in self.documents.iter().enumerate() {
            let (first, rest) = text(document, "text").split_once('\n').unwrap_or_default();
            let repo = text(document, "group");
            let event = json!({"id": format!("d{number}"), "timestamp": document["timestamp"], "agent_id": "notes",
                "repo": repo, "event_type": "error", "context": first, "lesson": rest});
            logs.entry(repo).or_default().push_str(&format!("{event}\n"));
        }
        for (repo, log) in logs {
            world.hand_write(&format!("{}.jsonl", repo.replace('/', "+")), log);
        }
    }

    /// The ids of the documents with the text of this one, its own included.
    fn same_text(&self, number: usize) -> impl Iterator<Item = String> {
        let of = |document: &Value| [text(document, "title"), text(document, "text")].concat();
        let wanted = of(&self.documents[number]);
        let same = move |(_, document): &(usize, &Value)| of(document) == wanted;
        self.documents.iter().enumerate().filter(same).map(|(number, _)| format!("d{number}"))
    }

    /// The share of the relevant documents among the first five, over all queries.
    fn recall_at_5(&self, client: &mut Client) -> f64 {
        let mut sum = 0.0;
        for query in &self.queries {
            // The rank alone; how many hits are shown in full is another matter (`benchmark`).
            let asked = json!({"query": text(query, "text"), "limit": 5, "min_relevance": 0});
            let reply = client.told("memory_search", &asked);
            let found = cited(&reply);
            assert!(found.len() <= 5, "{reply}");
            let relevant = &self.relevant[text(query, "id")];
            // Of notes with the same text one is shown for all.
            let is_shown = |number: &usize| self.same_text(*number).any(|id| found.contains(&id));
            let hits = relevant.iter().filter(|number| is_shown(number)).count();
            sum += f64::from(u32::try_from(hits).unwrap())
                / f64::from(u32::try_from(relevant.len()).unwrap());
        }
        sum / f64::from(u32::try_from(self.queries.len()).unwrap())
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap()
}

/// The ids that stand at the ends of a reply's lines.
fn cited(reply: &str) -> Vec<String> {
    let numbered = reply.lines().filter(|line| {
        line.split_once(". [").is_some_and(|(number, _)| number.parse::<u8>().is_ok())
    });
    numbered.map(|line| line.rsplit(" · ").next().unwrap().to_owned()).collect()
}

fn measured(name: &str, recall: f64, floor: f64, start: Instant) {
    eprintln!("{name}: R@5 {recall:.4}, floor {floor}, {:.1} s", start.elapsed().as_secs_f64());
    assert!(recall >= floor, "{name}: R@5 is {recall:.4}, which is below {floor}");
}

fn words_only(name: &str, floor: f64) {
    let Some(folder) = pieces::data(&format!("eval/{name}")) else { return };
    let (set, world, start) = (RetrievalSet::read(&folder), World::new(), Instant::now());
    set.write(&world);
    let mut client = Client::open(&world, Era::Modern);
    client.wait_for_all();
    measured(&format!("{name}, words"), set.recall_at_5(&mut client), floor, start);
}

// S-RANK-1
#[test]
fn words_find_symptoms_of_short_notes_as_well_as_plain_bm25() {
    words_only("agent_lessons_600", FLOOR_600);
}

// S-RANK-1
#[test]
fn words_find_symptoms_of_long_notes_as_well_as_plain_bm25() {
    words_only("agent_lessons", FLOOR_FULL);
}

// S-RANK-2, S-RANK-3
#[test]
fn model_and_words_together_find_symptoms_as_well_as_plain_bm25() {
    let Some(folder) = pieces::data("eval/agent_lessons_600") else { return };
    let Some(model) = pieces::model() else { return };
    let (set, start) = (RetrievalSet::read(&folder), Instant::now());
    let world = World::with_model(model);
    set.write(&world);
    let indexed = world.asked(&["index"]);
    // Notes with the same words share their vector.
    let vectors = ["embedded", "from_cache"].map(|way| indexed[way].as_u64().unwrap());
    assert_eq!((vectors.iter().sum(), &indexed["failed"]), (484, &json!(0)), "{indexed}");
    let mut client = Client::open(&world, Era::Modern);
    client.wait_for_all();
    // The vectors come from the cache, newest first; a sample of all of them shows that they came.
    set.documents
        .iter()
        .step_by(60)
        .for_each(|document| client.wait_for_meaning(text(document, "title")));
    measured("agent_lessons_600, hybrid", set.recall_at_5(&mut client), FLOOR_600, start);
}

#[test]
fn lessons_of_real_projects_answer_a_symptom() {
    let Some(logs) = pieces::data("real-logs") else { return };
    let Some(folder) = pieces::data("eval/agent_lessons") else { return };
    let (set, world) = (RetrievalSet::read(&folder), World::new());
    for log in std::fs::read_dir(logs).unwrap().map(|entry| entry.unwrap().path()) {
        world.hand_write(log.file_name().unwrap().to_str().unwrap(), std::fs::read(&log).unwrap());
    }
    let status = world.asked(&["status"]);
    assert_eq!((&status["memories"], &status["skipped"]), (&json!(484), &json!(0)), "{status}");
    let mut client = Client::open(&world, Era::Legacy);
    client.wait_for_all();
    let some: Vec<&Value> = set.queries.iter().step_by(40).collect();
    let mut answered = 0;
    for (place, query) in some.iter().enumerate() {
        let [number, ..] = set.relevant[text(query, "id")][..] else { panic!("{query}") };
        let asked = json!({"query": text(query, "text"), "min_relevance": 0});
        let over_mcp = cited(&client.told("memory_search", &asked));
        let shown = client.told("memory_search", &json!({"ids": over_mcp, "max_tokens": 8_000}));
        let title = format!("\ncontext: {}\n", text(&set.documents[number], "title"));
        answered += usize::from(shown.contains(&title));
        // A command reads all the logs anew, so only some are asked there: the answers are the same.
        if place % 4 == 0 {
            let args = ["search", "--json", "--min-relevance", "0", "--", text(query, "text")];
            let found = world.agent_knowledge(&args).done();
            let found: Value = serde_json::from_str(&found).unwrap();
            let found = found["memories"].as_array().unwrap().iter();
            let ids: Vec<&str> = found.map(|memory| text(memory, "id")).collect();
            let same = ids.iter().zip(&over_mcp).all(|(id, short)| id.ends_with(short.as_str()));
            assert!(same && ids.len() == over_mcp.len(), "{ids:?} {over_mcp:?}");
        }
    }
    let most = some.len() * 3 / 4;
    assert!(answered >= most, "{answered} of {} answered, {most} expected", some.len());
}
