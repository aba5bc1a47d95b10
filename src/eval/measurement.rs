//! Sets up a measurement: the user's model and cache, and temporary stores. Not here: measuring (`run`).

use std::io::Write;

use indicatif::ProgressBar;

use crate::args::{Eval, EvalMode, EvalScope, EvalSplit, SetForm};
use crate::request::EvalOutput;
use crate::{
    EngineNeeds, EngineOptions, EvalEnvironment, EvalError, EvalRequest, QueryScope, RunProgress,
    SetFormat, Split, run,
};

use cli::program::Program;
use event::{Problems, Timestamp, parse_timestamp, quoted};
use reply::Reply;
use requests::{ApiError, LIMIT_MAX, MIN_RELEVANCE_PERCENT_DEFAULT};
use retriever::memory_opening::OpeningContext;
use retriever::options::{GlobalOptions, MemoryNeed};
use settings::{Config, GeneralSettings, Switch};
use store::Store;
use writer::Moment;
use writer::exit::{Exit, complain};

/// The default number of examined hits, as the deepest measures need it.
const LIMIT_DEFAULT: usize = 10;
/// Most misses that the text shows. JSON has all of them.
const MISSES_MAX: usize = 10_000;
/// The default seed. Its value does not matter, but it must not change between runs.
const SEED_DEFAULT: usize = 1;
/// The cache folder for vectors of sets. It is separate from the user's vectors, so that it can be deleted
/// alone.
const CACHE_FOLDER: &str = "eval";

/// Runs the measurement that the command line describes.
///
/// # Errors
/// [`ApiError`].
pub fn measure(
    program: &Program<'_>,
    settings: &GlobalOptions,
    (command, output): (Eval, EvalOutput),
    messages: &mut dyn Write,
) -> Result<Reply, ApiError> {
    let request = request(command, output)?;
    let mut open = |opening: &EngineOptions<'_>| {
        let mut settled = program.resolve_settings(settings)?;
        settled.store = Store::at(opening.logs);
        // Queries of a set must not appear in the user's query log.
        let embedding = settled.config.general.embedding;
        let general = GeneralSettings { embedding, query_log: Switch::Off, ..<_>::default() };
        settled.config = Config { general, ..Config::default() };
        settled.cache_dir.push(CACHE_FOLDER);
        let need = match opening.needs {
            EngineNeeds::Words => MemoryNeed::Words,
            EngineNeeds::Meaning => MemoryNeed::Meaning,
        };
        let now = opening.now;
        let clock = Box::new(move || Moment { now, random: 0 });
        program.open_local_with(
            settled,
            need,
            OpeningContext { directory: Some(opening.directory.to_owned()), clock },
        )
    };
    let bar = cli::program::progress_bar("{msg} {bar:30} {pos}/{len} {eta}");
    let mut tell = |step: RunProgress<'_>| show(&bar, messages, step);
    let reply = run(
        &request,
        &mut EvalEnvironment {
            temporary: program.surroundings.temporary.clone(),
            random: (program.surroundings.clock)().random,
            open: &mut open,
            report_progress: &mut tell,
        },
    );
    bar.finish_and_clear();
    reply.map_err(refused)
}

fn show(bar: &ProgressBar, messages: &mut dyn Write, step: RunProgress<'_>) {
    match step {
        RunProgress::Note(note) => bar.suspend(|| complain(messages, "agent-knowledge", note)),
        RunProgress::Progress { doing, done, all } => {
            bar.set_message(doing.to_owned());
            bar.set_length(u64::try_from(all).unwrap_or(u64::MAX));
            bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
        }
    }
}

/// Checks all options at once.
fn request(command: Eval, output: EvalOutput) -> Result<EvalRequest, Problems> {
    let mut problems = Problems::none();
    let mut number = |name: &str, given: Option<String>, allowed| {
        let number = requests::number(name, given, allowed);
        number.unwrap_or_else(|wrong| {
            problems.append(wrong);
            None
        })
    };
    let limit = number("limit", command.limit, 1..=LIMIT_MAX).unwrap_or(LIMIT_DEFAULT);
    let relevance = number("min_relevance", command.min_relevance, 0..=100);
    let seed = number("seed", command.seed, 0..=usize::MAX).unwrap_or(SEED_DEFAULT);
    let misses = number("explain_misses", command.explain_misses, 0..=MISSES_MAX);
    if output == EvalOutput::Features && command.save.is_none() {
        problems
            .add("save", "must name the file for the features, such as features.jsonl".to_owned());
    }
    let now = command.now.as_deref().and_then(|text| time(text, &mut problems));
    problems.or(EvalRequest {
        paths: command.paths,
        form: set_format(command.format),
        modes: command.mode.and_then(EvalMode::modes),
        scope: command.scope.map(scope),
        split: split(command.split),
        limit,
        min_relevance_percent: relevance
            .and_then(|percent| u8::try_from(percent).ok())
            .unwrap_or(MIN_RELEVANCE_PERCENT_DEFAULT),
        now,
        save: command.save,
        against: command.against,
        misses,
        economy: command.economy,
        seed: u64::try_from(seed).unwrap_or(u64::MAX),
        output,
    })
}

fn time(text: &str, problems: &mut Problems) -> Option<Timestamp> {
    let parsed = parse_timestamp(text);
    if parsed.is_none() {
        let got = quoted(text);
        problems.add("now", format!("must be a time such as \"2025-10-31T04:58:01Z\"; got {got}"));
    }
    parsed
}

fn set_format(form: Option<SetForm>) -> Option<SetFormat> {
    match form? {
        SetForm::Set => Some(SetFormat::Folder),
        SetForm::Longmemeval => Some(SetFormat::LongMemEval),
        SetForm::Locomo => Some(SetFormat::Locomo),
        SetForm::Auto => None,
    }
}

fn scope(scope: EvalScope) -> QueryScope {
    match scope {
        EvalScope::Store => QueryScope::Store,
        EvalScope::Group => QueryScope::Group,
        EvalScope::Here => QueryScope::Here,
    }
}

fn split(split: EvalSplit) -> Split {
    match split {
        EvalSplit::Tune => Split::Tune,
        EvalSplit::Test => Split::Test,
        EvalSplit::All => Split::All,
    }
}

fn refused(error: EvalError) -> ApiError {
    let failed = |exit| ApiError::Failed { exit, message: error.to_string() };
    match error {
        EvalError::Io { .. } => failed(Exit::Io),
        EvalError::Form { .. } => failed(Exit::Invalid),
        EvalError::Missing(_) => ApiError::NotFound(error.to_string()),
        EvalError::Options(problems) => problems.into(),
        EvalError::Engine(error) => error,
    }
}
