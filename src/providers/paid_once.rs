//! No text is sent, and paid, twice: what a worker asks of a stand-in that refuses one text, takes few at once, and is away for a while. Not
//! here: what can go wrong otherwise (`faults`).

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::open_embedder::open;
use crate::probe_record::PROBE;
use crate::stand_in::{StandInAnswer, StandInServer, openai};
use index::embed::SpaceId;
use index::embed::worker::{Job, Progress, ShutdownMode, WantedOutput, Worker, WorkerConfig};
use settings::{EmbeddingProvider, ProviderForm};

/// Longer than the others, so that it is sent after them.
const TOO_LONG: &str = "this text is too long";

/// What a worker did with twenty texts, of which the server refuses one alone, and more than five at once: its progress, and how often
/// each text was embedded. `is_away` tells at which of the batches that it takes the server is away.
fn paid(is_away: impl Fn(usize) -> bool + Send + 'static) -> (Progress, BTreeMap<String, usize>) {
    let (counted, embedded) = channel::<String>();
    let mut batches = 0;
    let server = StandInServer::start(move |received| {
        let texts = received.body["input"].as_array().unwrap();
        if texts.len() > 5 || texts.iter().any(|text| text == TOO_LONG) {
            return Some(StandInAnswer::status("400 Bad Request", "{\"error\":\"refused\"}"));
        }
        batches += 1;
        if is_away(batches) {
            return Some(StandInAnswer::status("401 Unauthorized", "{\"error\":\"no credit\"}"));
        }
        texts.iter().for_each(|text| drop(counted.send(text.as_str().unwrap().to_owned())));
        Some(openai(received))
    });
    let cache = tempfile::tempdir().unwrap();
    let (begin, begun) = channel::<()>();
    let usual = EmbeddingProvider::with_defaults(ProviderForm::OpenAi, "m");
    let provider = EmbeddingProvider { url: server.url.clone(), ..usual };
    let folder = cache.path().to_owned();
    let load = move || {
        // All texts wait by then, so that they are one batch.
        begun.recv().unwrap();
        open(&provider, None, &folder)
    };
    let worker = Worker::start(WorkerConfig {
        load: Box::new(load),
        space: SpaceId::default(),
        at_end: ShutdownMode::Wait,
        idle: None,
        cache: None,
        deliver: Box::new(|_| {}),
    });
    let worker = worker.unwrap();
    for doc in 0..20 {
        let text = if doc == 7 { TOO_LONG.to_owned() } else { format!("text number {doc:02}") };
        worker.submit(Job { doc, generation: 0, text, want: WantedOutput::Vector }).unwrap();
    }
    begin.send(()).unwrap();
    let since = Instant::now();
    while worker.queued() > 0 {
        assert!(since.elapsed() < Duration::from_secs(60), "{:?}", worker.progress());
        std::thread::yield_now();
    }
    let mut times = BTreeMap::new();
    for text in embedded.try_iter().filter(|text| text != PROBE) {
        *times.entry(text).or_default() += 1;
    }
    (worker.progress(), times)
}

// S-PROVIDER-3
#[test]
fn a_refused_text_pays_nothing_twice() {
    let (progress, times) = paid(|_| false);
    assert_eq!((progress.done, progress.failed), (19, 1));
    assert!(progress.model_trouble.unwrap().contains("refused"));
    assert_eq!(times.len(), 19);
    assert!(times.values().all(|count| *count == 1), "{times:?}");
}

// S-PROVIDER-4
#[test]
fn a_pause_makes_no_text_paid_twice() {
    // The first is the probe.
    let (progress, times) = paid(|batch| batch == 4);
    assert_eq!((progress.done, progress.failed), (19, 1));
    assert!(times.len() == 19 && times.values().all(|count| *count == 1), "{times:?}");
}
