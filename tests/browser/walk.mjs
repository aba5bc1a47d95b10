// Walks the dashboard of a real server with a real browser, and prints a line for each check.
//
//   node walk.mjs STORE --programs DIRECTORY [--real-logs DIRECTORY]
//                                   STORE is empty, own, real, many, poison or shapes: all screens on that store
//   node walk.mjs attacks ...       pages of other origins try to get in
//   node walk.mjs control           the checks on a page that breaks every one of them
//   node walk.mjs --report ...      measures own, and 100,000 memories
//   node walk.mjs --screenshots DIRECTORY ...
//
// AGENT_KNOWLEDGE_TEST_BROWSER is the directory that scripts/install-browser made. Ends with 1 where a check failed.

import { parseArgs } from "node:util";
import { join, resolve } from "node:path";

import { attacks } from "./attacks.mjs";
import { openPage, settle, startBrowser } from "./browser.mjs";
import * as checks from "./checks.mjs";
import { control } from "./control.mjs";
import { report, screenshots } from "./pictures.mjs";
import { Results } from "./results.mjs";
import { screens, unvisited } from "./screens.mjs";
import { asNewerServer, lookAtShapes, oddValues } from "./odd_values.mjs";
import { STORES, withServer } from "./stores.mjs";
import { keys, live, past, session, stale } from "./use.mjs";

/** A walk that takes longer than this hangs. The test runner would end it, and say less. */
const WALK_MS_MAX = 240_000;

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      programs: { type: "string", default: join(import.meta.dirname, "../../target/debug") },
      "real-logs": { type: "string", default: join(import.meta.dirname, "../../../shared/data/real-logs") },
      screenshots: { type: "string" },
      report: { type: "boolean", default: false },
    },
  });
  const given = { programs: resolve(values.programs), realLogs: values["real-logs"] };
  const results = new Results();
  const late = setTimeout(() => {
    console.log(`FAILED walk: not done after ${WALK_MS_MAX} ms`);
    process.exit(1);
  }, WALK_MS_MAX);
  const [what] = positionals;
  if (values.report) await report(given);
  else if (values.screenshots) await screenshots(given, values.screenshots);
  else if (what === "control") await control(results);
  else if (what === "attacks") await attacks(given, results);
  else if (STORES[what]) await walk(what, given, results);
  else throw new Error(`no such walk: ${what}`);
  clearTimeout(late);
  process.exitCode = results.failed ? 1 : 0;
}

/** Signs in once, as a person does, and looks at everything. */
async function walk(name, given, results) {
  await withServer(name, given, async (home, known) => {
    const browser = await startBrowser();
    try {
      const link = await home.link();
      const opened = await openPage(browser, home.address);
      await session.signIn(opened, link, results);
      const route = { ...screens(known), ...known.more };
      results.add(`${name}: every screen of the page's own table is visited`, unvisited(Object.values(route)));
      const written = writtenIn(home);
      for (const screen of Object.keys(route)) {
        const isMissing = known.missing?.includes(screen);
        await results.step(`${name}, ${screen}`, () => look(opened, { store: name, screen, route: route[screen], isMissing, written, isStrict: known.isStrict }, results));
      }
      const steps = {
        keys: () => keys(opened, route, results),
        live: () => live(opened, home, results),
        stale: () => stale(opened, home, known, results),
        past: () => past(opened, known, results),
        theme: () => session.theme(opened, results),
        actions: () => session.actions(opened, home, known, results),
        reload: () => session.lasts(opened, route, results),
        code: () => session.codeWorksOnce(browser, home, link, results),
        end: () => session.ends(opened, results),
      };
      if (name === "own") for (const [step, then] of Object.entries(steps)) await results.step(step, then);
      if (name === "shapes") {
        results.add("shapes: no function of words is lost for words", await oddValues());
        await results.step("shapes", () => lookAtShapes(opened, known, results));
        await results.step("shapes, newer server", () => asNewerServer(opened, screens(known), results));
      }
      if (name === "poison") await results.step("poison", () => lookAtPoison(opened, known, results));
    } finally {
      await browser.close();
    }
  });
}

/** One screen: as it is, in dark, and narrow. */
async function look({ page, seen }, { store, screen, route, isMissing, written, isStrict }, results) {
  await page.evaluate((hash) => (location.hash = hash), route);
  await settle(page, seen);
  const add = (check, faults) => results.add(`${store}, ${screen}: ${check}`, faults);
  add("frame", await checks.frame(page));
  add("no value as a program writes it", await checks.readable(page, written, isStrict));
  add("accessible in light", await checks.accessible(page, "light"));
  await page.emulateMedia({ colorScheme: "dark" });
  add("accessible in dark", await checks.accessible(page, "dark"));
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(checks.NARROW);
  await settle(page, seen);
  add("fits 360 px", await checks.narrow(page));
  const faults = [];
  for (const width of checks.WIDTHS.toReversed()) {
    await page.setViewportSize({ width, height: 900 });
    await settle(page, seen);
    faults.push(...(await checks.laidOut(page)).map((fault) => `at ${width} px ${fault}`));
  }
  add("nothing overlaps, is cut off or runs out", faults);
  add("nothing made from a text", [...(await checks.untouched(page)), ...(await checks.isolated(page))]);
  // What is not there is answered so, and Chromium writes that down.
  add("no complaint of the browser", seen.take(isMissing ? /Failed to load resource: .* 404/ : null));
}

/** What people and agents wrote into the store: every text in a line of a log, and what agents said and did. */
function writtenIn(home) {
  const textsOf = (value) => (typeof value === "string" ? [value] : value && typeof value === "object" ? Object.values(value).flatMap(textsOf) : []);
  const parsed = (line) => { try { return JSON.parse(line); } catch { return line; } };
  // A store of many has none of it, and a walk need not read it all.
  return home.lines().slice(0, 20_000).flatMap((line) => textsOf(parsed(line)));
}

/** The poison is on the screen as text, so that the other checks have looked at something; and it stays text as an address. */
async function lookAtPoison({ page, seen }, known, results) {
  const route = screens(known);
  const shown = async (hash) => {
    await page.evaluate((it) => (location.hash = it), hash);
    await settle(page, seen);
    return page.evaluate(() => document.querySelector("main").innerText.includes("<walrus-poison>"));
  };
  for (const screen of ["timeline", "memory", "search"]) {
    results.add(`poison, ${screen}: shown as text`, (await shown(route[screen])) ? [] : ["no text of the poison is on it"]);
  }
  const bad = encodeURIComponent("<img src=x onerror=walrus()>");
  const raw = "<img src=x onerror=walrus()>";
  for (const hash of [`#/${bad}`, `#/${raw}`, `#/memory/${bad}`, `#/memory/../../x`, `#/sessions/${bad}`, `#/search?query=${raw}&kinds=${bad}&limit=${bad}`,
    "#/memory/%", "#/search?query=%ff%", `#/timeline?repo=${bad}`, "#javascript:walrus()", "#/__proto__", "#/constructor"]) {
    await shown(hash);
    const faults = [...(await checks.untouched(page)), ...(await checks.frame(page))];
    // An address that the server refuses is an answer like any other.
    results.add(`poison, address ${hash.slice(0, 40)}`, [...faults, ...seen.take(/Failed to load resource: .* (400|404|422)/)]);
  }
}

await main();
