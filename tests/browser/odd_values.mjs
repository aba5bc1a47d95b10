// What a page shows of values that it did not expect: of a newer server, of other programs, of nothing at all.
// Not here: the store that has such lines (shapes.mjs).

import { settle } from "./browser.mjs";
import * as checks from "./checks.mjs";
import { JSON_LESSON } from "./shapes.mjs";
import * as format from "../../src/dashboard/page/shared/format.js";

const ODD = [undefined, null, NaN, Infinity, "", "no time at all", -1, {}, { a: { b: 1 } }, [], [{}], true];
const RAW = /\[object|undefined|NaN|Infinity|Invalid Date|\{"/;

/** Every function of `format.js` that takes one value says something that a person can read, whatever it is given. */
export async function oddValues() {
  const faults = [];
  for (const [name, make] of Object.entries(format)) {
    if (typeof make !== "function" || ["withDays", "titleOf"].includes(name)) continue;
    for (const value of ODD) {
      if (name === "sentenceCase" && typeof value !== "string") continue;
      try {
        const said = make.length > 1 ? make(value, 1) : make(value);
        if (RAW.test(String(said))) faults.push(`${name}(${JSON.stringify(value) ?? value}) says ${said}`);
      } catch (error) {
        faults.push(`${name}(${JSON.stringify(value) ?? value}) throws ${error.message}`);
      }
    }
  }
  for (const value of ODD) {
    const said = format.titleOf({ event_type: value, context: value, lesson: value });
    if (RAW.test(said)) faults.push(`titleOf says ${said} of ${JSON.stringify(value)}`);
  }
  return faults;
}

/** What is marked, each with the rest of the word that it stands in, such as `(red)acts`. */
const marks = (page) => page.evaluate(() => {
  const letter = /[\p{L}\p{N}\p{M}_]+/u;
  const shown = [...document.querySelectorAll("mark")].map((mark) => {
    const [before, after] = [mark.previousSibling?.textContent ?? "", mark.nextSibling?.textContent ?? ""];
    const [start, end] = [new RegExp(`${letter.source}$`, "u").exec(before)?.[0] ?? "", new RegExp(`^${letter.source}`, "u").exec(after)?.[0] ?? ""];
    const text = mark.textContent.toLowerCase();
    return start || end ? `${start}(${text})${end}` : text;
  });
  return [...new Set(shown)].sort();
});

/** Only whole words are marked; what is unknown is named; a lesson that is about JSON is shown as it was written. */
export async function lookAtShapes({ page, seen }, known, results) {
  const go = async (hash) => {
    await page.evaluate((it) => (location.hash = it), hash);
    await settle(page, seen);
    return page.evaluate(() => document.querySelector("main").innerText);
  };
  const text = await go(known.marks.route);
  const marked = await marks(page);
  const faults = text.includes(known.marks.text) ? [] : ["the lesson is not found"];
  if (JSON.stringify(marked) !== JSON.stringify(known.marks.marked)) faults.push(`marked are ${marked.join(", ")}`);
  results.add("shapes: only whole words that match are marked", faults);
  const stemmed = await go("#/search?query=redact%20reports");
  const forms = await marks(page);
  results.add("shapes: other forms of a word are marked", stemmed.includes("redacts") && ["redacts", "report"].every((form) => forms.includes(form)) ? [] : [`marked are ${forms.join(", ")}`]);
  await go("#/sessions?query=red");
  const inSessions = await marks(page);
  results.add("shapes: whole words of sessions are marked", JSON.stringify(inSessions) === '["red"]' ? [] : [`marked are ${inSessions.join(", ")}`]);
  results.add("shapes: a lesson about JSON is shown as it was written", (await go(known.json)).includes(JSON_LESSON) ? [] : ["it is not on the page"]);
  const unknown = await go("#/memory/shape-unknown");
  const lacking = ["Reviewed by", "payments", "Ada", "Grace", "Quorum", "yes", "12,345.5", "second"].filter((part) => !unknown.includes(part));
  results.add("shapes: what is in an unknown field can be read", lacking.length ? [`lacking: ${lacking.join(", ")}`] : []);
}

/** A newer server may add a field to any object of any answer. */
export async function asNewerServer({ page, seen }, route, results) {
  const later = { names: [{ deep: { deeper: null } }], at: "2026-03-01T10:00:00Z" };
  const grown = (value) => {
    if (Array.isArray(value)) return value.map(grown);
    if (value === null || typeof value !== "object") return value;
    const fields = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, grown(part)]));
    // A part of a session is one of a few kinds, named by its only field.
    return Object.keys(fields).length === 1 && /^[A-Z]/.test(Object.keys(fields)[0]) ? fields : { ...fields, later_field: later };
  };
  await page.route(/\/api\/v1\/(?!events|sign-in)/, async (asked) => {
    try {
      const answer = await asked.fetch();
      const isJson = (answer.headers()["content-type"] ?? "").includes("json");
      if (!isJson || !answer.ok()) return await asked.fulfill({ response: answer });
      return await asked.fulfill({ response: answer, json: grown(await answer.json()) });
    } catch (error) {
      // The page left the screen, and no longer wants the answer.
      if (!/disposed|aborted|closed|already handled/i.test(error.message)) throw error;
      return undefined;
    }
  });
  for (const [screen, hash] of Object.entries(route)) {
    await page.evaluate((it) => (location.hash = it), hash);
    await settle(page, seen);
    results.add(`newer server, ${screen}`, [...(await checks.readable(page, [JSON_LESSON], true)), ...(await checks.frame(page)), ...seen.take()]);
  }
  // A screen may still ask for something in the background.
  await page.unrouteAll({ behavior: "ignoreErrors" });
}
