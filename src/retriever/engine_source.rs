//! The engine that searches ask, where the settings name one. After it failed it rests a while, so that not every search waits for
//! it in vain. Not here: feeding it (`engine_feeding`), when it is asked (`api`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use api::second_source::{LocalKnowledge, SecondSource};
use corpus::engine_query::QueryContext;
use corpus::{Corpus, CorpusError, Deadline, ServedEngine, Viewpoint, engine_at};
use event::StoreOrigin;
use index::embed::SpaceId;
use search::{Hit, Query};
use settings::{Config, EngineSetting};

/// Returns the engine of the settings, which is not asked yet. Replicas feed it, with vectors of the model of a machine.
pub fn configured_engine(config: &Config, of_machine: SpaceId) -> Option<Arc<dyn SecondSource>> {
    let engine = config.engine.as_ref()?;
    Some(source(engine, config, of_machine))
}

/// How long a search waits for an engine. With its own work it stays below 300 ms.
const WAIT: Duration = Duration::from_millis(230);
/// How long an engine that failed is not asked.
const REST: Duration = Duration::from_secs(5);

/// An engine, and how it fared.
struct EngineSource {
    engine: Result<Box<dyn ServedEngine>, String>,
    viewpoint: Viewpoint,
    space: SpaceId,
    /// Until when it is not asked, and why.
    resting: Mutex<Option<(Instant, CorpusError)>>,
}

impl EngineSource {
    fn asked(
        &self,
        engine: &dyn Corpus,
        (query, limit): (&Query<'_>, usize),
        known: &LocalKnowledge<'_>,
    ) -> Result<Vec<Hit>, CorpusError> {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_resting = |(until, _): &&(Instant, CorpusError)| Instant::now() < *until;
        if let Some((_, why)) = resting.as_ref().filter(is_resting) {
            return Err(why.clone());
        }
        *resting = None;
        drop(resting);
        let until = Deadline::within(WAIT);
        let LocalKnowledge { repos, now } = *known;
        let asking = QueryContext { viewpoint: &self.viewpoint, repos, now, until };
        let found = corpus::find(engine, query, limit, asking).map(|found| found.hits);
        // What it cannot do says nothing of its health.
        if let Err(
            why @ (CorpusError::Late | CorpusError::Unreachable(_) | CorpusError::Wrong(_)),
        ) = &found
        {
            let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
            *resting = Some((Instant::now() + REST, why.clone()));
        }
        found
    }
}

impl SecondSource for EngineSource {
    fn space(&self) -> SpaceId {
        self.space
    }

    fn find(
        &self,
        query: &Query<'_>,
        limit: usize,
        known: &LocalKnowledge<'_>,
    ) -> Result<Vec<Hit>, String> {
        let engine = self.engine.as_ref().map_err(Clone::clone)?;
        self.asked(&**engine, (query, limit), known).map_err(|trouble| trouble.to_string())
    }
}

fn source(setting: &EngineSetting, config: &Config, space: SpaceId) -> Arc<dyn SecondSource> {
    let engine = engine_at(&setting.settings.url, setting.password.as_deref());
    let engine = engine.map_err(|why| format!("cannot be asked: its url {why}"));
    // Whoever writes into an engine could claim to be us, so none of its lines is ours: nobody can know these random bits.
    let bits = getrandom::u64().map_err(|error| format!("cannot be asked: {error}"));
    let engine = engine.and_then(|engine| bits.clone().map(|_| engine));
    let own = StoreOrigin::mint("nobody", bits.unwrap_or_default());
    let viewpoint = Viewpoint { own, policy: config.sync.clone() };
    Arc::new(EngineSource { engine, viewpoint, space, resting: Mutex::new(None) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener};
    use std::time::{Duration, Instant};

    use api::second_source::{LocalKnowledge, SecondSource};
    use index::embed::SpaceId;
    use search::Query;
    use settings::Config;

    /// Far more than what a search waits, and far less than a lost connection takes.
    const PROMISED: Duration = Duration::from_secs(3);

    /// The addresses of a port, one for each engine of this build.
    fn addresses(port: u16) -> Vec<String> {
        let postgres = format!("postgres://me@127.0.0.1:{port}/ak");
        let qdrant = cfg!(feature = "qdrant").then(|| format!("http://127.0.0.1:{port}/ak"));
        std::iter::once(postgres).chain(qdrant).collect()
    }

    /// Listens, and says the same to everybody who asks.
    fn saying(answer: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let _ = stream.read(&mut [0; 1_024]);
                    let _ = stream.write_all(answer.as_bytes());
                    // The rest of the request is taken, so that the answer arrives.
                    let _ = stream.shutdown(Shutdown::Write);
                    std::io::copy(&mut stream, &mut std::io::sink())
                });
            }
        });
        port
    }

    fn source(url: &str) -> std::sync::Arc<dyn SecondSource> {
        let config = Config::parse(&format!("[engine]\nurl = {url:?}")).unwrap();
        super::configured_engine(&config, SpaceId::default()).unwrap()
    }

    /// The answer of a source that cannot answer, and how long it took.
    fn refusal(source: &dyn SecondSource) -> (String, Duration) {
        let repos = BTreeMap::new();
        let known = LocalKnowledge { repos: &repos, now: "2026-11-26T00:00:00Z".parse().unwrap() };
        let begun = Instant::now();
        let query = Query { text: "walrus", ..Query::default() };
        (source.find(&query, 5, &known).unwrap_err(), begun.elapsed())
    }

    // S-CORPUS-6
    #[test]
    fn an_engine_that_is_gone_is_told_at_once() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        for url in addresses(port) {
            let (why, waited) = refusal(&*source(&url));
            assert!(why.starts_with("cannot be asked: "), "{url}: {why}");
            assert!(waited < PROMISED, "{url}: {waited:?}");
        }
    }

    // S-CORPUS-6
    #[test]
    fn an_engine_that_is_silent_is_waited_for_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        for url in addresses(listener.local_addr().unwrap().port()) {
            let source = source(&url);
            let (why, waited) = refusal(&*source);
            assert_eq!(why, "is too slow", "{url}");
            assert!(waited < PROMISED, "{url}: {waited:?}");
            let (why, waited) = refusal(&*source);
            assert_eq!(why, "is too slow", "{url}");
            assert!(waited < PROMISED / 20, "{url}: it rests: {waited:?}");
        }
    }

    // S-CORPUS-6
    #[test]
    fn an_engine_that_speaks_nonsense_is_told() {
        let port = saying("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        for url in addresses(port) {
            let (why, waited) = refusal(&*source(&url));
            assert!(why.starts_with("cannot be asked: "), "{url}: {why}");
            assert!(waited < PROMISED, "{url}: {waited:?}");
        }
    }

    // S-CORPUS-6
    #[cfg(feature = "qdrant")]
    #[test]
    fn an_answer_of_another_form_is_told() {
        for (answer, told) in [
            ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<p>hello<", "answers wrongly: "),
            ("HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{\"result\":[]}", "answers wrongly: "),
            ("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\r\n", "cannot be asked: "),
            // It promises more than it sends, and says nothing more.
            ("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", "cannot be asked: "),
        ] {
            let url = format!("http://127.0.0.1:{}/ak", saying(answer));
            let (why, waited) = refusal(&*source(&url));
            assert!(why.starts_with(told), "{answer:?}: {why}");
            assert!(waited < PROMISED, "{answer:?}: {waited:?}");
        }
    }

    // S-CORPUS-8
    #[test]
    fn an_engine_of_another_machine_is_not_asked() {
        let told = |url: &str| refusal(&*source(url)).0;
        let why = told("postgres://me@db.example.org/ak");
        assert!(why.contains("must be on this machine"), "{why}");
        if cfg!(feature = "qdrant") {
            let why = told("http://qdrant.example.org/ak");
            assert!(why.contains("must begin with https://"), "{why}");
        }
    }
}
