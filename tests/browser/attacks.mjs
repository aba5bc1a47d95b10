// Pages of other origins try to get in: to read, to write, to sign in, to frame, to listen. Each attack is first shown to
// work on a server that guards nothing; then it must not work on ours, with a token and with `--no-token`.
// Not here: attacks without a browser (tests/integration/http.rs).

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { openPage, startBrowser } from "./browser.mjs";
import { Home } from "./home.mjs";

/** A name of elsewhere that leads to this machine, as in DNS rebinding. */
const FOREIGN = "walrus.example";
const EVIL_LESSON = "the evil page was here";

/**
 * What the evil page runs. Each returns what it got, or null. `target` has the address, the token, an unused code and the
 * body of a save; an attacker has none of the secrets, but not even with them may a page of another origin get in.
 */
const IN_PAGE = {
  "reads with a token": async (target) => {
    const answer = await fetch(`${target.address}/api/v1/memories`, { headers: { Authorization: `Bearer ${target.token}` } });
    return (await answer.text()).slice(0, 80);
  },
  "reads without a preflight": async (target) => (await (await fetch(`${target.address}/api/v1/memories`)).text()).slice(0, 80),
  "reads from an opaque origin": (target) =>
    new Promise((resolve) => {
      addEventListener("message", (event) => resolve(event.data), { once: true });
      const frame = document.createElement("iframe");
      frame.sandbox = "allow-scripts";
      frame.srcdoc = `<script>fetch("${target.address}/api/v1/memories").then((it) => it.text())
        .then((it) => parent.postMessage(it.slice(0, 80), "*"), () => parent.postMessage(null, "*"))</script>`;
      document.body.append(frame);
    }),
  "signs in with a code": async (target) => {
    const answer = await fetch(`${target.address}/api/v1/sign-in`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code: target.code }),
    });
    return answer.text();
  },
  "listens by EventSource": (target) =>
    new Promise((resolve) => {
      const source = new EventSource(`${target.address}/api/v1/events`);
      source.onopen = () => resolve("open");
      source.onerror = () => resolve(null);
    }),
  "listens by WebSocket": (target) =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${target.address.replace("http", "ws")}/api/v1/events`);
      socket.onopen = () => resolve("open");
      socket.onerror = () => resolve(null);
    }),
  "runs our script": (target) => element("script", { src: `${target.address}/ui/app.js` }),
  "runs an answer as a script": (target) => element("script", { src: `${target.address}/api/v1/status` }),
  "reads our style": (target) => element("link", { rel: "stylesheet", href: `${target.address}/ui/app.css` }),
  "imports our module": (target) => import(`${target.address}/ui/app.js`).then(() => "imported"),
};

/** These send, and can see no answer; what counts is whether anything is written. */
const WRITES = {
  "writes as JSON": (target) =>
    fetch(`${target.address}/api/v1/memories`, { method: "POST", headers: { "Content-Type": "application/json" }, body: target.body }),
  "writes as JSON with the token": (target) =>
    fetch(`${target.address}/api/v1/memories`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${target.token}` },
      body: target.body,
    }),
  "writes without a preflight": (target) =>
    fetch(`${target.address}/api/v1/memories`, { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body: target.body }),
  "writes by beacon": (target) => navigator.sendBeacon(`${target.address}/api/v1/memories`, target.body),
  "writes by form": (target) =>
    new Promise((resolve) => {
      // The browser writes NAME=VALUE, which together is one JSON object.
      const [name, value] = target.body.split("=");
      const frame = document.createElement("iframe");
      frame.name = "answer";
      document.body.append(frame);
      const form = document.createElement("form");
      Object.assign(form, { action: `${target.address}/api/v1/memories`, method: "POST", enctype: "text/plain", target: "answer" });
      const input = document.createElement("input");
      Object.assign(input, { name, value, type: "hidden" });
      form.append(input);
      document.body.append(form);
      frame.onload = resolve;
      form.submit();
    }),
};

/** Runs in the evil page: whether an element of the server's could be loaded. */
const ELEMENT = `globalThis.element = (name, attributes) => new Promise((resolve) => {
  const made = document.createElement(name);
  made.onload = () => resolve("loaded");
  made.onerror = () => resolve(null);
  Object.assign(made, attributes);
  document.head.append(made);
});`;

export async function attacks(given, results) {
  const browser = await startBrowser([`--host-resolver-rules=MAP ${FOREIGN} 127.0.0.1`]);
  const evil = await listen((request, answer) => answer.setHeader("Content-Type", "text/html").end("<!doctype html><title>evil</title><body>"));
  const lax = await laxServer();
  try {
    const control = { address: lax.address, token: "t", code: async () => "c", written: () => lax.written() };
    results.add("attacks: each works on a server without guards", await notIn(await attack(browser, evil, control)));
    for (const more of [[], ["--no-token"]]) {
      const home = new Home(given.programs);
      try {
        await home.save([{ event_type: "pattern", lesson: "a lesson to steal", repo: "acme/web" }]);
        await home.serve(...more);
        await attackOurs(browser, evil, home, more.join(" ") || "with token", results);
      } finally {
        await home.close();
      }
    }
  } finally {
    await browser.close();
    for (const server of [evil, lax]) server.close();
  }
}

async function attackOurs(browser, evil, home, kind, results) {
  const hasToken = kind === "with token";
  const token = hasToken ? readFileSync(join(home.environment.XDG_CONFIG_HOME, "agent-knowledge/token"), "utf8").trim() : "none";
  const code = async () => (hasToken ? (await home.link()).split("#code=")[1] : "0".repeat(32));
  const written = () => home.lines().filter((line) => line.includes(EVIL_LESSON)).length;
  for (const [name, got] of await attack(browser, evil, { address: home.address, token, code, written })) {
    results.add(`attacks ${kind}: ${name}`, got ? [`it got: ${got}`] : []);
  }
  // DNS rebinding: the browser believes that our server is the attacker's.
  const { page, context } = await openPage(browser, home.address);
  for (const path of ["/", "/ui/app.js", "/api/v1/status"]) {
    const answer = await page.goto(`http://${FOREIGN}:${new URL(home.address).port}${path}`);
    results.add(`attacks ${kind}: rebinding ${path}`, answer.status() === 403 ? [] : [`it got ${answer.status()}`]);
  }
  await context.close();
  await link(browser, evil, home, kind, results);
}

/** A link of the evil page opens the dashboard like any other, but gives the evil page no hold on it. */
async function link(browser, evil, home, kind, results) {
  const { page, context } = await openPage(browser, home.address);
  if (kind === "with token") {
    // Signed in before, in the same tab: the worst case, because a tab that it opens starts with a copy of its session.
    await page.goto(await home.link());
    await page.waitForFunction(() => sessionStorage.length > 0);
  }
  await page.goto(`${evil.address}/`);
  const popup = context.waitForEvent("page");
  await page.evaluate((address) => {
    window.opened = window.open(`${address}/#/timeline`);
  }, home.address);
  const opened = await popup;
  await opened.waitForFunction(() => document.querySelector("h1"));
  const faults = [];
  if (await opened.evaluate(() => window.opener !== null)) faults.push("our page has an opener");
  if (!(await page.evaluate(() => window.opened.closed))) faults.push("the evil page holds our window");
  results.add(`attacks ${kind}: a link gives no hold on the page`, faults);
  await context.close();
}

/** Lets the evil page try everything, from this machine's address and from a foreign name. Returns what each got. */
async function attack(browser, evil, target) {
  const got = [];
  for (const origin of [evil.address, evil.address.replace("127.0.0.1", FOREIGN)]) {
    const from = `from ${new URL(origin).hostname}`;
    const { page, context, seen } = await openPage(browser, origin);
    await page.goto(`${origin}/`);
    await page.evaluate(ELEMENT);
    const known = { address: target.address, token: target.token, code: await target.code() };
    for (const [name, run] of Object.entries(IN_PAGE)) {
      got.push([`${name} ${from}`, await page.evaluate(bounded(run, known)).catch(() => null)]);
    }
    for (const [name, run] of Object.entries(WRITES)) {
      const before = target.written();
      const fields = { event_type: "pattern", lesson: `${EVIL_LESSON}: ${name} ${from}`, repo: "acme/web", context: "=" };
      await page.evaluate(bounded(run, { ...known, body: JSON.stringify(fields) })).catch(() => null);
      await answered(seen);
      got.push([`${name} ${from}`, target.written() > before ? "a line in a log" : null]);
    }
    got.push([`frames the page ${from}`, await framed(page, target.address)]);
    await context.close();
  }
  return got;
}

/** Waits until the last request is answered: a beacon is sent after its call has returned. */
async function answered(seen) {
  for (let turn = 0; turn < 100 && (turn < 2 || seen.underWay.size); turn += 1) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** One attack as text, with a bound: one that is never answered got nothing. */
function bounded(run, target) {
  return `Promise.race([(${run})(${JSON.stringify(target)}), new Promise((resolve) => setTimeout(resolve, 3000, null))])`;
}

async function framed(page, address) {
  await page.evaluate((src) => {
    const frame = document.createElement("iframe");
    frame.src = src;
    document.body.append(frame);
    return new Promise((resolve) => (frame.onload = frame.onerror = resolve));
  }, `${address}/`);
  // A refusal may be in the frame, but not the page with its scripts.
  const scripts = await Promise.all(
    page.frames().map((frame) => frame.evaluate((it) => (location.href.startsWith(it) ? document.scripts.length : 0), address).catch(() => 0)),
  );
  return scripts.some((count) => count > 0) ? "our page in a frame" : null;
}

async function notIn(got) {
  return got.filter(([, it]) => !it).map(([name]) => `${name}: it does not work even there`);
}

/** A server that lets everybody do everything. */
async function laxServer() {
  let written = 0;
  const server = await listen((request, answer) => {
    answer.setHeader("Access-Control-Allow-Origin", "*");
    answer.setHeader("Access-Control-Allow-Headers", "*, Authorization");
    const kinds = { "/ui/app.css": "text/css", "/": "text/html", "/api/v1/events": "text/event-stream" };
    answer.setHeader("Content-Type", kinds[request.url] ?? "text/javascript");
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", () => {
      if (body.includes("the evil page was here")) written += 1;
      if (request.url === "/api/v1/events") answer.write(": open\n\n");
      else answer.end(request.url === "/" ? "<script src=/ui/app.js></script>" : "/* anything */");
    });
  });
  server.on("upgrade", (request, socket) => {
    const key = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`);
    socket.on("error", () => {});
  });
  server.written = () => written;
  return server;
}

export function listen(handle) {
  const server = createServer(handle);
  const close = server.close.bind(server);
  server.close = () => {
    close();
    server.closeAllConnections();
  };
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      server.address = `http://127.0.0.1:${server.address().port}`;
      resolve(server);
    });
  });
}
