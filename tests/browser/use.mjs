// What a person does with the dashboard: signs in, moves by keys, watches it live, reports on a memory, comes back.
// Not here: how it looks (checks.mjs).

import { rmSync } from "node:fs";
import { join } from "node:path";

import { openPage, settle, STEP_MS_MAX } from "./browser.mjs";
import * as checks from "./checks.mjs";
import { ROWS } from "./screens.mjs";

const HINT = /signed out[\s\S]*agent-knowledge ui/i;

async function go(page, seen, hash) {
  await page.evaluate((it) => (location.hash = it), hash);
  await settle(page, seen);
}

async function until(condition, what) {
  const began = Date.now();
  while (!(await condition())) {
    if (Date.now() - began > STEP_MS_MAX) return [`not within ${STEP_MS_MAX} ms: ${what}`];
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return [];
}

const says = (page, pattern) => async () => pattern.test(await page.evaluate(() => document.body.innerText));

/** Where the person is on the page: what has the focus or is marked as current, by its place among the rows. */
function currentRow(page) {
  return page.evaluate((rows) => {
    const all = [...document.querySelectorAll(rows)];
    const focused = document.activeElement?.closest(rows);
    const marked = all.find((row) => row.matches('[aria-current="true"], [aria-selected="true"]') || row.querySelector('[aria-current="true"], [aria-selected="true"]'));
    return (focused ?? marked)?.innerText.slice(0, 200) ?? null;
  }, ROWS);
}

export async function keys({ page, seen }, route, results) {
  await go(page, seen, route.timeline);
  // On a busy machine the page may ask for its rows only after it was quiet for a while.
  results.add("keys: the timeline has rows", await until(async () => (await page.locator(ROWS).count()) > 1, "rows of the timeline"));
  await settle(page, seen);
  const press = async (key) => {
    await page.keyboard.press(key);
    await settle(page, seen);
  };
  await press("j");
  const first = await currentRow(page);
  await press("j");
  const second = await currentRow(page);
  await press("k");
  const again = await currentRow(page);
  const moved = first && second && first !== second && again === first;
  results.add("keys: j and k move", moved ? [] : [`j: ${first}; j: ${second}; k: ${again}`]);
  await press("Enter");
  const opened = await page.evaluate(() => location.hash);
  results.add("keys: Enter opens", /^#\/memory\/./.test(opened) ? [] : [`it is ${opened}`]);
  await page.goBack();
  await settle(page, seen);
  const back = await page.evaluate(() => location.hash);
  results.add("keys: Back returns", back.startsWith(route.timeline) ? [] : [`it is ${back}`]);

  await press("?");
  const dialog = page.locator("dialog[open], [role=dialog]");
  const list = (await dialog.count()) ? await dialog.first().innerText() : "";
  results.add("keys: ? lists the keys", /search/i.test(list) && /\bj\b/.test(list) ? [] : [`it says: ${list.slice(0, 200)}`]);
  results.add("keys: the list is accessible", await checks.accessible(page, "light"));
  await press("Escape");
  results.add("keys: Escape closes the list", (await dialog.count()) && (await dialog.first().isVisible()) ? ["it is still open"] : []);

  await press("/");
  const field = () => page.evaluate(() => document.activeElement.matches("input") && `${document.activeElement.value}`);
  results.add("keys: / goes to the search field", (await field()) === false ? ["no field has the focus"] : []);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("poetry jk/?");
  results.add("keys: typed text is only typed", (await field()) === "poetry jk/?" ? [] : [`the field holds ${await field()}`]);
  await press("Enter");
  const searched = await page.evaluate(() => location.hash);
  results.add("keys: the address is the search", /^#\/search\?.*query=poetry/.test(searched) ? [] : [`it is ${searched}`]);
  results.add("keys: no complaint of the browser", seen.take());
}

/** The slider of the briefing goes back by keys; the address and the briefing follow, and a button leads back. */
export async function past({ page, seen }, known, results) {
  await go(page, seen, `#/context?repo=${encodeURIComponent(known.past.repo)}`);
  const briefing = () => page.evaluate(() => document.querySelector(".briefing")?.innerText ?? "");
  const now = await briefing();
  const slider = page.getByRole("slider", { name: /as of/i });
  await slider.focus();
  for (let day = 0; day < known.past.days; day += 1) await page.keyboard.press("ArrowLeft");
  const isThen = async () => (await page.evaluate(() => location.hash)).includes("day=") && !(await briefing()).includes(known.past.later);
  const faults = await until(isThen, "the briefing of an earlier day");
  await settle(page, seen);
  const then = await briefing();
  if (!now.includes(known.past.later)) faults.push(`now it lacks the later lesson: ${now.slice(0, 300)}`);
  if (!then.includes(known.past.earlier)) faults.push(`then it lacks the earlier lesson: ${then.slice(0, 300)}`);
  results.add("past: the slider shows the briefing of then", faults);
  const told = await slider.getAttribute("aria-valuetext");
  results.add("past: the slider tells its day", (await says(page, new RegExp(`at the end of ${told}`))()) ? [] : [`it tells ${told}`]);
  results.add("past: accessible in light", await checks.accessible(page, "light"));
  await page.reload();
  await settle(page, seen);
  results.add("past: a reload keeps the day", (await briefing()) === then ? [] : ["it is another briefing"]);
  await page.getByRole("button", { name: "Back to now" }).click();
  results.add("past: a button leads back", await until(async () => (await briefing()) === now, "the briefing of now"));
  results.add("past: no complaint of the browser", seen.take());
}

/** A commit without a file that a memory names shows on the open list, and without a reload. */
export async function stale({ page, seen }, home, known, results) {
  await home.ask("stale");
  await go(page, seen, `#/review?view=stale&repo=${encodeURIComponent(known.repo)}`);
  results.add("stale: the work tree is known", await until(says(page, /Work tree work/), "the name of the work tree"));
  const isGone = says(page, /gone: src\/walrus\.rs/);
  results.add("stale: the file is there at first", (await isGone()) ? ["it is told as gone"] : []);
  rmSync(join(home.work, "src/walrus.rs"));
  home.commit();
  results.add("stale: a commit is shown by itself", await until(isGone, "the file that is gone"));
  results.add("stale: accessible", await checks.accessible(page, "light"));
  results.add("stale: no complaint of the browser", seen.take());
}

/** Saves that are watched; the slowest counts. */
const SAVES = 5;

/**
 * What another process saves is announced on the open timeline, and shown when asked for. Prints how long the news took
 * from the end of that process.
 */
export async function live({ page, seen }, home, results) {
  await go(page, seen, "#/timeline");
  await page.waitForFunction(() => /^live$/i.test(document.querySelector(".live")?.innerText.trim() ?? ""));
  await page.evaluate(() => {
    window.news = {};
    new MutationObserver(() => {
      const count = /(\d+) new memor/.exec(document.querySelector("main").innerText)?.[1];
      if (count) window.news[count] ??= Date.now();
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  const times = [];
  const faults = [];
  for (let number = 1; number <= SAVES && !faults.length; number += 1) {
    const lesson = `quokka-${number} tests need a frozen clock`;
    await home.run("log-memory", ["--type", "pattern", "--lesson", lesson, "--context", lesson, "--repo", "acme/live", "--agent", "codex"]);
    const saved = Date.now();
    const told = () => page.evaluate((it) => window.news[it] ?? null, number);
    faults.push(...(await until(told, `news of lesson ${number}`)));
    if (!faults.length) times.push((await told()) - saved);
  }
  results.add("live: what is saved is announced", faults);
  if (times.length) console.log(`# live: announced ${times.join(", ")} ms after log-memory ended`);
  if (!faults.length) {
    await page.getByRole("button", { name: /new memor/ }).click();
    const isThere = () => page.evaluate((count) => document.querySelector("main").innerText.includes(`quokka-${count}`), SAVES);
    results.add("live: what is announced is shown", await until(isThere, "the newest lesson in the list"));
  }
  results.add("live: no complaint of the browser", seen.take());
}

const token = (page) => page.evaluate(() => Object.values({ ...sessionStorage }).join("\n"));

export const session = {
  /** The link signs in, and leaves nothing of itself behind. */
  async signIn({ page, seen }, link, results) {
    const code = link.split("#code=")[1];
    await page.goto(link);
    results.add("sign-in: the page opens", await until(async () => !!(await token(page)), "a session in sessionStorage"));
    await settle(page, seen);
    const kept = await token(page);
    const secrets = [code, ...(kept.match(/[\w-]{20,}/g) ?? [])];
    results.add("sign-in: no secret is left elsewhere", await checks.secretive(page, secrets));
    const asked = seen.urls.filter((url) => secrets.some((secret) => new URL(url).pathname.includes(secret) || new URL(url).search.includes(secret)));
    results.add("sign-in: no secret is in an address", asked.slice(0, 1).map((url) => `asked for ${url}`));
    results.add("sign-in: no complaint of the browser", seen.take());
  },

  /** A reload keeps the session, and the screen with its state. */
  async lasts({ page, seen }, route, results) {
    await go(page, seen, route.search);
    const before = await page.evaluate((rows) => [location.hash, document.querySelectorAll(rows).length], ROWS);
    await page.reload();
    await settle(page, seen);
    const after = await page.evaluate((rows) => [location.hash, document.querySelectorAll(rows).length], ROWS);
    const same = before[1] > 0 && JSON.stringify(before) === JSON.stringify(after);
    results.add("session: a reload keeps screen and state", same ? [] : [`${before} became ${after}`]);
    results.add("session: no complaint of the browser", seen.take());
    const refused = page.waitForResponse((response) => response.url().endsWith("/sign-in"));
    await page.evaluate((code) => { location.hash = `#code=${code}`; }, "0".repeat(32));
    await refused;
    await settle(page, seen);
    results.add("session: an old link signs nobody out", (await token(page)) ? [] : ["the session is gone"]);
    results.add("session: an old link brings no other complaint", seen.take(/Failed to load resource: .* 401/));
  },

  async codeWorksOnce(browser, home, link, results) {
    const { page, context, seen } = await openPage(browser, home.address);
    for (const used of [link, `${home.address}/#code=${"0".repeat(32)}`]) {
      await page.goto("about:blank");
      await page.goto(used);
      const hint = await until(says(page, HINT), "the hint how to sign in");
      const kept = await page.evaluate(() => sessionStorage.length);
      results.add(`session: ${used === link ? "a used code" : "a guessed code"} opens nothing`, [...hint, ...(kept ? ["sessionStorage holds something"] : [])]);
    }
    results.add("session: the hint is accessible", await checks.accessible(page, "light"));
    results.add("session: a refusal brings no other complaint", seen.take(/Failed to load resource: .* (400|401|403)/));
    await context.close();
  },

  /** A token that the server does not know, and none, lead to the hint; nothing of the store stays on the page. */
  async ends({ page, seen }, results) {
    await go(page, seen, "#/timeline");
    await page.evaluate(() => {
      for (const name of Object.keys(sessionStorage)) {
        sessionStorage.setItem(name, sessionStorage.getItem(name).replace(/[\w-]{20,}/, (it) => "0".repeat(it.length)));
      }
    });
    await page.reload();
    results.add("session: a token that is gone leads to the hint", await until(says(page, HINT), "the hint"));
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    results.add("session: no token leads to the hint", await until(says(page, HINT), "the hint"));
    const rows = await page.evaluate((it) => document.querySelectorAll(it).length, ROWS);
    results.add("session: nothing of the store is shown", rows ? [`${rows} rows`] : []);
    results.add("session: its end brings no other complaint", seen.take(/Failed to load resource: .* 401/));
  },

  /** An action is a line of the log by whom the page says it is; undo is a line too, or nothing was sent yet. */
  async actions({ page, seen }, home, known, results) {
    await go(page, seen, `#/memory/${encodeURIComponent(known.memory)}`);
    const press = (name) => page.getByRole("button", { name, exact: typeof name === "string" }).first().click();
    let before = home.lines().length;
    const added = async (what, fields) => {
      const isThere = () => home.lines().length > before;
      const faults = await until(isThere, "a line in the log");
      const events = home.lines().map((line) => JSON.parse(line)).filter((event) => event.agent_id === "dashboard");
      const fits = events.some((event) => Object.entries(fields).every(([name, value]) => event[name] === value));
      if (!faults.length && !fits) faults.push(`no line by dashboard with ${JSON.stringify(fields)}: ${JSON.stringify(events.at(-1))}`);
      results.add(`actions: ${what}`, faults);
      before = home.lines().length;
    };
    await page.getByLabel(/reason/i).fill('because <b>"quoted"</b>');
    await press("Forget");
    await added("forget is in the log with its reason", { event_type: "retract", memory_id: known.memory, lesson: 'because <b>"quoted"</b>' });
    await settle(page, seen);
    await press(/^undo/i);
    await added("undo is in the log", { event_type: "restore", memory_id: known.memory });
    await settle(page, seen);
    await press("Pin");
    await added("a pin is in the log", { event_type: "pin", memory_id: known.memory });
    await settle(page, seen);
    await press("Worked");
    await page.keyboard.press("z");
    await press("Still true");
    // Whoever leaves the page meant it.
    await page.reload();
    await settle(page, seen);
    await added("a verdict is in the log when the page is left", { event_type: "feedback", memory_id: known.memory, verdict: "confirmed" });
    const taken = home.lines().some((line) => line.includes('"dashboard"') && line.includes('"worked"'));
    await settle(page, seen);
    // A link to a file and back, and its end and back.
    const links = () => page.evaluate(() => document.querySelector("aside").innerText);
    await press("Link to…");
    results.add("actions: the form for a link is accessible", await checks.accessible(page, "light"));
    await page.getByLabel("How it is related").selectOption("touches");
    await page.getByLabel("Id or file").fill("src/walrus.rs");
    await press("Link");
    await added("a link is in the log", { event_type: "link", memory_id: known.memory });
    results.add("actions: the link is shown", await until(async () => (await links()).includes("src/walrus.rs"), "the file among the links"));
    await settle(page, seen);
    await press(/^end the link: touches src\/walrus\.rs/i);
    await added("the end of a link is in the log", { event_type: "link", memory_id: known.memory });
    results.add("actions: the link is gone", await until(async () => !(await links()).includes("src/walrus.rs"), "the links without the file"));
    await settle(page, seen);
    // The notice that the link was made is still there.
    await page.getByRole("button", { name: /^undo/i }).last().click();
    await added("undo makes the link again", { event_type: "link", memory_id: known.memory });
    results.add("actions: the link is back", await until(async () => (await links()).includes("src/walrus.rs"), "the file among the links again"));
    results.add("actions: what is taken back is never sent", taken ? ["the log has it"] : []);
    results.add("actions: no complaint of the browser", seen.take());
  },

  /** The switch wins over the system's scheme, and a reload keeps it. */
  async theme({ page, seen }, results) {
    await go(page, seen, "#/timeline");
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByRole("button", { name: /dark theme/i }).click();
    const dark = await ground();
    await page.reload();
    await settle(page, seen);
    const kept = await ground();
    results.add("theme: the switch turns dark, and a reload keeps it", light !== dark && dark === kept ? [] : [`${light}, ${dark}, ${kept}`]);
    results.add("theme: accessible", await checks.accessible(page, "dark"));
    await page.getByRole("button", { name: /light theme/i }).click();
    results.add("theme: the switch turns back", (await ground()) === light ? [] : [`it is ${await ground()}`]);
    results.add("theme: no complaint of the browser", seen.take());
  },
};
