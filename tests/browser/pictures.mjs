// Pictures of the screens for the documentation, and how long screens take.
// Not here: what must hold (checks.mjs). Times depend on the machine, so no test has them.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { openPage, settle, startBrowser } from "./browser.mjs";
import { NARROW } from "./checks.mjs";
import { Results } from "./results.mjs";
import { ROWS, screens } from "./screens.mjs";
import { withServer } from "./stores.mjs";
import { live, session } from "./use.mjs";

/** Loads of each screen; the median counts. */
const LOADS = 9;
/** Longest wait for the index by meaning. */
const INDEX_MS_MAX = 120_000;
/** Each from the top of the list. */
const SCROLLS = 3;

/** Prints for each store and screen when the first heading and the first row were painted. */
export async function report(given) {
  for (const store of ["own", "many"]) {
    await withSignedIn(store, given, async ({ page, seen }, home, known) => {
      await page.addInitScript(recordFirstView, ROWS);
      console.log(`\n${store}: first heading and first row painted, in ms (median of ${LOADS} loads; the slowest)`);
      console.log("| screen | after the start of the load | after the load | elements |\n|---|---|---|---|");
      for (const [screen, route] of Object.entries(screens(known))) {
        const loads = [];
        for (let load = 0; load < LOADS; load += 1) loads.push(await firstView(page, seen, route));
        const of = (name) => `${middle(loads, name)}; ${Math.max(...loads.map((it) => it[name]))}`;
        console.log(`| ${screen} | ${of("painted")} | ${of("afterLoad")} | ${loads[0].elements} |`);
      }
      for (let turn = 0; turn < SCROLLS; turn += 1) await scroll(page, seen);
      await live({ page, seen }, home, new Results());
    });
  }
}

/** Reloads one screen. */
async function firstView(page, seen, route) {
  await page.evaluate((hash) => (location.hash = hash), route);
  await page.reload();
  await settle(page, seen);
  return page.evaluate(() => {
    const load = performance.getEntriesByType("navigation")[0].loadEventEnd;
    // Screens without rows, such as an empty list, are there with their heading.
    const painted = window.firstView.row ?? window.firstView.heading;
    return { painted: Math.round(painted), afterLoad: Math.round(Math.max(0, painted - load)), elements: document.querySelectorAll("*").length };
  });
}

/** Runs in the page before anything of ours. */
function recordFirstView(rows) {
  window.firstView = {};
  const note = (name) => {
    if (name in window.firstView) return;
    window.firstView[name] = null;
    // After the frame that shows it.
    requestAnimationFrame(() => setTimeout(() => (window.firstView[name] = performance.now())));
  };
  new MutationObserver(() => {
    if (document.querySelector("main h1")?.textContent) note("heading");
    if (document.querySelector(rows)) note("row");
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

/** Scrolls far down the timeline, and prints how long its frames took. */
async function scroll(page, seen) {
  await page.evaluate(() => (location.hash = "#/timeline"));
  await page.reload();
  await settle(page, seen);
  await page.mouse.move(640, 500);
  const frames = page.evaluate(
    () =>
      new Promise((resolve) => {
        const times = [];
        let last = performance.now();
        const next = (now) => {
          times.push(now - last);
          last = now;
          if (times.length < 300) requestAnimationFrame(next);
          else resolve(times.map(Math.round).sort((one, other) => one - other));
        };
        requestAnimationFrame(next);
      }),
  );
  for (let turn = 0; turn < 120; turn += 1) await page.mouse.wheel(0, 1_200);
  const times = await frames;
  const at = (share) => times[Math.floor((times.length - 1) * share)];
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  console.log(`scrolling: a frame took ${at(0.5)} ms in the median, ${at(0.95)} at the 95th percentile, ${at(1)} at most; ${await page.evaluate(() => scrollY)} px down, ${elements} elements`);
}

/** Every screen with our own lessons: light, dark, and narrow. */
export async function screenshots(given, folder) {
  mkdirSync(folder, { recursive: true });
  await withSignedIn("own", given, async ({ page, seen }, home, known) => {
    await indexed(home);
    for (const [screen, route] of Object.entries(screens(known))) {
      await page.evaluate((hash) => (location.hash = hash), route);
      for (const [kind, colorScheme, viewport] of [["light", "light", { width: 1280, height: 800 }], ["dark", "dark", { width: 1280, height: 800 }], ["narrow", "light", NARROW]]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize(viewport);
        await settle(page, seen);
        await page.evaluate(nameHome, home.folder);
        await page.screenshot({ path: join(folder, `${screen}-${kind}.png`) });
      }
    }
  });
}

/** Waits until every memory is found by its meaning, where there is a model: a picture of half an index shows other scores. */
async function indexed(home) {
  for (const end = Date.now() + INDEX_MS_MAX; Date.now() < end; ) {
    const { model, embedded, memories } = await home.ask("status");
    if (!process.env.AGENT_KNOWLEDGE_MODEL_DIR || (model.works && embedded >= memories)) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error("the memories are not indexed by meaning in time");
}

/** Runs in the page: the folder of this walk has another name each time, and pictures should differ only where the page does. */
function nameHome(folder) {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (text.data.includes(folder)) text.data = text.data.replaceAll(folder, "/home/you");
  }
}

async function withSignedIn(store, given, then) {
  await withServer(store, given, async (home, known) => {
    const browser = await startBrowser();
    try {
      const opened = await openPage(browser, home.address);
      const results = new Results();
      await session.signIn(opened, await home.link(), results);
      await then(opened, home, known);
    } finally {
      await browser.close();
    }
  });
}

function middle(loads, name) {
  return loads.map((it) => it[name]).sort((one, other) => one - other)[Math.floor(loads.length / 2)];
}
