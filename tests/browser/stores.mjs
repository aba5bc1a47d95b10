// The stores that the walk looks at. Each is filled in two steps: `fill` before the server starts, `live` while it runs,
// which is what hooks, searches and reports of agents add.
// `fill` tells what the screens can be opened with, and which of that is missing in this store.
// Not here: the programs that write (home.mjs).

import { appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { execFileSync } from "node:child_process";

import { Home } from "./home.mjs";
import { poisonEvents, poisoned, RAW_LINES } from "./poison.mjs";
import { shapes } from "./shapes.mjs";

const ROOT = join(import.meta.dirname, "../..");
const SESSION = "11111111-2222-3333-4444-555566667777";
const MANY = 100_000;

/** Nothing at all: every screen must say what to do next. */
const empty = {
  async fill() {
    const missing = ["memory", "graph", "session"];
    return { missing, memory: "01M7X0BTW4MJFA09VM61YQ9CMW", session: "none", query: "npm EACCES", task: "fix npm", repo: "acme/web" };
  },
  async live() {},
};

/** The lessons of this project and of its benchmark, with some work of agents on top. */
const own = {
  async fill(home) {
    copyLogs(join(ROOT, "logs"), home.store);
    await home.run("log-memory", ["--json", "-"], readFileSync(join(ROOT, "benches/lessons/corpus.jsonl")));
    repository(home, "https://github.com/acme/billing-api.git");
    writeSession(home, SESSION, {
      asked: "why does the migration fail on a fresh database?",
      error: "Exit code 1\nrelation billing_accounts does not exist",
      said: "The seed runs before the migration, so the order is swapped now.",
    });
    lessonAbout(home, "src/walrus.rs");
    await home.run("log-memory", ["--type", "error", "--lesson", "open the walrus first, see src/walrus.rs"]);
    await home.run("agent-knowledge", ["sessions", "import", "--yes"]);
    await home.save(["acme/shop", "acme/web"].map((repo, number) => ({
      repo, event_type: "error", agent_id: ["codex", "claude-code"][number], context: "npm ci fails in CI",
      symptoms: ["npm error code EACCES, mkdir /srv/cache"], command: "sudo chown -R 1000 /srv/cache",
      lesson: ["the npm cache belongs to root; mount it with uid 1000", "the cache of npm belongs to root: mount it with uid 1000"][number],
      success_rate: ["3/3", "2/2"][number],
    })));
    const past = ofSomeDays(home);
    return {
      past,
      memory: "l003-venv-tool-a",
      session: SESSION,
      query: "poetry install fails",
      task: "set up the Python environment",
      repo: "github.com/acme/billing-api",
    };
  },
  async live(home, known) {
    await work(home, "set up the Python environment with poetry", "poetry install", "poetry: command not found");
    await home.run("agent-knowledge", ["feedback", known.memory, "worked", "--note", "still true with Poetry 1.8"]);
    await home.run("agent-knowledge", ["link", known.memory, "builds_on", "l007-alembic-heads-1"]);
    for (const vain of ["zookeeper quorum lost in staging", "zookeeper quorum lost", "kerberos ticket renewal"]) {
      await home.ask("search", vain);
    }
  },
};

/** Logs that other people's agents wrote. They are measured with and not part of the project. */
const real = {
  async fill(home, { realLogs }) {
    copyLogs(realLogs, home.store);
    const newest = (await home.ask("recent")).memories[0];
    return {
      missing: ["session"],
      memory: newest.id,
      session: "none",
      query: "parsing errors of a large document",
      task: "process large documents",
      repo: newest.repo,
    };
  },
  async live(home, known) {
    await work(home, known.task, "pytest", "JSONDecodeError: Expecting value");
  },
};

/** As many memories as a large team has after years. Lines are written directly: the door would take minutes. */
const many = {
  async fill(home) {
    const words = `cache lock port test build deploy token branch merge retry timeout index schema query parser socket thread
      memory disk permission install version release config secret header cookie session worker queue batch shard replica`.split(/\s+/);
    const kinds = ["error", "success", "pattern", "fact", "decision", "convention"];
    const agents = ["claude-code", "codex", "cursor", "gemini"];
    const pick = chance(7);
    const some = (count) => Array.from({ length: count }, () => words[pick(words.length)]).join(" ");
    const files = new Map();
    const newest = Date.now();
    for (let number = 0; number < MANY; number += 1) {
      // Most repositories have thousands, and one has a hundred: a review compares all pairs, for minutes in a debug build.
      const repo = number % 1000 === 999 ? "service-new" : `service-${pick(40)}`;
      const event = {
        id: `made-${String(number).padStart(6, "0")}`,
        // A year of work: each is five minutes younger than the one before.
        timestamp: new Date(newest - (MANY - number) * 300_000).toISOString(),
        agent_id: agents[pick(4)],
        repo,
        event_type: kinds[pick(6)],
        context: `${some(3)} ${number}`,
        command: number % 3 ? "" : `run ${some(2)} --case ${number}`,
        lesson: `When ${some(2)} fails, ${some(3)} (case ${number}).`,
        tags: [words[pick(words.length)]],
        source: "agent",
      };
      if (!files.has(repo)) files.set(repo, []);
      files.get(repo).push(JSON.stringify(event));
    }
    for (const [repo, lines] of files) writeFileSync(join(home.store, `${repo}.jsonl`), `${lines.join("\n")}\n`, { mode: 0o600 });
    return { missing: ["session"], memory: "made-099999", session: "none", query: "cache timeout", task: "mend the cache", repo: "service-new" };
  },
  async live(home) {
    // A debug build reads them for half a minute.
    while ((await home.ask("status")).memories < MANY) await new Promise((resolve) => setTimeout(resolve, 200));
  },
};

/** Every text that anybody can write is hostile: fields of lessons, notes, prompts, searches, transcripts and the path. */
const poison = {
  folder: "<img src=x onerror=walrus()>&\"'",
  async fill(home) {
    const log = join(home.store, "poison.jsonl");
    // Not through the door, which refuses some of it: lines also come from other programs and machines.
    writeFileSync(log, `${poisonEvents().map((event) => JSON.stringify(event)).join("\n")}\n`, { mode: 0o600 });
    for (const line of RAW_LINES) appendFileSync(log, line);
    repository(home, "https://github.com/acme/poison.git");
    writeSession(home, SESSION, { asked: poisoned("asked"), error: poisoned("error"), said: poisoned("said") });
    await home.run("agent-knowledge", ["sessions", "import", "--yes"]);
    return {
      memory: "poison-0",
      session: SESSION,
      query: poisoned("query"),
      task: poisoned("task"),
      repo: "poison",
    };
  },
  async live(home) {
    await work(home, poisoned("prompt"), poisoned("command"), poisoned("failure"));
    await home.run("agent-knowledge", ["feedback", "poison-0", "worked", "--note", poisoned("note")]);
    await home.run("agent-knowledge", ["link", "poison-0", "depends_on", "poison-1", "--origin", "<walrus-poison>"]);
    await home.ask("search", `${poisoned("vain")} zookeeper quorum`);
  },
};

export const STORES = { empty, own, real, many, poison, shapes };

/** Fills a store, starts a server on it, and ends both whatever happens. */
export async function withServer(name, given, then) {
  const store = STORES[name];
  const home = new Home(given.programs, store.folder);
  try {
    const known = await store.fill(home, { ...given, repository, writeSession });
    await home.serve();
    await store.live(home, known, { work });
    await then(home, known);
  } finally {
    await home.close();
  }
}

/** What a coding agent's hooks report of one short session. */
async function work(home, prompt, command, error) {
  const session_id = "walk-session-1";
  await home.hook("claude-code", { session_id, hook_event_name: "SessionStart", source: "startup" });
  await home.hook("claude-code", { session_id, hook_event_name: "UserPromptSubmit", prompt });
  await home.hook("claude-code", {
    session_id,
    hook_event_name: "PostToolUseFailure",
    tool_name: "Bash",
    tool_input: { command },
    error: `Exit code 1\n${error}`,
  });
}

/** A repository that learned one thing three days ago and another one yesterday. */
function ofSomeDays(home) {
  const told = { repo: "acme/past", days: 2, earlier: "the walrus cache lives in Redis", later: "the walrus queue lives in NATS" };
  const line = (id, days, lesson) => JSON.stringify({
    id, timestamp: new Date(Date.now() - days * 86_400_000).toISOString(), agent_id: "codex", repo: told.repo,
    event_type: "decision", source: "agent", lesson,
  });
  const lines = [line("past-1", 3, told.earlier), line("past-2", 1, told.later)];
  writeFileSync(join(home.store, "acme+past.jsonl"), `${lines.join("\n")}\n`, { mode: 0o600 });
  return told;
}

/** A file in a commit of the repository, about which something can be learned. */
function lessonAbout(home, file) {
  mkdirSync(join(home.work, file, ".."), { recursive: true });
  writeFileSync(join(home.work, file), "fn open_walrus() {}\n");
  home.commit();
}

function repository(home, origin) {
  const options = { cwd: home.work, env: { ...home.environment, GIT_CONFIG_GLOBAL: "/dev/null" }, stdio: "ignore" };
  execFileSync("git", ["init", "-q"], options);
  execFileSync("git", ["remote", "add", "origin", origin], options);
}

/** A transcript as Claude Code keeps it: a question, a failure, an answer. */
function writeSession(home, id, { asked, error, said }) {
  const messages = [
    ["user", asked],
    ["assistant", [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "make migrate" } }]],
    ["user", [{ type: "tool_result", tool_use_id: "t1", is_error: true, content: error }]],
    ["assistant", [{ type: "text", text: said }]],
  ];
  const lines = messages.map(([role, content], number) =>
    JSON.stringify({
      type: role,
      uuid: `${id}-${number}`,
      parentUuid: null,
      isSidechain: false,
      cwd: home.work,
      gitBranch: "main",
      sessionId: id,
      version: "2.1.270",
      timestamp: `2026-09-10T08:0${number}:00.000Z`,
      message: { role, id: `msg-${number}`, content },
    }),
  );
  const folder = join(home.environment.HOME, ".claude/projects/-w-walk");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.jsonl`), `${lines.join("\n")}\n`);
}

function copyLogs(from, to) {
  for (const name of readdirSync(from).filter((name) => name.endsWith(".jsonl"))) {
    copyFileSync(join(from, name), join(to, name));
    chmodSync(join(to, name), 0o600);
  }
}

/** Random whole numbers below a bound, the same ones every time. */
function chance(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
