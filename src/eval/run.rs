//! The steps of a measurement: read a set, write it into a temporary store, start the engine, ask every query
//! in every mode, judge, compare, report. Not here: the implementation of each step.

use std::path::Path;
use std::time::Duration;

use super::asker::{AskOptions, Asker, ModeRun, engine_snapshot, mode_name};
use super::corpus::{self, EvalCorpus};
use super::features::FeatureOptions;
use super::request::{
    EngineNeeds, EngineOptions, EvalEnvironment, EvalOutput, EvalRequest, RunProgress,
};
use super::scratch_folder::ScratchFolder;
use super::set_result::{ModeResult, SetResult};
use super::test_set::{QueryScope, TestSet};
use super::{EvalError, economy, eval_report, features, forms, misses, saved_run};
use api::local::Local;
use event::Timestamp;
use index::embed::worker::WorkerState;
use reply::Reply;
use requests::{ApiError, Mode};
use writer::exit::Exit;

/// How often the embedding progress is polled.
const LOOK_MS: u64 = 20;

/// Queries between two progress messages.
const TELL_EVERY: usize = 16;

/// A day after the newest document, so that recent documents are fresh and none is in the future.
const DAY_SECONDS: i64 = 86_400;

/// Runs a measurement.
///
/// # Errors
/// [`EvalError`] if a file has the wrong format, an option does not fit it, or the engine failed.
pub fn run(request: &EvalRequest, around: &mut EvalEnvironment<'_>) -> Result<Reply, EvalError> {
    let against = request.against.as_deref().map(saved_run::read).transpose()?;
    if let Some(path) = &request.save {
        saved_run::check_writable(path)?;
    }
    // All sets are read first, because measuring takes long.
    let sets = request.paths.iter().map(|path| read(path, request, around));
    let sets = sets.collect::<Result<Vec<_>, _>>()?;
    for (saved, (set, _)) in
        against.iter().flat_map(|saved| sets.iter().map(move |set| (saved, set)))
    {
        saved.find(&set.name, &set.fingerprint())?;
    }
    if request.output == EvalOutput::Features {
        return write_features(&sets, request, around);
    }
    let mut results = Vec::new();
    for (number, (set, scope)) in (0_u32..).zip(&sets) {
        let scratch = ScratchFolder::new(&around.temporary, around.random ^ u128::from(number))?;
        results.push(measure_set(set, *scope, request, around, &scratch)?);
    }
    if let Some(path) = &request.save {
        saved_run::write(path, &results)?;
    }
    eval_report::reply(&results, against.as_ref(), request)
}

/// Writes the features of all sets and modes into one file.
fn write_features(
    sets: &[(TestSet, QueryScope)],
    request: &EvalRequest,
    around: &mut EvalEnvironment<'_>,
) -> Result<Reply, EvalError> {
    let mut text = features::names_line();
    let mut queries = 0;
    for (number, (set, scope)) in (0_u32..).zip(sets) {
        let scratch = ScratchFolder::new(&around.temporary, around.random ^ u128::from(number))?;
        let corpus = corpus::write(set, scratch.path())?;
        let local = open_engine(set, &corpus, request, around, &scratch)?;
        let modes = modes(&local, request, around)?;
        let EvalRequest { limit, min_relevance_percent, .. } = *request;
        let asking = AskOptions { scope: *scope, limit, min_relevance_percent };
        let asker = Asker::new(&local, set, &corpus, asking);
        let options = FeatureOptions {
            scope: *scope,
            now: request.now.unwrap_or_else(|| day_after(corpus.newest)),
            candidates_max: limit,
        };
        for mode in modes {
            let run =
                ModeRun { local: &local, asker: &asker, set, corpus: &corpus, answers: &[], mode };
            text.push_str(&features::query_lines(&run, options)?);
            queries += set.queries.len();
        }
    }
    if let Some(path) = &request.save {
        std::fs::write(path, text).map_err(EvalError::io("write", path))?;
    }
    let written = format!("wrote the features of {queries} queries");
    Ok(Reply::new(written, serde_json::json!({ "queries": queries })))
}

fn read(
    path: &Path,
    request: &EvalRequest,
    around: &mut EvalEnvironment<'_>,
) -> Result<(TestSet, QueryScope), EvalError> {
    let (mut set, scope) = forms::read(path, request.form, request.scope)?;
    set.keep_split(request.split)?;
    set.check_scope(scope)?;
    for note in &set.notes {
        (around.report_progress)(RunProgress::Note(&format!("{}: {note}", set.name)));
    }
    Ok((set, scope))
}

fn measure_set(
    set: &TestSet,
    scope: QueryScope,
    request: &EvalRequest,
    around: &mut EvalEnvironment<'_>,
    scratch: &ScratchFolder,
) -> Result<SetResult, EvalError> {
    let corpus = corpus::write(set, scratch.path())?;
    if corpus.in_parts > 0 {
        let note = format!(
            "{}: {} documents are too long for one event and were split; the best part counts",
            set.name, corpus.in_parts
        );
        (around.report_progress)(RunProgress::Note(&note));
    }
    let local = open_engine(set, &corpus, request, around, scratch)?;
    let modes = modes(&local, request, around)?;
    let EvalRequest { limit, min_relevance_percent, .. } = *request;
    let asking = AskOptions { scope, limit, min_relevance_percent };
    let asker = Asker::new(&local, set, &corpus, asking);
    let mut of_modes = Vec::new();
    for mode in modes {
        let doing = format!("{}: asking, {}", set.name, mode_name(mode));
        let mut answers = Vec::with_capacity(set.queries.len());
        for query in &set.queries {
            if answers.len() % TELL_EVERY == 0 {
                let (done, all) = (answers.len(), set.queries.len());
                (around.report_progress)(RunProgress::Progress { doing: &doing, done, all });
            }
            answers.push(asker.ask(query, mode)?);
        }
        let run =
            ModeRun { local: &local, asker: &asker, set, corpus: &corpus, answers: &answers, mode };
        let misses = request.misses.map(|_| misses::find_misses(&run)).transpose()?;
        let economy = request.economy.then(|| economy::count_costs(&run)).transpose()?;
        of_modes.push(ModeResult {
            mode: mode_name(mode).to_owned(),
            answers,
            misses: misses.unwrap_or_default(),
            economy: economy.unwrap_or_default(),
        });
    }
    Ok(SetResult {
        set: set.name.clone(),
        scope: scope.name().to_owned(),
        split: request.split.name().to_owned(),
        judged: set.fingerprint(),
        documents: set.documents.len(),
        held_back: count_held_back(&local)?,
        modes: of_modes,
    })
}

fn day_after(newest: Timestamp) -> Timestamp {
    let later = newest.as_second().saturating_add(DAY_SECONDS);
    Timestamp::from_second(later).unwrap_or(newest)
}

/// Counts the events that searches hold back. This happens after the searches are timed, because the check is
/// cached.
fn count_held_back(local: &Local) -> Result<usize, EvalError> {
    let snapshot = engine_snapshot(local)?;
    Ok(snapshot.memories().iter().filter(|memory| memory.flagged().is_some()).count())
}

/// Starts the engine on the written store, and checks that it has read everything.
fn open_engine(
    set: &TestSet,
    corpus: &EvalCorpus,
    request: &EvalRequest,
    around: &mut EvalEnvironment<'_>,
    scratch: &ScratchFolder,
) -> Result<Local, EvalError> {
    let words_only = request.modes.as_deref() == Some(&[Mode::Lexical]);
    let local = (around.open)(&EngineOptions {
        directory: scratch.path(),
        logs: &scratch.path().join("logs"),
        now: request.now.unwrap_or_else(|| day_after(corpus.newest)),
        needs: if words_only { EngineNeeds::Words } else { EngineNeeds::Meaning },
    })?;
    let (_, memories) = local.embedded()?;
    if memories != corpus.documents.len() {
        let message = format!(
            "{} of {} events of {} are memories; events of a set need ids of their own and no memory_id",
            memories,
            corpus.documents.len(),
            set.name
        );
        return Err(EvalError::form(&set.name, "id", message));
    }
    Ok(local)
}

/// Returns the modes to ask in, once everything they need is embedded.
fn modes(
    local: &Local,
    request: &EvalRequest,
    around: &mut EvalEnvironment<'_>,
) -> Result<Vec<Mode>, EvalError> {
    let all = [Mode::Lexical, Mode::Dense, Mode::Hybrid];
    let requested = request.modes.clone();
    if requested.as_deref() == Some(&[Mode::Lexical]) {
        return Ok(vec![Mode::Lexical]);
    }
    match (wait_for_vectors(local, around)?, requested) {
        (None, requested) => Ok(requested.unwrap_or_else(|| all.to_vec())),
        (Some(why), None) => {
            (around.report_progress)(RunProgress::Note(&format!(
                "words only, without meaning: {why}"
            )));
            Ok(vec![Mode::Lexical])
        }
        (Some(why), Some(_)) => {
            let message =
                format!("failed to rank by meaning: {why}; --mode lexical needs no model");
            Err(ApiError::Failed { exit: Exit::Unavailable, message }.into())
        }
    }
}

/// Waits until every memory is embedded. Returns the reason if that will not happen.
fn wait_for_vectors(
    local: &Local,
    around: &mut EvalEnvironment<'_>,
) -> Result<Option<String>, EvalError> {
    loop {
        let (done, all) = local.embedded()?;
        let Some(progress) = local.engine().embedding() else {
            return Ok(Some("no embedding model in this build".to_owned()));
        };
        if let WorkerState::Failed(error) = progress.state {
            return Ok(Some(error.to_string()));
        }
        if done >= all {
            return Ok(None);
        }
        // A text without a vector would be found by its words alone, and the figures would be of another search.
        if done + progress.failed >= all {
            let failed = all.saturating_sub(done);
            return Ok(Some(format!("{failed} of {all} texts could not be embedded")));
        }
        (around.report_progress)(RunProgress::Progress { doing: "embedding", done, all });
        std::thread::park_timeout(Duration::from_millis(LOOK_MS));
    }
}
