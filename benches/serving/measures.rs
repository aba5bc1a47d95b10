//! The measurements of our own programs, one function per part. Contenders take turns in rounds together with a
//! floor, because only their ratio is reliable on a busy machine. Not here: peers (`beside`).

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::corpus::{self, Question};
use super::mcp_client::McpClient;
use super::ours::{By, Ours, save, search};
use super::server_process::{self, STEP, is_running};
use super::times::{Times, rounded};
use super::{Bench, Outcome};

/// Attached clients: as many as a busy developer has.
pub const ATTACHED: usize = 8;
/// Clients that ask at the same time.
const ASKERS: usize = 16;
/// The length of an idle phase.
const IDLE: Duration = Duration::from_secs(10);
/// How many warm handshakes or restarts there are for each cold one.
const COLD_EVERY: usize = 4;
/// The beginning of unknown words that must be found; each ends in a different number.
const WORD: &str = "zyxoquark";

/// Measures from spawn to the answer of `initialize`, with and without a running retriever.
pub fn handshake(bench: &Bench, sizes: &[u64]) -> Outcome<()> {
    let mut stores = Vec::new();
    for &size in sizes {
        let (ours, _) = bench.store(&format!("handshake-{size}"), By::Words, size)?;
        ours.ready(STEP)?;
        stores.push((ours, Times::default(), Times::default()));
    }
    let mut floor = Times::default();
    for round in 0..bench.rounds {
        floor.push(bench.no_op()?);
        for (ours, attached, cold) in &mut stores {
            attached.push(ours.client()?.opened);
            // A cold start blocks all other measurements until a large store is read, so it is done less often.
            if round % COLD_EVERY == 0 {
                ours.stop()?;
                cold.push(ours.client()?.opened);
                ours.ready(STEP)?;
            }
        }
    }
    bench.results.times(
        "handshake",
        &json!({"what": "no-op program, spawn to exit", "events": 0}),
        &floor,
        &floor,
    )?;
    for (ours, attached, cold) in &stores {
        for (what, times) in [("attached", attached), ("no retriever there", cold)] {
            bench.results.times(
                "handshake",
                &json!({"what": what, "events": ours.events}),
                times,
                &floor,
            )?;
        }
    }
    Ok(())
}

/// Measures searches through attached clients: one at a time with sizes and modes taking turns, then many at
/// once.
pub fn searches(bench: &Bench, stores: &[(By, u64)]) -> Outcome<()> {
    let mut asked = Vec::new();
    for &(by, size) in stores {
        let (ours, _) = bench.store(&format!("search-{size}-{by:?}"), by, size)?;
        let client = ours.client()?;
        let took = ours.ready(bench.ready_bound)?;
        bench.results.row(
            "ready",
            &json!({"what": by.name(), "events": size, "seconds": rounded(took.as_secs_f64())}),
        )?;
        asked.push((
            ours,
            client,
            corpus::questions(size, bench.questions),
            Times::default(),
            0_usize,
        ));
    }
    for (ours, ..) in &asked {
        ours.settled()?;
    }
    let mut echo = McpClient::plain(&mut Command::new("cat"))?;
    let mut floor = Times::default();
    for at in 0..bench.questions {
        floor.push(echo.exchange(&format!("{}\n", "x".repeat(300)))?.1);
        for (_, client, questions, times, right) in &mut asked {
            let Some(question) = questions.get(at) else { continue };
            let told = search(client, &question.text)?;
            times.push(told.took);
            *right += usize::from(told.text.contains(&corpus::id(question.answer)));
        }
    }
    bench.results.times(
        "search",
        &json!({"what": "cat, 300 bytes there and back", "events": 0, "clients": 1}),
        &floor,
        &floor,
    )?;
    for (ours, _, _, times, right) in &asked {
        let share = rounded(*right as f64 / times.count().max(1) as f64);
        let mut cells = json!({"what": ours.by.name(), "events": ours.events, "clients": 1});
        // Recall with synthetic vectors has no meaning.
        if let (By::Words | By::Both, Some(cells)) = (ours.by, cells.as_object_mut()) {
            cells.insert("R@5".to_owned(), share.into());
        }
        bench.results.times("search", &cells, times, &floor)?;
    }
    for (ours, _, questions, _, _) in &asked {
        let times = at_once(ours, questions)?;
        let cells = json!({"what": ours.by.name(), "events": ours.events, "clients": ASKERS});
        bench.results.times("search", &cells, &times, &floor)?;
    }
    Ok(())
}

/// Every client asks all questions without a pause, each starting at a different one.
fn at_once(ours: &Ours, questions: &[Question]) -> Outcome<Times> {
    let ask = |first: usize| -> Result<Times, String> {
        let mut client = ours.client().map_err(|error| error.to_string())?;
        let mut times = Times::default();
        for question in questions.iter().cycle().skip(first * 7).take(questions.len() / 2) {
            times
                .push(search(&mut client, &question.text).map_err(|error| error.to_string())?.took);
        }
        Ok(times)
    };
    std::thread::scope(|scope| {
        let askers: Vec<_> = (0..ASKERS).map(|first| scope.spawn(move || ask(first))).collect();
        let mut all = Times::default();
        for asker in askers {
            all.extend(asker.join().map_err(|_| "an asker died")??);
        }
        Ok(all)
    })
}

/// Measures whether the next search finds what another process appended, and how long that search takes.
pub fn freshness(bench: &Bench, size: u64) -> Outcome<()> {
    let (ours, _) = bench.store("freshness", By::Words, size)?;
    let mut client = ours.client()?;
    ours.ready(STEP)?;
    ours.settled()?;
    let (mut found, mut known, mut misses) = (Times::default(), Times::default(), 0_usize);
    for round in 0..bench.rounds * 4 {
        let word = format!("{WORD}{round}");
        let lesson = format!("the {word} needs a reset after a merge");
        ours.run("log-memory", &["--repo", "acme/fresh", "--type", "error", "--lesson", &lesson])?;
        let start = Instant::now();
        let mut is_there = search(&mut client, &word)?.text.contains(&lesson);
        misses += usize::from(!is_there);
        while !is_there && start.elapsed() < STEP {
            is_there = search(&mut client, &word)?.text.contains(&lesson);
        }
        found.push(start.elapsed());
        known.push(search(&mut client, &word)?.took);
    }
    bench.results.times(
        "freshness",
        &json!({"what": "the same search again", "events": size}),
        &known,
        &known,
    )?;
    let cells =
        json!({"what": "log-memory returned -> found", "events": size, "missed at first": misses});
    bench.results.times("freshness", &cells, &found, &known)
}

/// Kills the retriever with kill -9. A client that stays asks until the answer is right.
pub fn restart(bench: &Bench, sizes: &[u64]) -> Outcome<()> {
    for &size in sizes {
        let (ours, _) = bench.store(&format!("restart-{size}"), By::Words, size)?;
        let mut client = ours.client()?;
        ours.ready(STEP)?;
        let question = answerable(&mut client, size)?;
        // A retriever may write its checkpoint when it ends.
        ours.stop()?;
        ours.ready(STEP)?;
        let kept = ours.checkpoint();
        let (mut warm, mut cold, mut floor) =
            (Times::default(), Times::default(), Times::default());
        for round in 0..bench.rounds.div_ceil(2) {
            floor.push(bench.no_op()?);
            if kept.is_some() {
                ours.ready(STEP)?;
                ours.stop()?;
                ours.ready(STEP)?;
                warm.push(killed(&ours, &mut client, &question)?);
            }
            // Reading all logs is slow, so it is done less often.
            if round % COLD_EVERY != 0 {
                continue;
            }
            ours.ready(STEP)?;
            if let Some(folder) = ours.checkpoint() {
                fs::remove_dir_all(folder)?;
            }
            cold.push(killed(&ours, &mut client, &question)?);
        }
        for (what, times) in [("with a checkpoint", warm), ("from the logs alone", cold)] {
            if times.count() > 0 {
                bench.results.times(
                    "restart",
                    &json!({"what": what, "events": size}),
                    &times,
                    &floor,
                )?;
            }
        }
    }
    Ok(())
}

/// Kills the retriever. Returns the time until the client gets the right answer.
fn killed(ours: &Ours, client: &mut McpClient, question: &Question) -> Outcome<Duration> {
    ours.kill()?;
    let start = Instant::now();
    while !search(client, &question.text)?.text.contains(&corpus::id(question.answer)) {
        if start.elapsed() > STEP {
            return Err("no right answer after a restart".into());
        }
    }
    Ok(start.elapsed())
}

/// Returns a question about an early event, which is read last, that is answered correctly in normal operation.
fn answerable(client: &mut McpClient, size: u64) -> Outcome<Question> {
    let mut early: Vec<Question> = corpus::questions(size, 600);
    early.sort_by_key(|question| question.answer);
    for question in early {
        if search(client, &question.text)?.text.contains(&corpus::id(question.answer)) {
            return Ok(question);
        }
    }
    Err("no question has its right answer".into())
}

/// Measures the memory of the retriever and its clients, and their work while idle.
pub fn footprint(bench: &Bench, stores: &[(By, u64)]) -> Outcome<()> {
    for &(by, size) in stores {
        let (ours, _) = bench.store("footprint", by, size)?;
        let mut clients = Vec::new();
        for _ in 0..ATTACHED {
            clients.push(ours.client()?);
        }
        ours.ready(bench.ready_bound)?;
        for some in corpus::questions(size, bench.questions).chunks(ATTACHED) {
            for (client, question) in clients.iter_mut().zip(some) {
                search(client, &question.text)?;
            }
        }
        let rest = ours.settled()?;
        let retriever = ours.retriever()?;
        let processes: Vec<u32> =
            clients.iter().map(McpClient::process).chain([retriever]).collect();
        let before: Vec<u64> =
            processes.iter().map(|&pid| server_process::ticks(pid).unwrap_or(0)).collect();
        std::thread::park_timeout(IDLE);
        let used: u64 = processes
            .iter()
            .zip(before)
            .map(|(&pid, before)| server_process::ticks(pid).unwrap_or(0) - before)
            .sum();
        let memory = server_process::memory(retriever)?;
        let of_clients: Vec<_> =
            clients.iter().flat_map(|client| server_process::memory(client.process())).collect();
        let most = |of: fn(&server_process::Memory) -> u64| {
            of_clients.iter().map(of).max().unwrap_or(0) as f64 / 1e3
        };
        let (logs, cache) = ours.bytes();
        bench.results.row(
            "footprint",
            &json!({
                "what": by.name(), "events": size, "clients": ATTACHED,
                "retriever RSS MB": rounded(memory.resident as f64 / 1e3),
                "retriever private MB": rounded(memory.private as f64 / 1e3),
                "client RSS MB, most": rounded(most(|memory| memory.resident)),
                "client private MB, most": rounded(most(|memory| memory.private)),
                "s until at rest": rounded(rest.as_secs_f64()), "CPU ms in 10 idle s, all": used * 10,
                "logs MB": rounded(logs as f64 / 1e6), "cache MB": rounded(cache as f64 / 1e6),
            }),
        )?;
        drop(clients);
    }
    Ok(())
}

/// Measures one save over MCP and one by the shell command, in turns with a program that does nothing.
pub fn saves(bench: &Bench, size: u64) -> Outcome<()> {
    let (ours, _) = bench.store("saves", By::Words, size)?;
    let mut client = ours.client()?;
    ours.ready(STEP)?;
    ours.settled()?;
    let (mut over_mcp, mut by_shell, mut floor) =
        (Times::default(), Times::default(), Times::default());
    for round in 0..bench.rounds * 4 {
        let event = corpus::event(size + u64::try_from(round)?);
        floor.push(bench.no_op()?);
        over_mcp.push(save(&mut client, &event)?);
        let words = [
            "--repo",
            &event.repo,
            "--type",
            "error",
            "--context",
            &event.context,
            "--lesson",
            &event.lesson,
        ];
        by_shell.push(ours.run("log-memory", &words)?.1);
    }
    bench.results.times(
        "save",
        &json!({"what": "no-op program, spawn to exit", "events": size}),
        &floor,
        &floor,
    )?;
    bench.results.times(
        "save",
        &json!({"what": "memory_save, attached", "events": size}),
        &over_mcp,
        &floor,
    )?;
    bench.results.times(
        "save",
        &json!({"what": "log-memory, spawn to exit", "events": size}),
        &by_shell,
        &floor,
    )
}

/// Every attached client saves without a pause. Everything acknowledged must be found.
pub fn many_saves(bench: &Bench, each: u64) -> Outcome<()> {
    let (ours, _) = bench.store("many-saves", By::Words, 1_000)?;
    ours.ready(STEP)?;
    let save_some = |first: u64| -> Result<Times, String> {
        let mut client = ours.client().map_err(|error| error.to_string())?;
        let mut times = Times::default();
        for number in first..first + each {
            times.push(
                save(&mut client, &corpus::event(number)).map_err(|error| error.to_string())?,
            );
        }
        Ok(times)
    };
    let start = Instant::now();
    let times = std::thread::scope(|scope| -> Outcome<Times> {
        let savers: Vec<_> = (1..=ATTACHED as u64)
            .map(|number| scope.spawn(move || save_some(number * 1_000_000)))
            .collect();
        let mut all = Times::default();
        for saver in savers {
            all.extend(saver.join().map_err(|_| "a saver died")??);
        }
        Ok(all)
    })?;
    let seconds = rounded(start.elapsed().as_secs_f64());
    let memories = ours.status()?.get("memories").and_then(serde_json::Value::as_u64);
    let found = memories.unwrap_or(0).saturating_sub(ours.events);
    let cells = json!({"what": "8 clients at once, memory_save", "acknowledged": times.count(),
        "there": found, "seconds": seconds, "p50 ms": rounded(times.at(50)),
        "p99 ms": rounded(times.at(99))});
    bench.results.row("concurrent saves", &cells)
}

/// Imports many lines at once, compared with a plain copy of the same bytes.
pub fn imports(bench: &Bench, lines: u64) -> Outcome<()> {
    let (mut ours_took, mut floor) = (Times::default(), Times::default());
    let mut bytes = 0;
    for round in 0..3 {
        let text: String = (0..lines).map(|number| corpus::event(number).line()).collect();
        bytes = text.len();
        floor.push(copied(&bench.place, &text)?);
        drop(text);
        let (_ours, took) = bench.store(&format!("import-{round}"), By::Words, lines)?;
        ours_took.push(took);
    }
    let cells =
        |what: &str| json!({"what": what, "lines": lines, "MB": rounded(bytes as f64 / 1e6)});
    bench.results.times("import", &cells("cat > file"), &floor, &floor)?;
    bench.results.times("import", &cells("log-memory --json -"), &ours_took, &floor)
}

fn copied(place: &Path, text: &str) -> Outcome<Duration> {
    fs::create_dir_all(place)?;
    let file = fs::File::create(place.join("copied"))?;
    let start = Instant::now();
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(file).spawn()?;
    std::io::Write::write_all(&mut child.stdin.take().ok_or("no input")?, text.as_bytes())?;
    child.wait()?;
    Ok(start.elapsed())
}

/// Measures the `search` command from spawn to exit with a running retriever.
pub fn commands(bench: &Bench, sizes: &[u64]) -> Outcome<()> {
    let mut stores = Vec::new();
    for &size in sizes {
        let (ours, _) = bench.store(&format!("command-{size}"), By::Words, size)?;
        ours.ready(STEP)?;
        ours.settled()?;
        stores.push((ours, corpus::questions(size, bench.rounds), Times::default()));
    }
    let mut floor = Times::default();
    for at in 0..bench.rounds {
        floor.push(bench.no_op()?);
        for (ours, questions, times) in &mut stores {
            let Some(question) = questions.get(at) else { continue };
            times.push(ours.run("agent-knowledge", &["search", "--", &question.text])?.1);
        }
    }
    bench.results.times(
        "command",
        &json!({"what": "no-op program, spawn to exit", "events": 0}),
        &floor,
        &floor,
    )?;
    for (ours, _, times) in &stores {
        bench.results.times(
            "command",
            &json!({"what": "agent-knowledge search, attached", "events": ours.events}),
            times,
            &floor,
        )?;
    }
    Ok(())
}

/// Kills many clients one after another. The retriever must forget each of them. `scripts/soak shared` checks
/// that a client ends with its parent process; here the clients themselves are killed.
pub fn orphans(bench: &Bench, count: usize) -> Outcome<()> {
    let (ours, _) = bench.store("orphans", By::Words, 1_000)?;
    ours.ready(STEP)?;
    let retriever = ours.retriever()?;
    let before = fs::read_dir(format!("/proc/{retriever}/fd"))?.count();
    let mut seen = Vec::new();
    for _ in 0..count {
        let client = ours.client()?;
        seen.push(client.process());
        drop(client);
    }
    let status = ours.status()?;
    let attached = status
        .pointer("/clients/attached")
        .and_then(serde_json::Value::as_array)
        .map_or(0, Vec::len);
    let left = seen.iter().filter(|&&pid| is_running(pid)).count();
    let after = fs::read_dir(format!("/proc/{retriever}/fd"))?.count();
    bench.results.row("orphans", &json!({"what": "clients killed", "count": count, "left": left,
        "attached besides who asks": attached.saturating_sub(1), "files before": before, "files after": after}))
}
