// What must hold on every screen. Each check returns faults in words; no fault, and it holds.
// Not here: going from screen to screen (walk.mjs), and what is noticed all the time (browser.mjs).

import { AxeBuilder } from "./browser.mjs";
import { MARK } from "./poison.mjs";

/** Most elements that a screen may have: lists are windowed, whatever the store holds. */
const ELEMENTS_MAX = 5_000;

export const NARROW = { width: 360, height: 740 };

/** The widths at which nothing may overlap: a desk, half a desk, a telephone. */
export const WIDTHS = [1280, 900, 390];

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

/** What a program prints where it did not know what it had. `shape` only where no text of the store has such words. */
const RAW = {
  source: '\\{\\s*"|"\\s*:\\s*[\\[{"]|\\[object|\\bundefined\\b|\\bNaN\\b|Invalid Date',
  shape: '\\bnull\\b|\\b[a-z]+_[a-z_]*[a-z]\\b(?!\\.\\w)|\\b\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d',
};

/**
 * No text, title, label or placeholder shows a value as a program writes it.
 * @param {string[]} written what people and agents wrote; what is shown of it word for word is their own text
 * @param {boolean} isStrict whether names such as `memory_id` and raw times are faults too
 */
export async function readable(page, written = [], isStrict = false) {
  const found = await page.evaluate(({ pattern }) => {
    const raw = new RegExp(pattern, "g");
    const texts = [["title", document.title]];
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: parent, data } = walker.currentNode;
      if (!parent.closest("script, style, [data-agent-text]")) texts.push([`text of ${parent.tagName.toLowerCase()}.${parent.className?.baseVal ?? parent.className}`, data]);
    }
    const seen = ["title", "aria-label", "aria-valuetext", "aria-description", "placeholder", "alt", "label", "value"];
    for (const element of document.querySelectorAll(seen.map((name) => `[${name}]`).join())) {
      for (const name of seen) {
        const isMeant = name !== "value" || element.matches("input:not([type=hidden], [type=range], [type=checkbox])");
        if (isMeant && element.hasAttribute(name)) texts.push([`${name} of ${element.tagName.toLowerCase()}`, element.getAttribute(name)]);
      }
    }
    return texts.flatMap(([place, text]) => [...text.matchAll(raw)].slice(0, 3).map(({ index, 0: match }) => ({
      place, match, near: text.slice(Math.max(0, index - 30), index + 50).trim(), around: text.slice(Math.max(0, index - 8), index + match.length + 8).trim(),
    })));
  }, { pattern: isStrict ? `${RAW.source}|${RAW.shape}` : RAW.source });
  const isWritten = ({ around }) => written.some((text) => text.includes(around));
  return found.filter((one) => !isWritten(one)).map(({ place, near, match }) => `${place} shows ${match}: ${near}`);
}

/** Text is neither on other text, nor cut off without a sign, nor outside of what contains it. Runs at the width that the page has. */
export async function laidOut(page) {
  return page.evaluate(() => {
    const faults = new Set();
    const named = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""}`;
    const styles = new Map();
    const styleOf = (element) => styles.get(element) ?? styles.set(element, getComputedStyle(element)).get(element);
    const isHidden = (element) => !element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })
      || element.closest(".visually-hidden, .skip, option, datalist, script, style, title, dialog:not([open]), [aria-hidden=true]");
    const isClip = (value) => value !== "visible";
    const canBeSeenWhole = (element) => /auto|scroll/.test(styleOf(element).overflowX + styleOf(element).overflowY)
      || styleOf(element).maskImage !== "none" || styleOf(element).webkitLineClamp !== "none";

    /** What is left of a rectangle inside everything that cuts it. */
    const seenOf = (rect, from) => {
      let { left, top, right, bottom } = rect;
      for (let at = from; at && at !== document.documentElement; at = at.parentElement) {
        const style = styleOf(at);
        if (!(at instanceof HTMLElement) || style.display.startsWith("inline") && !/inline-/.test(style.display)) continue;
        const box = at.getBoundingClientRect();
        if (isClip(style.overflowX) || isClip(style.overflowY)) {
          left = Math.max(left, box.left); right = Math.min(right, box.right);
          top = Math.max(top, box.top); bottom = Math.min(bottom, box.bottom);
        }
      }
      return { left, top, right, bottom };
    };

    /** Where a text ends (a space at the end of a line may hang), each of its containers must go on, unless it can be scrolled there. */
    const runsOut = (rect, element, text) => {
      for (let at = element; at && at !== document.body; at = at.parentElement) {
        const style = styleOf(at);
        if (!(at instanceof HTMLElement) || style.display === "inline" || style.display === "contents") continue;
        if (isClip(style.overflowX)) return;
        const box = at.getBoundingClientRect();
        if (rect.right > box.right + 5 || rect.left < box.left - 5) {
          faults.add(`a text runs out of ${named(at)} by ${Math.round(Math.max(rect.right - box.right, box.left - rect.left))} px: ${text}`);
          return;
        }
      }
    };

    const boxes = [];
    const layerOf = (element) => {
      for (let at = element; at; at = at.parentElement) if (/fixed|sticky/.test(styleOf(at).position)) return at;
      return null;
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const element = node.parentElement;
      if (!node.data.trim() || isHidden(element)) continue;
      range.selectNodeContents(node);
      const text = node.data.trim().slice(0, 40);
      let whole = 0;
      let left = 0;
      for (const rect of range.getClientRects()) {
        if (rect.width < 1) continue;
        if (!element.closest("svg")) runsOut(rect, element, text);
        const seen = seenOf(rect, element);
        const [width, height] = [seen.right - seen.left, seen.bottom - seen.top];
        whole += rect.width;
        if (width < 1 || height < 1) continue;
        left += width;
        boxes.push({ ...seen, node, element, text, layer: layerOf(element) });
      }
      // What is cut by an ellipsis still says how it begins.
      const inScroll = (() => { for (let at = element; at; at = at.parentElement) if (canBeSeenWhole(at)) return true; return false; })();
      if (whole > 0 && left < Math.min(whole, 24) - 1 && !inScroll) faults.add(`nearly nothing is left of a text in ${named(element)}: ${text}`);
    }
    for (const element of document.querySelectorAll("input:not([type=checkbox], [type=range]), select, textarea")) {
      if (isHidden(element)) continue;
      const seen = seenOf(element.getBoundingClientRect(), element.parentElement);
      if (seen.right - seen.left > 1 && seen.bottom - seen.top > 1) boxes.push({ ...seen, node: element, element, text: `the field ${element.name || element.id || element.placeholder || ""}`, layer: layerOf(element) });
    }

    // Lines of one size may touch: only what covers a good part of a letter is a fault.
    boxes.sort((one, other) => one.top - other.top);
    for (const [place, one] of boxes.entries()) {
      for (let next = place + 1; next < boxes.length && boxes[next].top < one.bottom; next += 1) {
        const other = boxes[next];
        if (one.node === other.node || one.layer !== other.layer || one.element.contains(other.node) && other.node.nodeType === 1) continue;
        const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        const least = Math.min(one.bottom - one.top, other.bottom - other.top);
        if (width > 2 && height > 0.35 * least) faults.add(`"${one.text}" in ${named(one.element)} is on "${other.text}" in ${named(other.element)}, ${Math.round(width)} x ${Math.round(height)} px`);
      }
    }

    for (const element of document.querySelectorAll("body *")) {
      if (!(element instanceof HTMLElement) || isHidden(element) || !element.innerText?.trim()) continue;
      const style = styleOf(element);
      const isCut = (axis) => style[`overflow${axis}`] === "hidden" || style[`overflow${axis}`] === "clip";
      const hasSign = style.textOverflow === "ellipsis" || canBeSeenWhole(element);
      if (isCut("Y") && element.scrollHeight > element.clientHeight + 2 && !canBeSeenWhole(element) && element.clientHeight > 0) {
        faults.add(`${named(element)} is cut at its bottom: ${element.scrollHeight} px in ${element.clientHeight}: ${element.innerText.trim().slice(0, 60)}`);
      }
      if (isCut("X") && element.scrollWidth > element.clientWidth + 1 && !hasSign) {
        faults.add(`${named(element)} is cut at its side: ${element.scrollWidth} px in ${element.clientWidth}: ${element.innerText.trim().slice(0, 60)}`);
      }
    }
    return [...faults].slice(0, 8);
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
