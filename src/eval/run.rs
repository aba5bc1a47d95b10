//! The recipe: read a set, write it into a store of its own, start the engine on it, ask every query in
//! every mode, judge, compare, tell. Not here: any of the steps.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::ask::{Asker, Asking, mode_name};
use super::corpus::{self, Corpus};
use super::economy::{self, Cost, Shape};
use super::measure::Answer;
use super::misses::{self, Miss};
use super::scratch::Scratch;
use super::set::{Scope, Set, Split};
use super::{EvalError, Form, forms, report, saved};
use api::local::Local;
use api::{ApiError, Mode};
use engine::Stopped;
use event::Timestamp;
use index::embed::worker::WorkerState;
use reply::Reply;
use search::snapshot::Snapshot;
use writer::exit::Exit;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Request {
    /// Sets: folders or files.
    pub paths: Vec<PathBuf>,
    /// The form of all of them; told by their fields unless given.
    pub form: Option<Form>,
    /// The modes; all that this machine can unless given.
    pub modes: Option<Vec<Mode>>,
    /// Where queries look; by the form unless given.
    pub scope: Option<Scope>,
    /// Which queries.
    pub split: Split,
    /// Hits looked at.
    pub limit: usize,
    /// How likely the best hit must be an answer, in hundredths.
    pub min_relevance_percent: u8,
    /// The time at which is asked; a day after the newest document unless given.
    pub now: Option<Timestamp>,
    /// Where the answers are kept.
    pub save: Option<PathBuf>,
    /// Answers kept earlier, to compare with.
    pub against: Option<PathBuf>,
    /// How many misses are explained, if any.
    pub misses: Option<usize>,
    /// Whether it is counted what an answer costs.
    pub economy: bool,
    /// What the resampling begins with.
    pub seed: u64,
}

/// How the engine is to be started.
#[derive(Debug)]
pub struct Opening<'a> {
    /// A directory that belongs to no repository, in which the queries are asked.
    pub directory: &'a Path,
    /// The store.
    pub logs: &'a Path,
    /// The time at which is asked.
    pub now: Timestamp,
    /// Whether meaning is needed.
    pub needs: Needs,
}

/// What the engine must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Words.
    Words,
    /// Also meanings.
    Meaning,
}

/// How far it is.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Something to tell.
    Note(&'a str),
    /// So much of a long step is done.
    Progress {
        /// What is being done.
        doing: &'a str,
        /// So many are done.
        done: usize,
        /// Of so many.
        all: usize,
    },
}

/// What the program gives.
pub struct Surroundings<'a> {
    /// Where folders that are removed again may be made.
    pub temporary: PathBuf,
    /// Keeps this run's folders apart from others'.
    pub random: u128,
    /// Starts an engine, with the model of this user.
    pub open: &'a mut dyn FnMut(&Opening<'_>) -> Result<Local, ApiError>,
    /// Is told how far it is.
    pub tell: &'a mut dyn FnMut(Step<'_>),
}

/// What one set came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The set's name.
    pub set: String,
    /// Where was looked.
    pub scope: String,
    /// Which queries were asked.
    pub split: String,
    /// A hash of documents, queries and judgements: only equal ones can be compared.
    pub judged: String,
    /// How many documents there are.
    pub documents: usize,
    /// How many of them read like an instruction to their reader, so that searches hold them back.
    pub held_back: usize,
    /// What each mode came to.
    pub modes: Vec<OfMode>,
}

/// What one mode came to.
#[derive(Debug, Clone, PartialEq)]
pub struct OfMode {
    /// Its name.
    pub mode: String,
    /// What each query came to.
    pub answers: Vec<Answer>,
    /// Why documents were missed, where that was asked.
    pub misses: Vec<Miss>,
    /// What an answer costs in each form, where that was asked.
    pub economy: Vec<(Shape, Cost)>,
}

/// How often the embedding is looked at.
const LOOK_MS: u64 = 20;

/// Queries between two words of progress.
const TELL_EVERY: usize = 16;

/// A day after the newest document: what was learned yesterday is fresh, and nothing is in the future.
const DAY_SECONDS: i64 = 86_400;

/// Measures.
///
/// # Errors
/// [`EvalError`]: a file is not in its form, an option does not fit it, or the engine failed.
pub fn run(request: &Request, around: &mut Surroundings<'_>) -> Result<Reply, EvalError> {
    let against = request.against.as_deref().map(saved::read).transpose()?;
    if let Some(path) = &request.save {
        saved::can_be_written(path)?;
    }
    // All of them, before any takes its time.
    let sets = request.paths.iter().map(|path| read(path, request, around));
    let sets = sets.collect::<Result<Vec<_>, _>>()?;
    for (saved, (set, _)) in
        against.iter().flat_map(|saved| sets.iter().map(move |set| (saved, set)))
    {
        saved.earlier(&set.name, &judged(set))?;
    }
    let mut results = Vec::new();
    for (number, (set, scope)) in (0_u32..).zip(&sets) {
        let scratch = Scratch::new(&around.temporary, around.random ^ u128::from(number))?;
        results.push(measured(set, *scope, request, around, &scratch)?);
    }
    if let Some(path) = &request.save {
        saved::write(path, &results)?;
    }
    report::reply(&results, against.as_ref(), request)
}

fn read(
    path: &Path,
    request: &Request,
    around: &mut Surroundings<'_>,
) -> Result<(Set, Scope), EvalError> {
    let (mut set, scope) = forms::read(path, request.form, request.scope)?;
    set.keep(request.split)?;
    set.fits(scope)?;
    for note in &set.notes {
        (around.tell)(Step::Note(&format!("{}: {note}", set.name)));
    }
    Ok((set, scope))
}

fn measured(
    set: &Set,
    scope: Scope,
    request: &Request,
    around: &mut Surroundings<'_>,
    scratch: &Scratch,
) -> Result<Measured, EvalError> {
    let corpus = corpus::write(set, scratch.path())?;
    if corpus.in_parts > 0 {
        let note = format!(
            "{}: {} documents are longer than an event can be and are several; the best counts",
            set.name, corpus.in_parts
        );
        (around.tell)(Step::Note(&note));
    }
    let local = opened(set, &corpus, request, around, scratch)?;
    let modes = modes(&local, request, around)?;
    let Request { limit, min_relevance_percent, .. } = *request;
    let asking = Asking { scope, limit, min_relevance_percent };
    let asker = Asker::new(&local, set, &corpus, asking);
    let mut of_modes = Vec::new();
    for mode in modes {
        let doing = format!("{}: asking, {}", set.name, mode_name(mode));
        let mut answers = Vec::with_capacity(set.queries.len());
        for query in &set.queries {
            if answers.len() % TELL_EVERY == 0 {
                let (done, all) = (answers.len(), set.queries.len());
                (around.tell)(Step::Progress { doing: &doing, done, all });
            }
            answers.push(asker.ask(query, mode)?);
        }
        let run = misses::Run {
            local: &local,
            asker: &asker,
            set,
            corpus: &corpus,
            answers: &answers,
            mode,
        };
        let misses = request.misses.map(|_| misses::explained(&run)).transpose()?;
        let economy = request.economy.then(|| economy::counted(&run)).transpose()?;
        of_modes.push(OfMode {
            mode: mode_name(mode).to_owned(),
            answers,
            misses: misses.unwrap_or_default(),
            economy: economy.unwrap_or_default(),
        });
    }
    Ok(Measured {
        set: set.name.clone(),
        scope: scope.name().to_owned(),
        split: request.split.name().to_owned(),
        judged: judged(set),
        documents: set.documents.len(),
        held_back: held_back(&local)?,
        modes: of_modes,
    })
}

/// Counts what searches hold back. Not before they are timed: what is known about a memory is known to all.
fn held_back(local: &Local) -> Result<usize, EvalError> {
    let snapshot = frozen(local)?;
    Ok(snapshot.memories().iter().filter(|memory| memory.flagged().is_some()).count())
}

/// Returns the state that is asked.
pub(super) fn frozen(local: &Local) -> Result<Snapshot, EvalError> {
    let stopped =
        |error: Stopped| ApiError::Failed { exit: Exit::Internal, message: error.to_string() };
    Ok(local.engine().snapshot().map_err(stopped)?)
}

/// Starts the engine on what was written, and sees that it read all of it.
fn opened(
    set: &Set,
    corpus: &Corpus,
    request: &Request,
    around: &mut Surroundings<'_>,
    scratch: &Scratch,
) -> Result<Local, EvalError> {
    let day_after = corpus.newest.as_second().saturating_add(DAY_SECONDS);
    let day_after = Timestamp::from_second(day_after).unwrap_or(corpus.newest);
    let words_only = request.modes.as_deref() == Some(&[Mode::Lexical]);
    let local = (around.open)(&Opening {
        directory: scratch.path(),
        logs: &scratch.path().join("logs"),
        now: request.now.unwrap_or(day_after),
        needs: if words_only { Needs::Words } else { Needs::Meaning },
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

/// Returns the modes to ask in, once everything that they need is embedded.
fn modes(
    local: &Local,
    request: &Request,
    around: &mut Surroundings<'_>,
) -> Result<Vec<Mode>, EvalError> {
    let all = [Mode::Lexical, Mode::Dense, Mode::Hybrid];
    let asked = request.modes.clone();
    if asked.as_deref() == Some(&[Mode::Lexical]) {
        return Ok(vec![Mode::Lexical]);
    }
    match (embedded(local, around)?, asked) {
        (None, asked) => Ok(asked.unwrap_or_else(|| all.to_vec())),
        (Some(why), None) => {
            (around.tell)(Step::Note(&format!("words only, without meaning: {why}")));
            Ok(vec![Mode::Lexical])
        }
        (Some(why), Some(_)) => {
            let message =
                format!("failed to rank by meaning: {why}; --mode lexical needs no model");
            Err(ApiError::Failed { exit: Exit::Unavailable, message }.into())
        }
    }
}

/// Waits until every memory is embedded; returns why none will be, if so.
fn embedded(local: &Local, around: &mut Surroundings<'_>) -> Result<Option<String>, EvalError> {
    loop {
        let (done, all) = local.embedded()?;
        let Some(progress) = local.engine().embedding() else {
            return Ok(Some("no embedding model in this build".to_owned()));
        };
        if let WorkerState::Failed(error) = progress.state {
            return Ok(Some(error.to_string()));
        }
        if done + progress.failed >= all {
            return Ok(None);
        }
        (around.tell)(Step::Progress { doing: "embedding", done, all });
        std::thread::park_timeout(Duration::from_millis(LOOK_MS));
    }
}

/// Hashes all that a result depends on but the engine.
fn judged(set: &Set) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.as_bytes());
        hash.update([0]);
    };
    for document in &set.documents {
        add(&document.id);
        add(&document.text);
        document.event.iter().for_each(|event| add(&format!("{event:?}")));
    }
    for query in &set.queries {
        add(&query.id);
        add(&query.text);
        query.relevant.iter().for_each(|(id, grade)| add(&format!("{id} {grade}")));
        query.stale.iter().for_each(|id| add(id));
    }
    let digest = hash.finalize();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
