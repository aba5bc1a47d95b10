//! Measures one append from spawn to exit, compared with programs that do nothing (one of them has three
//! instructions), with the shell's `echo >>`, and with `sqlite3` if it is installed. All take turns in one run,
//! because only their ratio is reliable on a busy machine. Not here: appending inside a process.
//!
//! `cargo bench --no-default-features --bench append [-- ROUNDS [NAME=PROGRAM]...]`: each PROGRAM is another
//! build of `log-memory` to measure too.
#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Default number of rounds: enough for a p99 of three values, and done in seconds.
const ROUNDS_DEFAULT: usize = 300;
/// Warm-up rounds that do not count.
const ROUNDS_UNCOUNTED: usize = 10;
/// How many programs run at once in the second part.
const WRITERS: usize = 8;
/// The lower bound: no program can be faster.
const FLOOR: &str = "floor (assembler, exit)";

/// A program in the comparison, and the times of its runs.
struct AppendContender {
    name: String,
    program: PathBuf,
    args: Vec<String>,
    times: Vec<Duration>,
}

fn main() -> Outcome<()> {
    let mut rounds = ROUNDS_DEFAULT;
    let mut builds = vec![("log-memory".to_owned(), env!("CARGO_BIN_EXE_log-memory").into())];
    // Cargo passes `--bench` itself.
    for word in std::env::args().skip(1).filter(|word| !word.starts_with("--")) {
        match word.split_once('=') {
            Some((name, program)) => builds.push((name.to_owned(), PathBuf::from(program))),
            None => rounds = word.parse()?,
        }
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-append");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    make_work_tree(&place)?;
    let mut contenders = contenders(&place, builds)?;
    take_turns(&mut contenders, &place, rounds)?;
    report_times(&mut contenders, rounds)?;
    report_cpu(&contenders, &place, rounds)?;
    report_throughput(&contenders, &place, rounds)?;
    Ok(())
}

/// Creates a typical working directory of an agent: a git repository with a remote.
fn make_work_tree(place: &Path) -> Outcome<()> {
    let git = place.join("work/.git");
    fs::create_dir_all(git.join("refs/heads"))?;
    fs::create_dir_all(place.join("home"))?;
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    fs::write(git.join("refs/heads/main"), format!("{}\n", "0123456789".repeat(4)))?;
    fs::write(git.join("config"), "[remote \"origin\"]\n\turl = git@github.com:acme/api.git\n")?;
    Ok(())
}

fn contenders(place: &Path, builds: Vec<(String, PathBuf)>) -> Outcome<Vec<AppendContender>> {
    let contender = |name: &str, program: PathBuf, args: Vec<String>| AppendContender {
        name: name.to_owned(),
        program,
        args,
        times: Vec::new(),
    };
    let mut all = vec![contender("no-op, dynamic", no_op(place, "dynamic", &[])?, Vec::new())];
    match no_op(place, "static", &["-C", "target-feature=+crt-static"]) {
        Ok(program) => all.push(contender("no-op, static", program, Vec::new())),
        Err(why) => println!("no static no-op here: {why}"),
    }
    match floor(place) {
        Ok(program) => all.push(contender(FLOOR, program, Vec::new())),
        Err(why) => println!("no program of three instructions here: {why}"),
    }
    for (name, program) in builds {
        all.push(contender(&name, program, lesson()));
    }
    let line = format!("echo '{}' >> ../echo.jsonl", "x".repeat(450));
    all.push(contender("sh -c 'echo >>'", "/bin/sh".into(), vec!["-c".to_owned(), line]));
    match database(place) {
        Ok(program) => {
            all.push(contender("sqlite3, WAL, synchronous=normal", program, insertion()));
        }
        Err(why) => println!("no sqlite3 here: {why}"),
    }
    Ok(all)
}

/// Creates a database with a table for lines. Returns the `sqlite3` program.
fn database(place: &Path) -> Outcome<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let program = std::env::split_paths(&paths).map(|folder| folder.join("sqlite3"));
    let program = program.into_iter().find(|program| program.is_file()).ok_or("not on PATH")?;
    let schema = "pragma journal_mode=wal; create table lines (line text not null);";
    let made = Command::new(&program).arg(place.join("lines.db")).arg(schema).output()?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into());
    }
    Ok(program)
}

/// Inserts a line as long as ours into that table. Other processes may lock the table for a while.
fn insertion() -> Vec<String> {
    let insert = format!("insert into lines values ('{}');", "x".repeat(450));
    let words = ["-cmd", ".timeout 60000", "-cmd", "pragma synchronous=normal;", "../lines.db"];
    words.map(str::to_owned).into_iter().chain([insert]).collect()
}

/// Compiles a program that does nothing, with the flags of our release profile.
fn no_op(place: &Path, name: &str, flags: &[&str]) -> Outcome<PathBuf> {
    compiled(place, &format!("no_op_{name}"), "fn main() {}\n", flags)
}

/// Compiles the minimal process: only the exit call, and no library.
fn floor(place: &Path) -> Outcome<PathBuf> {
    let end = match std::env::consts::ARCH {
        "x86_64" => "mov eax, 60\nxor edi, edi\nsyscall",
        "aarch64" => "mov x8, 93\nmov x0, 0\nsvc 0",
        other => return Err(format!("how one ends on {other} is not known").into()),
    };
    let source = format!(
        "#![no_std]\n#![no_main]\ncore::arch::global_asm!(\".globl _start\\n_start:\\n{}\");\n\
         #[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}\n",
        end.replace('\n', "\\n")
    );
    let flags = ["-nostartfiles", "-nostdlib", "-static"].map(|flag| format!("link-arg={flag}"));
    let flags: Vec<&str> = flags.iter().flat_map(|flag| ["-C", flag.as_str()]).collect();
    let flags = [flags.as_slice(), &["-C", "relocation-model=static"]].concat();
    compiled(place, "floor", &source, &flags)
}

fn compiled(place: &Path, name: &str, text: &str, flags: &[&str]) -> Outcome<PathBuf> {
    let (source, program) = (place.join(format!("{name}.rs")), place.join(name));
    fs::write(&source, text)?;
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let ours = ["-C", "opt-level=3", "-C", "panic=abort", "-C", "strip=symbols"];
    let mut command = Command::new(compiler);
    let output = command.args(ours).args(flags).arg("-o").arg(&program).arg(&source).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(program)
}

/// The founding example: a line of some 500 bytes.
fn lesson() -> Vec<String> {
    let words = [
        "--type",
        "error",
        "--context",
        "npm install failed with EACCES",
        "--command",
        "sudo chown -R $USER . && npm ci",
        "--lesson",
        "always verify ownership before npm operations",
        "--success-rate",
        "9/10",
        "--tags",
        "npm,permissions,node_modules",
    ];
    words.map(str::to_owned).to_vec()
}

impl AppendContender {
    fn run(&self, place: &Path) -> Outcome<()> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().current_dir(place.join("work"));
        command.env("HOME", place.join("home")).env("USER", "bench");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        let status = command.status()?;
        if status.success() { Ok(()) } else { Err(format!("{}: {status}", self.name).into()) }
    }

    fn at(&self, percent: usize) -> Duration {
        let last = self.times.len().saturating_sub(1);
        self.times.get(last * percent / 100).copied().unwrap_or_default()
    }
}

fn take_turns(contenders: &mut [AppendContender], place: &Path, rounds: usize) -> Outcome<()> {
    for round in 0..rounds + ROUNDS_UNCOUNTED {
        for contender in &mut *contenders {
            let start = Instant::now();
            contender.run(place)?;
            if round >= ROUNDS_UNCOUNTED {
                contender.times.push(start.elapsed());
            }
        }
    }
    contenders.iter_mut().for_each(|contender| contender.times.sort());
    Ok(())
}

fn report_times(contenders: &mut [AppendContender], rounds: usize) -> Outcome<()> {
    let floor = contenders.first().ok_or("nothing was measured")?;
    let (floor_min, floor_p50) = (floor.at(0), floor.at(50));
    println!("spawn to exit, {rounds} rounds taking turns; ratios to the dynamic no-op\n");
    println!("| program | size | min | p50 | p99 | min ratio | p50 ratio |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for contender in contenders {
        println!(
            "| {} | {} kB | {:.3} ms | {:.3} ms | {:.3} ms | {:.2} | {:.2} |",
            contender.name,
            fs::metadata(&contender.program)?.len() / 1000,
            contender.at(0).as_secs_f64() * 1e3,
            contender.at(50).as_secs_f64() * 1e3,
            contender.at(99).as_secs_f64() * 1e3,
            contender.at(0).as_secs_f64() / floor_min.as_secs_f64(),
            contender.at(50).as_secs_f64() / floor_p50.as_secs_f64(),
        );
    }
    Ok(())
}

/// Reports CPU time, which is more reliable than wall time on a busy machine. It sums many runs, because the
/// system counts it in hundredths of a second.
fn report_cpu(contenders: &[AppendContender], place: &Path, rounds: usize) -> Outcome<()> {
    if children_cpu().is_none() {
        println!("\nno CPU time of children here");
        return Ok(());
    }
    let mut each_s = Vec::new();
    for contender in contenders {
        let before = children_cpu().ok_or("CPU time cannot be read")?;
        (0..rounds).try_for_each(|_| contender.run(place))?;
        let took = children_cpu().ok_or("CPU time cannot be read")? - before;
        each_s.push(took / f64::from(u32::try_from(rounds)?));
    }
    let no_op = each_s.first().copied().unwrap_or_default();
    let floor = contenders.iter().position(|contender| contender.name == FLOOR);
    let floor = floor.and_then(|place| each_s.get(place).copied());
    println!(
        "\nCPU time of a run, {rounds} in a row; ratios to the dynamic no-op and to the floor\n"
    );
    println!("| program | CPU time | ratio | to the floor |\n|---|---:|---:|---:|");
    for (contender, each) in contenders.iter().zip(each_s) {
        let to_floor = floor.map_or("-".to_owned(), |floor| format!("{:.2}", each / floor));
        let (name, each_ms) = (&contender.name, each * 1e3);
        println!("| {name} | {each_ms:.3} ms | {:.2} | {to_floor} |", each / no_op);
    }
    Ok(())
}

/// Returns the CPU time of finished children, in seconds. Linux reports it in hundredths, as fields 16 and 17
/// of `stat` in `proc(5)`.
fn children_cpu() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = |place: usize| fields.split_whitespace().nth(place)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

fn report_throughput(contenders: &[AppendContender], place: &Path, rounds: usize) -> Outcome<()> {
    println!(
        "\n{WRITERS} at once, {rounds} runs each\n\n| program | runs per second |\n|---|---:|"
    );
    for contender in contenders {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let runs =
                || (0..rounds).try_for_each(|_| contender.run(place).map_err(|e| e.to_string()));
            let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(runs)).collect();
            writers.into_iter().try_for_each(|writer| {
                writer.join().map_err(|_| "a writer died")?.map_err(Box::<dyn Error>::from)
            })
        })?;
        let total = f64::from(u32::try_from(WRITERS * rounds)?);
        println!("| {} | {:.0} |", contender.name, total / start.elapsed().as_secs_f64());
    }
    Ok(())
}
