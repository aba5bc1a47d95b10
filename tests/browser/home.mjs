// A hermetic home for one walk: a store, a running server, and the programs that write beside it.
// Not here: what stands in the store (stores.mjs), and the browser.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Longest that one program may take: a debug build that reads 100,000 memories on a busy machine. */
const PROGRAM_MS_MAX = 150_000;

export class Home {
  /**
   * @param programs the directory of the built programs
   * @param name the name of the directory of the logs; a poisoned one reaches every message that shows the path
   */
  constructor(programs, name = "logs") {
    this.programs = programs;
    this.folder = mkdtempSync(join(tmpdir(), "walk-"));
    this.store = join(this.folder, name);
    for (const made of ["home", "work", "run"]) mkdirSync(join(this.folder, made), { mode: 0o700 });
    mkdirSync(this.store, { mode: 0o700 });
    const home = join(this.folder, "home");
    // By a link, so that no message shows a path of this machine.
    const model = join(this.folder, "model");
    if (process.env.AGENT_KNOWLEDGE_MODEL_DIR) symlinkSync(process.env.AGENT_KNOWLEDGE_MODEL_DIR, model);
    else mkdirSync(model);
    this.environment = {
      PATH: process.env.PATH,
      HOME: home,
      USER: "tester",
      XDG_CONFIG_HOME: join(home, ".config"),
      XDG_DATA_HOME: join(home, ".local/share"),
      XDG_CACHE_HOME: join(home, ".cache"),
      AGENT_KNOWLEDGE_HOST: "testbox",
      AGENT_KNOWLEDGE_LOGS: this.store,
      AGENT_KNOWLEDGE_MODEL_DIR: model,
      AGENT_KNOWLEDGE_CACHE: join(this.folder, "cache"),
      AGENT_KNOWLEDGE_RUNTIME: join(this.folder, "run"),
      AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS: "60000",
    };
  }

  get work() {
    return join(this.folder, "work");
  }

  /** Runs a program to its end. Returns what it printed, and fails where it did. */
  run(program, args, input = "") {
    return new Promise((resolve, reject) => {
      const child = spawn(join(this.programs, program), args, {
        cwd: this.work,
        env: this.environment,
        timeout: PROGRAM_MS_MAX,
      });
      let output = "";
      let messages = "";
      child.stdout.on("data", (data) => (output += data));
      child.stderr.on("data", (data) => (messages += data));
      child.on("error", reject);
      child.on("close", (exit) => {
        if (exit === 0) resolve(output);
        else reject(new Error(`${program} ${args.join(" ")} ended with ${exit}: ${output}${messages}`.slice(0, 2000)));
      });
      // A program that ends without reading its input is none of our business.
      child.stdin.on("error", () => {});
      child.stdin.end(input);
    });
  }

  save(events) {
    return this.run("log-memory", ["--json", "-"], events.map((event) => JSON.stringify(event)).join("\n"));
  }

  async ask(...args) {
    return JSON.parse(await this.run("agent-knowledge", [...args, "--json"]));
  }

  hook(agent, said) {
    return this.run("agent-knowledge", ["hook", "--agent", agent], JSON.stringify({ cwd: this.work, ...said }));
  }

  /** Starts `serve --http` on a free port and waits for the line with its address. */
  serve(...more) {
    // Idle minutes, so that a server whose walk was killed ends by itself.
    const args = ["serve", "--json", "--idle-minutes", "5", "--http", "127.0.0.1:0", ...more];
    this.server = spawn(join(this.programs, "agent-knowledge"), args, {
      cwd: this.work,
      env: this.environment,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.serverSaid = "";
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no address in time: ${this.serverSaid}`)), PROGRAM_MS_MAX);
      this.server.on("exit", (exit) => reject(new Error(`the server ended with ${exit}: ${this.serverSaid}`)));
      this.server.stderr.on("data", (data) => {
        this.serverSaid += data;
        const address = /"url":"(http:\/\/[^"]+)\/mcp"/.exec(this.serverSaid);
        if (!address) return;
        clearTimeout(late);
        this.address = address[1];
        resolve(this.address);
      });
    });
  }

  /** Commits everything in the working directory. */
  commit() {
    const who = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"];
    const options = { cwd: this.work, env: { ...this.environment, GIT_CONFIG_GLOBAL: "/dev/null" }, stdio: "ignore" };
    execFileSync("git", ["add", "--all"], options);
    execFileSync("git", [...who, "commit", "-q", "-m", "x"], options);
  }

  /** A new sign-in link, as a person gets it. */
  async link() {
    const told = await this.ask("ui", "--no-open");
    const link = told.url ?? told.link;
    if (!link?.startsWith(`${this.address}/#code=`)) throw new Error(`ui gave no sign-in link: ${JSON.stringify(told)}`);
    return link;
  }

  /** All lines of all logs: what an action changed. */
  lines() {
    const logs = readdirSync(this.store).filter((name) => name.endsWith(".jsonl"));
    return logs.flatMap((name) => readFileSync(join(this.store, name), "utf8").split("\n").filter(Boolean));
  }

  async close() {
    if (this.server?.exitCode === null) {
      const ended = new Promise((resolve) => this.server.once("close", resolve));
      this.server.kill("SIGTERM");
      const late = setTimeout(() => this.server.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(late);
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
