// What must hold on every screen. Each check returns faults in words; no fault, and it holds.
// Not here: going from screen to screen (walk.mjs), and what is noticed all the time (browser.mjs).

import { AxeBuilder } from "./browser.mjs";
import { MARK } from "./poison.mjs";

/** Most elements that a screen may have: lists are windowed, whatever the store holds. */
const ELEMENTS_MAX = 5_000;

export const NARROW = { width: 360, height: 740 };

/** A heading, a title, a main part; a number of elements that no store can change. */
export async function frame(page) {
  const found = await page.evaluate(() => ({
    headings: [...document.querySelectorAll("h1")].filter((it) => it.checkVisibility()).map((it) => it.textContent.trim()),
    title: document.title,
    mains: document.querySelectorAll("main").length,
    elements: document.querySelectorAll("*").length,
    language: document.documentElement.lang,
    text: document.querySelector("main")?.innerText.trim().length ?? 0,
  }));
  const faults = [];
  if (found.headings.length !== 1 || !found.headings[0]) faults.push(`one h1 with text is needed, got ${JSON.stringify(found.headings)}`);
  if (!found.title) faults.push("the document has no title");
  if (found.mains !== 1) faults.push(`one main is needed, got ${found.mains}`);
  if (!found.text) faults.push("main is empty");
  if (found.elements > ELEMENTS_MAX) faults.push(`${found.elements} elements; ${ELEMENTS_MAX} are allowed`);
  return faults;
}

/** All rules of axe in light; those of colours in dark, where nothing else differs. */
export async function accessible(page, scheme) {
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  if (scheme === "dark") axe.withRules(["color-contrast", "link-in-text-block"]);
  await still(page);
  const { violations, passes } = await axe.analyze();
  if (!passes.length) return ["axe checked nothing"];
  return violations.map((it) => {
    const nodes = it.nodes.slice(0, 3).map((node) => `${node.target.join(" ")}: ${node.failureSummary?.split("\n").slice(1, 2).join("").trim()}`);
    return `axe, ${scheme}: ${it.id} (${it.help}) at ${it.nodes.length} elements, as ${nodes.join("; ")}`;
  });
}

/** Waits until no colour is on its way to another, at most two seconds: some animations never end. */
async function still(page) {
  await page.evaluate(() => {
    const ends = document.getAnimations().map((one) => one.finished.catch(() => {}));
    return Promise.race([Promise.all(ends).then(() => {}), new Promise((done) => setTimeout(done, 2_000))]);
  });
}

/** The page does not scroll sideways. */
export async function narrow(page) {
  return page.evaluate(() => {
    const root = document.documentElement;
    window.scrollTo(10_000, window.scrollY);
    const scrolled = window.scrollX;
    window.scrollTo(0, window.scrollY);
    if (root.scrollWidth <= root.clientWidth && scrolled === 0) return [];
    const wide = [...document.querySelectorAll("body *")]
      .map((element) => ({ element, right: element.getBoundingClientRect().right }))
      .filter((it) => it.right > root.clientWidth + 0.5 && it.element.checkVisibility())
      .sort((one, other) => other.right - one.right);
    const named = wide.slice(0, 3).map(({ element, right }) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} to ${Math.round(right)}`);
    return [`wider than ${root.clientWidth} px: ${root.scrollWidth} px, scrolls ${scrolled} px; ${named.join("; ")}`];
  });
}

/** No element and no attribute was made from a text, and no link leads anywhere but to this page. */
export async function untouched(page) {
  return page.evaluate((mark) => {
    const faults = [];
    const made = `${mark}, script:not([src]), img[src="x"], img[src*="walrus"], iframe, object, embed, base, meta[http-equiv],
      form[action*="walrus"], [onerror], [onload], [onclick], [srcdoc], style`;
    for (const element of document.querySelectorAll(made)) faults.push(`made from a text: ${element.outerHTML.slice(0, 120)}`);
    for (const element of document.querySelectorAll("[href], [src], [action], [formaction]")) {
      for (const name of ["href", "src", "action", "formaction"]) {
        const value = element.getAttribute(name);
        if (value === null) continue;
        const url = new URL(value, document.baseURI);
        if (url.origin !== location.origin) faults.push(`${name} leads elsewhere: ${value.slice(0, 120)}`);
      }
    }
    for (const element of document.querySelectorAll("*")) {
      const odd = [...element.attributes].find((it) => it.name.startsWith("on"));
      if (odd) faults.push(`an attribute runs a script: ${element.tagName} ${odd.name}`);
    }
    return faults;
  }, MARK);
}

/** A text that turns the direction of writing turns nothing but itself. */
export async function isolated(page) {
  return page.evaluate(() => {
    const faults = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      if (!/[\u0590-\u05ff\u0600-\u06ff\u200f\u202a-\u202e\u2066-\u2069]/.test(text.data)) continue;
      // Out to what isolates it, or to the block that it stands in.
      let element = text.parentElement;
      const isInline = () => getComputedStyle(element).display.startsWith("inline");
      const isIsolated = () => element.matches("bdi, [dir=auto]") || (isInline() && /isolate|plaintext/.test(getComputedStyle(element).unicodeBidi));
      while (isInline() && !isIsolated()) element = element.parentElement;
      if (isIsolated() || element.textContent.trim() === text.data.trim()) continue;
      faults.add(`a text may turn what stands beside it: ${element.outerHTML.slice(0, 120)}`);
    }
    return [...faults];
  });
}

/** Nothing that says who is signed in is kept where others find it. */
export async function secretive(page, secrets) {
  const found = await page.evaluate(() => ({
    cookie: document.cookie,
    local: JSON.stringify({ ...localStorage }),
    address: location.href,
    body: document.documentElement.outerHTML,
  }));
  return Object.entries(found).flatMap(([place, text]) =>
    secrets.some((secret) => text.includes(secret)) || (place === "cookie" && text) ? [`a secret or a cookie stands in: ${place}`] : [],
  );
}
