//! What past sessions may teach, for a person to answer. Not here: finding it (`sessions::candidate_rows`), saving it
//! (`retriever`).

use serde_json::{Value, json};

use super::reply::Reply;
use super::session_disclosure::{marked, part_mark};
use super::session_line::{DAY, NOTICE, counted, line, shown_id, time, tool_title};
use guard::injection::Suspicion;
use sessions::candidate_rows::{RefusedPair, WaitingCandidate};
use sessions::command_pair::CandidateClass;
use sessions::lesson_draft::LessonDraft;
use sessions::session_judgement::{candidate_suspicion, commands_suspicion};

/// Characters of a command, an error or a question that are shown.
const TEXT_CHARACTERS: usize = 200;

/// Characters of a fingerprint that name a candidate: `fix` and eight digits.
const NAME_CHARACTERS: usize = 11;

/// Returns the beginning of a fingerprint, by which commands find the candidate.
#[must_use]
pub fn short_fingerprint(fingerprint: &str) -> &str {
    fingerprint.get(..NAME_CHARACTERS).unwrap_or(fingerprint)
}

/// Lists candidates and, where they were asked for, refused pairs and what a model drafted, in the order of the candidates.
/// `all` is the number of those that wait.
#[must_use]
pub fn candidates_listed(
    shown: &[WaitingCandidate],
    all: usize,
    refused: Option<&[RefusedPair]>,
    drafts: Option<&[LessonDraft]>,
) -> Reply {
    let is_explained = refused.is_some();
    let refused = refused.unwrap_or_default();
    let drafted = drafts.unwrap_or_default().iter().map(Some).chain(std::iter::repeat(None));
    let rows = shown.iter().zip(drafted);
    let listed: Vec<_> = rows.clone().map(|(each, draft)| candidate_json(each, draft)).collect();
    let json = json!({
        "candidates": listed,
        "waiting": all,
        "refused": refused.iter().map(refused_json).collect::<Vec<_>>(),
    });
    let mut text = if shown.is_empty() {
        "No candidate for a lesson waits for your answer.".to_owned()
    } else {
        format!(
            "**Candidates for lessons:** {} of {all}; {NOTICE}. Nothing is saved until you accept it.",
            shown.len()
        )
    };
    for (number, (waiting, draft)) in (1..).zip(rows.clone()) {
        text.push_str(&format!("\n\n{number}. {}", candidate_text(waiting, is_explained, draft)));
    }
    match (drafts, shown.first()) {
        (Some(_), Some(_)) => text.push_str(&draft_hints(rows)),
        (None, Some(first)) => {
            let name = short_fingerprint(&first.candidate.fingerprint);
            text.push_str(&format!(
                "\n\nKeep one: agent-knowledge sessions review --accept {name} (in your words: --text \"...\")\nNever offer it again: agent-knowledge sessions review --reject {name}"
            ));
        }
        (_, None) => {}
    }
    if !refused.is_empty() {
        text.push_str(&format!("\n\n**Refused:** {}\n", counted(refused.len() as u64, "pair")));
        refused.iter().for_each(|pair| text.push_str(&refused_text(pair)));
    }
    Reply::new(text, json)
}

/// Tells what to do with drafts: keep the first, and reject those in which the model found nothing.
fn draft_hints<'a>(
    rows: impl Iterator<Item = (&'a WaitingCandidate, Option<&'a LessonDraft>)>,
) -> String {
    let (mut written, mut empty) = (None, Vec::new());
    for (waiting, draft) in rows {
        let name = short_fingerprint(&waiting.candidate.fingerprint);
        match draft {
            Some(LessonDraft::Written(_)) => written = written.or(Some(name)),
            Some(LessonDraft::Nothing(_)) => empty.push(name),
            Some(LessonDraft::Refused(_)) | None => {}
        }
    }
    let mut text = String::from("\n");
    if let Some(name) = written {
        text.push_str(&format!(
            "\nKeep one: agent-knowledge sessions review --draft --accept {name} (the model is asked again; in these or other words: --accept {name} --text \"...\")"
        ));
    }
    if !empty.is_empty() {
        let names = empty.join(",");
        text.push_str(&format!(
            "\nNever offer again what teaches nothing: agent-knowledge sessions review --reject {names}"
        ));
    }
    text.trim_end().to_owned()
}

/// Returns one candidate as lines. What a model drafted stands in the place of the lesson that the rules wrote.
#[must_use]
pub fn candidate_text(
    waiting: &WaitingCandidate,
    is_explained: bool,
    draft: Option<&LessonDraft>,
) -> String {
    let candidate = &waiting.candidate;
    let shown = |text: &str| line(text, TEXT_CHARACTERS);
    let mark = part_mark(candidate_suspicion(candidate, &waiting.asked));
    let mut text = format!("{mark}{}", short_fingerprint(&candidate.fingerprint));
    if candidate.proofs > 1 {
        text.push_str(&format!(" · seen in {} unrelated sessions", candidate.proofs));
    }
    text.push_str(&format!(" · {}", shown(waiting.session.repo.as_deref().unwrap_or_default())));
    match candidate.class {
        CandidateClass::StepBetween | CandidateClass::OtherForm => {
            let first_line = candidate.error.lines().next().unwrap_or_default();
            let worked: Vec<_> = candidate.worked.iter().map(|command| shown(command)).collect();
            text.push_str(&format!("\n   error:  {}", shown(first_line)));
            text.push_str(&format!("\n   failed: {}", shown(&candidate.failed)));
            text.push_str(&format!("\n   worked: {}", worked.join(", then ")));
        }
        CandidateClass::Direction => text.push_str("\n   you told an agent:"),
        CandidateClass::Choice => text.push_str("\n   you decided:"),
    }
    let is_remark = matches!(candidate.class, CandidateClass::Direction | CandidateClass::Choice);
    if is_remark && draft.is_some() {
        // Without a draft the lesson repeats it.
        text.push_str(&format!(" {}", shown(&candidate.worked.join(" "))));
    }
    let lesson = draft.map_or_else(
        || format!("lesson: {}", shown(candidate.draft.lesson.as_deref().unwrap_or_default())),
        draft_text,
    );
    text.push_str(&format!("\n   {lesson}"));
    let seen = candidate.sightings.first();
    text.push_str(&format!(
        "\n   asked:  {} · [{}] {}, {}#{}",
        shown(&waiting.asked),
        time(seen.and_then(|seen| seen.at_ms), DAY),
        tool_title(&waiting.session.tool),
        shown_id(&waiting.session),
        seen.map_or(0, |seen| seen.ordinal),
    ));
    if is_explained && let Some(gates) = &candidate.gates {
        let signals: Vec<String> = gates.signals.iter().map(ToString::to_string).collect();
        text.push_str(&format!("\n   why:    {}", signals.join("; ")));
    }
    text
}

/// Returns what a model drafted as one line. A lesson is shown in full, because this is what is saved.
#[must_use]
pub fn draft_text(draft: &LessonDraft) -> String {
    match draft {
        LessonDraft::Written(lesson) => format!("draft: {lesson}"),
        LessonDraft::Nothing(reason) if reason.is_empty() => "draft: nothing".to_owned(),
        LessonDraft::Nothing(reason) => format!("draft: nothing ({reason})"),
        LessonDraft::Refused(why) => format!("draft refused: {why}"),
    }
}

/// Returns what a model drafted, with its state as the name of the only field.
#[must_use]
pub fn draft_json(draft: &LessonDraft) -> Value {
    match draft {
        LessonDraft::Written(lesson) => json!({ "lesson": lesson }),
        LessonDraft::Nothing(reason) => json!({ "nothing": reason }),
        LessonDraft::Refused(why) => json!({ "refused": why }),
    }
}

fn candidate_json(waiting: &WaitingCandidate, draft: Option<&LessonDraft>) -> Value {
    let candidate = &waiting.candidate;
    let signals = candidate.gates.iter().flat_map(|gates| &gates.signals);
    let sightings = candidate.sightings.iter().map(
        |seen| json!({ "session": seen.session, "exchange": seen.ordinal, "at_ms": seen.at_ms }),
    );
    let mut json = json!({
        "fingerprint": candidate.fingerprint,
        "kind": class_name(candidate.class),
        "repo": waiting.session.repo,
        "tool": waiting.session.tool,
        "error": candidate.error,
        "failed": candidate.failed,
        "worked": candidate.worked,
        "lesson": candidate.draft.lesson,
        "asked": waiting.asked,
        "unrelated_sessions": candidate.proofs,
        "seen": sightings.collect::<Vec<_>>(),
        "signals": signals.map(ToString::to_string).collect::<Vec<_>>(),
    });
    if let (Some(draft), Some(fields)) = (draft, json.as_object_mut()) {
        fields.insert("draft".to_owned(), draft_json(draft));
    }
    marked(json, candidate_suspicion(candidate, &waiting.asked))
}

fn class_name(class: CandidateClass) -> &'static str {
    match class {
        CandidateClass::StepBetween => "step-between",
        CandidateClass::OtherForm => "other-form",
        CandidateClass::Direction => "direction",
        CandidateClass::Choice => "decision",
    }
}

fn reasons(refused: &RefusedPair) -> Vec<String> {
    refused.gates.refusals.iter().map(ToString::to_string).collect()
}

fn refused_text(refused: &RefusedPair) -> String {
    let shown = |text: &str| line(text, TEXT_CHARACTERS);
    format!(
        "\n- {}`{}`, then `{}`: {} · {}#{}",
        part_mark(of_refused(refused)),
        shown(&refused.pair.failed.core),
        shown(&refused.pair.worked.core),
        reasons(refused).join("; "),
        shown_id(&refused.session),
        refused.pair.ordinal,
    )
}

fn refused_json(refused: &RefusedPair) -> Value {
    let json = json!({
        "failed": refused.pair.failed.core,
        "worked": refused.pair.worked.core,
        "reasons": reasons(refused),
        "session": refused.session.native_id,
        "exchange": refused.pair.ordinal,
    });
    marked(json, of_refused(refused))
}

fn of_refused(refused: &RefusedPair) -> Option<Suspicion> {
    commands_suspicion([refused.pair.failed.core.as_str(), &refused.pair.worked.core])
}
