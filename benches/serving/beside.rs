//! Compares two peers, our programs and plain BM25 at the same work, with one corpus, one set of questions and
//! one client. They take turns question by question. Speed without recall is worthless, so both are reported.
//! Not here: the protocols of the peers (`peers`).

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bm25::{Embedder, EmbedderBuilder, Scorer};
use serde_json::json;

use super::corpus::{self, ASKED, Question};
use super::mcp_client::McpClient;
use super::ours::{By, Ours, save, search};
use super::peers::{FIRST, Installed, Kind, Peer};
use super::server_process::{self, STEP};
use super::times::{Times, rounded};
use super::{Bench, Outcome};

/// A system in the comparison.
enum Who {
    Ours(Ours),
    Peer(Peer),
}

struct Contender {
    who: Who,
    client: McpClient,
    queries: Times,
    writes: Times,
    starts: Times,
    restarts: Times,
    /// For each kind of question: how many were asked, and how many had the right answer among the first five.
    right: [(usize, usize); ASKED.len()],
}

impl Who {
    fn name(&self) -> &'static str {
        match self {
            Self::Ours(ours) => ours.by.name(),
            Self::Peer(peer) => peer.name(),
        }
    }

    fn client(&self) -> Outcome<McpClient> {
        match self {
            Self::Ours(ours) => ours.client(),
            Self::Peer(peer) => peer.client(),
        }
    }

    /// Asks a question. Returns whether the right memory is among the first five, and the time.
    fn ask(&self, client: &mut McpClient, question: &Question) -> Outcome<(bool, Duration)> {
        match self {
            Self::Ours(_) => {
                let told = search(client, &question.text)?;
                Ok((told.text.contains(&corpus::id(question.answer)), told.took))
            }
            Self::Peer(peer) => {
                let (found, took) = peer.search(client, &question.text)?;
                Ok((found.contains(&question.answer), took))
            }
        }
    }

    fn write(&mut self, client: &mut McpClient, number: u64) -> Outcome<Duration> {
        let event = corpus::event(number);
        match self {
            Self::Ours(_) => save(client, &event),
            Self::Peer(peer) => peer.write(client, number, &event),
        }
    }
}

/// Runs the whole comparison at one size.
pub fn compare(
    bench: &Bench,
    installed: &Installed,
    size: u64,
    with_meaning: Option<()>,
) -> Outcome<()> {
    let mut all = Vec::new();
    for by in
        [By::Words, By::Both].into_iter().filter(|&by| by == By::Words || with_meaning.is_some())
    {
        let (ours, took) = bench.store(&format!("beside-{by:?}"), by, size)?;
        let client = ours.client()?;
        let ready = ours.ready(bench.ready_bound)?;
        report_fill(bench, by.name(), size, took + ready)?;
        ours.settled()?;
        all.push(Contender::new(Who::Ours(ours), client));
    }
    for kind in [Kind::Vestige, Kind::ServerMemory] {
        let mut peer = Peer::new(kind, installed, &bench.place.join(format!("beside-{kind:?}")))?;
        let mut client = peer.client()?;
        let start = Instant::now();
        peer.fill(&mut client, 0..size)?;
        report_fill(bench, peer.name(), size, start.elapsed())?;
        all.push(Contender::new(Who::Peer(peer), client));
    }
    let questions = corpus::questions(size, bench.questions);
    let stock = Bm25Stock::build(size);
    let mut plain = [(0, 0); ASKED.len()];
    for question in &questions {
        for one in &mut all {
            let (right, took) = one.who.ask(&mut one.client, question)?;
            one.queries.push(took);
            count(&mut one.right, question, right);
        }
        count(&mut plain, question, stock.first(&question.text).contains(&question.answer));
    }
    writes_and_starts(bench, &mut all, size)?;
    restarts(bench, &mut all, &questions)?;
    for one in &all {
        one.report(bench, size)?;
    }
    bench.results.row("beside", &json!({"what": "plain BM25 (bm25 crate), in process", "events": size,
        "R@5": recall(&plain), "reworded": share(plain[0]), "elsewhere": share(plain[1]), "names": share(plain[2])}))
}

fn report_fill(bench: &Bench, name: &str, size: u64, took: Duration) -> Outcome<()> {
    bench.results.row(
        "filling",
        &json!({"what": name, "events": size, "seconds": rounded(took.as_secs_f64())}),
    )
}

fn count(right: &mut [(usize, usize); ASKED.len()], question: &Question, is_right: bool) {
    let at = ASKED.iter().position(|&asked| asked == question.asked).unwrap_or(0);
    if let Some((asked, answered)) = right.get_mut(at) {
        *asked += 1;
        *answered += usize::from(is_right);
    }
}

fn share((asked, answered): (usize, usize)) -> f64 {
    rounded(answered as f64 / asked.max(1) as f64)
}

fn recall(right: &[(usize, usize)]) -> f64 {
    share(right.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
}

fn writes_and_starts(bench: &Bench, all: &mut [Contender], size: u64) -> Outcome<()> {
    for round in 0..bench.rounds * 2 {
        for one in &mut *all {
            let took = one.who.write(&mut one.client, size + u64::try_from(round)?)?;
            one.writes.push(took);
        }
        if round % 2 == 0 {
            for one in &mut *all {
                one.starts.push(one.who.client()?.opened);
            }
        }
    }
    Ok(())
}

/// Kills the server and starts a new client, which asks until the answer is right. Each is asked a question
/// that it answered correctly before.
fn restarts(bench: &Bench, all: &mut [Contender], questions: &[Question]) -> Outcome<()> {
    for _ in 0..bench.rounds.div_ceil(6) {
        for one in &mut *all {
            let mut known = None;
            for question in questions.iter().rev() {
                if one.who.ask(&mut one.client, question)?.0 {
                    known = Some(question);
                    break;
                }
            }
            let Some(question) = known else { continue };
            match &one.who {
                Who::Ours(ours) => ours.kill()?,
                Who::Peer(_) => server_process::send("-KILL", one.client.process())?,
            }
            let start = Instant::now();
            one.client = one.who.client()?;
            while !one.who.ask(&mut one.client, question)?.0 {
                if start.elapsed() > STEP {
                    return Err(
                        format!("{}: no right answer after a restart", one.who.name()).into()
                    );
                }
            }
            one.restarts.push(start.elapsed());
        }
    }
    Ok(())
}

impl Contender {
    fn new(who: Who, client: McpClient) -> Self {
        let times = Times::default;
        Self {
            who,
            client,
            queries: times(),
            writes: times(),
            starts: times(),
            restarts: times(),
            right: [(0, 0); ASKED.len()],
        }
    }

    fn report(&self, bench: &Bench, size: u64) -> Outcome<()> {
        let client = server_process::memory(self.client.process())?;
        let (shared, bytes) = match &self.who {
            Who::Ours(ours) => {
                let (logs, cache) = ours.bytes();
                (server_process::memory(ours.retriever()?)?.resident, logs + cache)
            }
            Who::Peer(peer) => (0, peer.bytes()),
        };
        let ms = |times: &Times, percent| rounded(times.at(percent));
        bench.results.row("beside", &json!({
            "what": self.who.name(), "events": size,
            "write p50 ms": ms(&self.writes, 50),
            "query p50 ms": ms(&self.queries, 50), "query p99 ms": ms(&self.queries, 99),
            "start p50 ms": ms(&self.starts, 50), "restart to right p50 ms": ms(&self.restarts, 50),
            "RSS of a client MB": rounded(client.resident as f64 / 1e3),
            "RSS shared MB": rounded(shared as f64 / 1e3), "disk MB": rounded(bytes as f64 / 1e6),
            "R@5": recall(&self.right), "reworded": share(self.right[0]),
            "elsewhere": share(self.right[1]), "names": share(self.right[2]),
        }))
    }
}

/// The `bm25` crate as in its documentation, on the words of all fields.
struct Bm25Stock {
    embedder: Embedder,
    scorer: Scorer<u64>,
}

impl Bm25Stock {
    fn build(size: u64) -> Self {
        let texts: Vec<String> = (0..size).map(|number| corpus::event(number).text()).collect();
        let corpus: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tokenizer = bm25::DefaultTokenizer::default();
        let embedder =
            EmbedderBuilder::with_tokenizer_and_fit_to_corpus(tokenizer, &corpus).build();
        let mut scorer = Scorer::new();
        for (number, text) in (0..).zip(&texts) {
            scorer.upsert(&number, embedder.embed(text));
        }
        Self { embedder, scorer }
    }

    fn first(&self, query: &str) -> Vec<u64> {
        let found = self.scorer.matches(&self.embedder.embed(query));
        found.into_iter().take(FIRST).map(|found| found.id).collect()
    }
}

/// Returns the installed peers; `None` if one is missing.
pub fn installed(node: &Path, server_memory: &Path, vestige: &Path) -> Option<Installed> {
    let there = [node, server_memory, vestige].iter().all(|path| fs::metadata(path).is_ok());
    there.then(|| Installed {
        node: node.to_owned(),
        server_memory: server_memory.to_owned(),
        vestige: vestige.to_owned(),
    })
}
