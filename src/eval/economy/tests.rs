//! Costs computed by hand, and the exact formats of other tools. Not here: whole runs (`tests/integration`).

use super::*;
use crate::real_tokens::tokens;
use event::DecodedLine;

const LINE: &str = concat!(
    r#"{"id":"m1","timestamp":"2026-01-02T03:04:05Z","agent_id":"a","repo":"api","event_type":"error","#,
    r#""context":"npm fails","command":"npm ci","lesson":"Use 20","success_rate":"9/10","tags":["npm","node"]}"#,
);

fn event(line: &str) -> Event {
    let DecodedLine::Event(event) = codec::decode(line.as_bytes(), "") else { panic!("{line}") };
    *event
}

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-12)
}

#[test]
fn all_tokens_are_divided_by_the_answered_queries() {
    let mut cost = AnswerCost::default();
    let of = |numbers: &[usize]| -> BTreeSet<usize> { numbers.iter().copied().collect() };
    cost.add("one word ".repeat(5).trim_end(), &of(&[1, 2]), &of(&[2, 3]));
    cost.add(&"one word ".repeat(5), &of(&[1]), &of(&[4]));
    cost.add("one word", &of(&[5]), &of(&[]));
    assert_eq!(cost, AnswerCost { queries: 3, answerable: 2, answered: 1, tokens: 23 });
    assert!(near(cost.mean_tokens(), 23.0 / 3.0));
    assert!(near(cost.share_answered(), 0.5));
    assert!(near(cost.tokens_per_answer(), 23.0));
    assert_eq!(AnswerCost::default().tokens_per_answer(), None);
    assert_eq!(AnswerCost::default().mean_tokens(), None);
}

#[test]
fn a_reply_shows_what_its_lines_cite_and_nothing_else() {
    let text =
        "**Relevant Memories (1):**\n\n1. [2026-01-02] npm fails: as in m2 · api, a · m1\n(1 more)";
    assert!(is_cited(text, &event(LINE)));
    assert!(!is_cited(text, &event(&LINE.replace("m1", "m2"))));
    assert!(!is_cited(text, &event(&LINE.replace("m1", "1"))));
}

#[test]
fn a_full_note_is_the_line_of_the_log() {
    assert_eq!(line(&event(LINE)), format!("{LINE}\n"));
    assert_eq!(tokens(&line(&event(LINE))), 65);
}

#[test]
fn the_forms_of_others_hold_the_same_and_look_like_theirs() {
    let one = event(LINE);
    let bare = event(r#"{"id":"m2","event_type":"fact","lesson":"No"}"#);
    let graph = forms::server_memory(&[&one]);
    let expected = r#"{
  "entities": [
    {
      "name": "m1",
      "entityType": "error",
      "observations": [
        "npm fails",
        "Use 20",
        "command: npm ci",
        "9/10 success"
      ]
    }
  ],
  "relations": []
}"#;
    assert_eq!(graph, expected);
    assert_eq!(tokens(&graph), 67);
    let expected = concat!(
        r#"[{"id":"m1","memory":"npm fails: Use 20: npm ci","score":0.7312,"created_at":"2026-01-02T03:04:05Z","#,
        r#""metadata":{"repo":"api","event_type":"error","tags":["npm","node"],"success_rate":"9/10"}}]"#,
    );
    assert_eq!(forms::mem0(&[&one]), expected);
    let expected = "---\ntitle: npm fails\ntype: note\ntags: [npm, node]\npermalink: m1\n---\n\n# npm fails\n\n\
                    ## Observations\n- [error] Use 20 #npm #node\n- [command] npm ci\n- [success] 9/10\n\n\
                    ---\ntitle: m2\ntype: note\ntags: []\npermalink: m2\n---\n\n# m2\n\n## Observations\n- [fact] No\n";
    assert_eq!(forms::basic_memory(&[&one, &bare]), expected);
}
