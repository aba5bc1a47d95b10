//! The other side: [`Api`] by way of the retriever of the store. It is started where there is none, asked to make
//! room where it is older, and where it cannot be had the answers are made in this process. Not here: what is
//! answered.

use std::fs::OpenOptions;
use std::io;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::endpoint::Endpoint;
use super::process::Start;
use super::protocol::{Answer, Ask, Hello, PROTOCOL, Welcome, hear, say};
use super::stream::{LineStream, Stream};
use api::caller::Caller;
use api::{
    AnalyzeRequest, Api, ApiError, ChangeRequest, CompleteRequest, ContextRequest, LinkRequest,
    Listing, PatternsRequest, RelatedRequest, Reply, ReviewRequest, SearchRequest, StaleRequest,
    SweepRequest, Voice,
};
use event::{Draft, EventId};
use store::private;

/// How long a retriever may take to come, in milliseconds. It listens before it reads anything, so only a
/// machine in distress needs this long.
const START_WAIT_MS: u64 = 3_000;

/// How long it may take to say who it is, in milliseconds. One that is stopped says nothing.
const WELCOME_WAIT_MS: u64 = 1_500;

/// How long an answer may take beyond what its caller is willing to wait for, in milliseconds: an append waits
/// up to two seconds for its turn.
const ANSWER_WAIT_MS: u64 = 5_000;

/// The first pause between two looks whether it has come, in milliseconds; it doubles up to the longest.
const PAUSE_MS_MIN: u64 = 1;
const PAUSE_MS_MAX: u64 = 25;

/// How often a question is asked anew when the retriever goes away over it.
const TRIES: usize = 3;

/// How long a process that could not have a retriever answers by itself before it tries again, in milliseconds.
const ALONE_MS: u64 = 30_000;

/// Longest file of last words, in bytes: what is older is nobody's business any more.
const WORDS_BYTES_MAX: u64 = 256 * 1024;

/// Connections that are kept for the next question.
const KEPT_MAX: usize = 16;

/// Makes the memory in this process.
pub type Alone = Box<dyn Fn() -> Result<Arc<dyn Api>, ApiError> + Send + Sync>;

/// The memory, by way of the retriever.
pub struct Remote {
    /// Where the retriever is met.
    pub endpoint: Endpoint,
    /// How it is started.
    pub start: Start,
    /// The command this process runs.
    pub program: String,
    /// What this process calls its version.
    pub version: String,
    /// Who asks.
    pub caller: Caller,
    /// Makes the memory in this process where there can be no retriever.
    pub alone: Alone,
    /// Makes an id that nobody else has.
    pub fresh_id: Box<dyn Fn() -> EventId + Send + Sync>,
    /// What is left of earlier questions.
    pub state: RemoteState,
}

/// What is left of earlier questions.
#[derive(Default)]
pub struct RemoteState {
    kept: Mutex<Vec<LineStream>>,
    alone: Mutex<Option<OnItsOwn>>,
}

/// The memory in this process, for as long as there is no retriever.
struct OnItsOwn {
    api: Arc<dyn Api>,
    tried_at: Instant,
}

#[cfg(test)]
impl RemoteState {
    /// As if it had been tried long ago.
    pub(super) fn let_time_pass(&self) {
        let before = Instant::now().checked_sub(Duration::from_millis(ALONE_MS)).unwrap();
        held(&self.alone).as_mut().unwrap().tried_at = before;
    }
}

/// What became of an attempt to be received.
enum Met {
    Ready(LineStream),
    /// Nobody is there, or somebody who is about to leave.
    Nobody,
    /// It cannot be talked to.
    Stranger,
}

impl Remote {
    /// Sees to it that there is a retriever, so that the first question need not wait for it.
    pub fn prepare(&self) {
        if let Some(lines) = self.connection() {
            self.keep(lines);
        }
    }

    /// Attaches if the retriever is there. If not it is started for those who come next, and nobody waits.
    #[must_use]
    pub fn attach_at_once(&self) -> bool {
        if self.endpoint.ensure().is_err() {
            return false;
        }
        match self.meet() {
            Met::Ready(lines) => {
                self.keep(lines);
                return true;
            }
            // What cannot be started is not there next time either.
            Met::Nobody => drop(self.start.run(self.words())),
            Met::Stranger => {}
        }
        false
    }

    /// Asks the retriever; `None` where it cannot be had.
    fn attached(&self, ask: &Ask) -> Option<Result<Reply, ApiError>> {
        if self.is_to_stay_alone() {
            return None;
        }
        for _ in 0..TRIES {
            let mut lines = match self.kept().pop() {
                Some(lines) => lines,
                None => self.connection()?,
            };
            match talk(&mut lines, ask) {
                Ok(Some(answer)) => {
                    self.keep(lines);
                    // What was held here is held there again.
                    held(&self.state.alone).take();
                    return Some(answer.into_result());
                }
                // It is stopped, or stuck: another try would take as long.
                Err(error) if is_timeout(&error) => return None,
                // It has gone. What is kept goes to the same one.
                Ok(None) | Err(_) => self.kept().clear(),
            }
        }
        None
    }

    /// Tells whether it was tried in vain a short while ago, so that not every question has to wait.
    fn is_to_stay_alone(&self) -> bool {
        let pause = Duration::from_millis(ALONE_MS);
        match held(&self.state.alone).as_mut() {
            Some(own) if own.tried_at.elapsed() < pause => true,
            Some(own) => {
                own.tried_at = Instant::now();
                false
            }
            None => false,
        }
    }

    /// Returns the memory in this process, which is made for the first question that needs it.
    fn alone(&self) -> Result<Arc<dyn Api>, ApiError> {
        let mut alone = held(&self.state.alone);
        if let Some(own) = &*alone {
            return Ok(Arc::clone(&own.api));
        }
        let api = (self.alone)()?;
        *alone = Some(OnItsOwn { api: Arc::clone(&api), tried_at: Instant::now() });
        Ok(api)
    }

    /// Returns a connection to the retriever, which is started if need be.
    fn connection(&self) -> Option<LineStream> {
        self.endpoint.ensure().ok()?;
        let mut started: Option<Child> = None;
        let mut pause_ms = PAUSE_MS_MIN;
        let deadline = Instant::now() + Duration::from_millis(START_WAIT_MS);
        loop {
            match self.meet() {
                Met::Ready(lines) => {
                    reap(started);
                    return Some(lines);
                }
                Met::Stranger => return None,
                Met::Nobody => {}
            }
            let has_failed = match &mut started {
                // Another may have been quicker; then that one is met.
                Some(child) => matches!(child.try_wait(), Ok(Some(exit)) if !exit.success()),
                None => {
                    started = Some(self.start.run(self.words()).ok()?);
                    false
                }
            };
            if has_failed || Instant::now() >= deadline {
                reap(started);
                return None;
            }
            std::thread::park_timeout(Duration::from_millis(pause_ms));
            pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
        }
    }

    fn words(&self) -> Option<std::fs::File> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        private(&mut options);
        let words = options.open(self.endpoint.words()).ok()?;
        if words.metadata().ok()?.len() > WORDS_BYTES_MAX {
            words.set_len(0).ok()?;
        }
        Some(words)
    }

    fn meet(&self) -> Met {
        match self.greet() {
            Ok(Some((lines, welcome))) => self.judge(lines, &welcome),
            Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::InvalidData => {
                Met::Stranger
            }
            Ok(None) | Err(_) => Met::Nobody,
        }
    }

    fn greet(&self) -> io::Result<Option<(LineStream, Welcome)>> {
        let mut lines = LineStream::over(Stream::to(&self.endpoint)?);
        lines.stream().wait_at_most(Some(Duration::from_millis(WELCOME_WAIT_MS)))?;
        let hello = Hello {
            protocol: PROTOCOL,
            version: self.version.clone(),
            pid: std::process::id(),
            program: self.program.clone(),
            caller: self.caller.clone(),
        };
        say(&mut lines, &hello)?;
        let Some(welcome) = hear(&mut lines)? else { return Ok(None) };
        let patience = self.caller.patience;
        let wait = patience.query + patience.model + patience.embed + patience.index;
        lines.stream().wait_at_most(Some(wait + Duration::from_millis(ANSWER_WAIT_MS)))?;
        Ok(Some((lines, welcome)))
    }

    /// An older retriever makes room; a newer one is as good as ours, if it speaks as we do.
    fn judge(&self, mut lines: LineStream, welcome: &Welcome) -> Met {
        let is_older = numbers(&welcome.version) < numbers(&self.version);
        if !is_older {
            let is_understood = welcome.protocol == PROTOCOL;
            return if is_understood { Met::Ready(lines) } else { Met::Stranger };
        }
        match say(&mut lines, &Ask::Leave) {
            Ok(()) => Met::Nobody,
            Err(_) => Met::Stranger,
        }
    }

    fn keep(&self, lines: LineStream) {
        let mut kept = self.kept();
        if kept.len() < KEPT_MAX {
            kept.push(lines);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<LineStream>> {
        held(&self.state.kept)
    }

    fn ask(
        &self,
        ask: &Ask,
        alone: impl FnOnce(&dyn Api) -> Result<Reply, ApiError>,
    ) -> Result<Reply, ApiError> {
        self.attached(ask).unwrap_or_else(|| alone(&*self.alone()?))
    }
}

/// Asks the retriever of a place to end; tells whether there was one.
#[must_use]
pub fn ask_to_leave(remote: &Remote) -> bool {
    let is_trusted = remote.endpoint.is_trusted();
    match is_trusted.then(|| remote.greet()) {
        // Whatever its version.
        Some(Ok(Some((mut lines, _)))) => say(&mut lines, &Ask::Leave).is_ok(),
        Some(Ok(None) | Err(_)) | None => false,
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nobody panics while holding one; what is there counts.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn talk(lines: &mut LineStream, ask: &Ask) -> io::Result<Option<Answer>> {
    say(lines, ask)?;
    hear(lines)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Waits for the end of a process we started, so that nothing of it remains while we live.
fn reap(child: Option<Child>) {
    let Some(mut child) = child else { return };
    // Without a thread it remains as an entry in a table until we end.
    let _ = std::thread::Builder::new().name("reap".to_owned()).spawn(move || child.wait());
}

/// The numbers of a version, for comparing; what is no number counts as none.
fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

impl Api for Remote {
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Search(request.clone()), |api| api.search(request))
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Context(request.clone()), |api| api.context(request))
    }

    fn save(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
        let mut draft = draft;
        // If the retriever goes away over it, it is sent again: under one id that is one memory.
        if draft.id.is_none() {
            draft.id = Some((self.fresh_id)().to_string());
        }
        let client_name = client.map(str::to_owned);
        let ask = Ask::Save { draft: Box::new(draft.clone()), client: client_name };
        self.ask(&ask, |api| api.save(draft, client))
    }

    fn change(&self, request: &ChangeRequest, voice: &Voice) -> Result<Reply, ApiError> {
        let ask = Ask::Change { request: request.clone(), voice: voice.clone() };
        // Said twice it means the same: the latest counts, and one voice has one verdict.
        self.ask(&ask, |api| api.change(request, voice))
    }

    fn review(&self, request: &ReviewRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Review(request.clone()), |api| api.review(request))
    }

    fn sweep(&self, request: &SweepRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Sweep(request.clone()), |api| api.sweep(request))
    }

    fn link(&self, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError> {
        let ask = Ask::Link { request: request.clone(), voice: voice.clone() };
        // As with a change: what is so already writes nothing.
        self.ask(&ask, |api| api.link(request, voice))
    }

    fn related(&self, request: &RelatedRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Related(request.clone()), |api| api.related(request))
    }

    fn analyze(&self, request: &AnalyzeRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Analyze(request.clone()), |api| api.analyze(request))
    }

    fn patterns(&self, request: &PatternsRequest, voice: &Voice) -> Result<Reply, ApiError> {
        let ask = Ask::Patterns { request: request.clone(), voice: voice.clone() };
        // What was accepted is suggested no more, so a second time by its mark writes nothing.
        self.ask(&ask, |api| api.patterns(request, voice))
    }

    fn stale(&self, request: &StaleRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Stale(request.clone()), |api| api.stale(request))
    }

    fn list(&self, listing: &Listing) -> Result<Reply, ApiError> {
        self.ask(&Ask::List(listing.clone()), |api| api.list(listing))
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        self.ask(&Ask::Show(ids.to_vec()), |api| api.show(ids))
    }

    fn recent(&self, limit: usize) -> Result<Reply, ApiError> {
        self.ask(&Ask::Recent(limit), |api| api.recent(limit))
    }

    fn complete(&self, request: &CompleteRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Complete(request.clone()), |api| api.complete(request))
    }

    fn status(&self) -> Result<Reply, ApiError> {
        self.ask(&Ask::Status, |api| api.status())
    }

    fn digest(&self) -> Result<Reply, ApiError> {
        self.ask(&Ask::Digest, |api| api.digest())
    }

    fn whoami(&self) -> Result<Reply, ApiError> {
        self.ask(&Ask::Whoami, |api| api.whoami())
    }
}
