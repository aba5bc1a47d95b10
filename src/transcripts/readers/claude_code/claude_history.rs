//! The prompts that Claude Code keeps in `history.jsonl` after it has deleted the transcripts: of each session only what
//! the person typed. Not here: transcripts (`claude_code`), which sessions have one (the importer).

use std::collections::HashMap;

use serde::Deserialize;

use crate::prompt_text::typed_text;
use crate::readers::loose_json::LooseValue;
use crate::records::each_record;
use crate::source::{ReadError, Resume, TranscriptFile};
use crate::transcript::{MomentKind, SessionExtent, SessionFact, TranscriptMoment, TranscriptSink};

/// Most prompts that are read; one a minute for a working year makes fewer.
const PROMPTS_MAX: usize = 200_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HistoryLine {
    display: LooseValue,
    timestamp: LooseValue,
    project: LooseValue,
    session_id: LooseValue,
}

/// The prompts of one session.
struct ThinSession {
    id: String,
    project: Option<String>,
    prompts: Vec<(Option<i64>, String)>,
}

/// Reads all of the file: the prompts of sessions that ran at once stand between each other.
pub(super) fn read(
    file: &TranscriptFile,
    sink: &mut dyn TranscriptSink,
) -> Result<Resume, ReadError> {
    let (mut sessions, mut places, mut left) = (Vec::new(), HashMap::new(), PROMPTS_MAX);
    let mut each = |line: HistoryLine, _: &mut dyn TranscriptSink| {
        let prompt = typed_text(line.display.text());
        let is_command = prompt.starts_with('/') && !prompt.contains(char::is_whitespace);
        let id = line.session_id.text();
        if id.is_empty() || prompt.is_empty() || is_command || left == 0 {
            return Some(String::new());
        }
        left -= 1;
        let place = *places.entry(id.to_owned()).or_insert_with(|| {
            let project = line.project.owned();
            sessions.push(ThinSession { id: id.to_owned(), project, prompts: Vec::new() });
            sessions.len() - 1
        });
        if let Some(session) = sessions.get_mut(place) {
            session.prompts.push((line.timestamp.number(), prompt));
        }
        None
    };
    let end = each_record(&file.path, 0, sink, &|_| false, &mut each)?;
    for ThinSession { id, project, prompts } in sessions {
        sink.session(&id, SessionExtent::Whole);
        if let Some(project) = project {
            sink.fact(SessionFact::Directory(project));
        }
        for (at_ms, prompt) in prompts {
            let what = MomentKind::Asked(prompt);
            sink.moment(TranscriptMoment { message_id: None, at_ms, kind: what });
        }
    }
    Ok(Resume { offset: end, ..Resume::default() })
}
