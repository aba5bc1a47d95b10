// A real Chromium, and a page in it that writes down everything that should not happen.
// Not here: what is looked at (checks.mjs) and in which order (walk.mjs).

import { createRequire } from "node:module";
import { join } from "node:path";

/** What scripts/install-browser made. */
const INSTALLED = process.env.AGENT_KNOWLEDGE_TEST_BROWSER ?? join(import.meta.dirname, "../../target/browser");
const required = createRequire(join(INSTALLED, "package.json"));
const { chromium } = required("playwright-core");
export const { AxeBuilder } = required("@axe-core/playwright");

/** Longest wait for anything on a page: a debug build that compares 100,000 memories on a busy machine. */
export const STEP_MS_MAX = 45_000;

/** Starts Chromium with a profile of its own, which is removed when it is closed. */
export function startBrowser(args = []) {
  return chromium.launch({
    executablePath: join(INSTALLED, "bin/chromium"),
    // Only root needs the first. The others keep Chromium from asking anything outside.
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
      ...args,
    ],
  });
}

/** A page of its own session, with what was seen on it that should not happen. */
export async function openPage(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS_MAX);
  const seen = new Seen(address);
  await seen.watch(page);
  return { page, context, seen };
}

/** Faults of a page, and its requests under way. */
class Seen {
  constructor(address) {
    this.address = address;
    this.faults = [];
    this.urls = [];
    this.underWay = new Set();
    this.quietSince = Date.now();
  }

  async watch(page) {
    page.on("console", (message) => {
      if (["warning", "error"].includes(message.type())) {
        this.faults.push(`console ${message.type()}: ${message.text()} (${message.location().url})`);
      }
    });
    page.on("pageerror", (error) => this.faults.push(`page error: ${error.stack ?? error}`));
    page.on("dialog", (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    page.on("popup", (popup) => this.faults.push(`popup: ${popup.url()}`));
    page.on("download", (download) => this.faults.push(`download: ${download.url()}`));
    page.on("request", (request) => {
      this.urls.push(request.url());
      if (!request.url().startsWith(`${this.address}/`) && !/^(data|blob):/.test(request.url())) {
        this.faults.push(`request to another origin: ${request.url()}`);
      }
      // The stream of events stays open for as long as the page.
      if (!/\/api\/v1\/events($|\?)/.test(request.url())) this.underWay.add(request);
    });
    for (const end of ["requestfinished", "requestfailed"]) {
      page.on(end, (request) => {
        this.underWay.delete(request);
        this.quietSince = Date.now();
      });
    }
    await page.exposeBinding("walrusViolation", (_, text) => this.faults.push(`policy violation: ${text}`));
    await page.exposeBinding("walrus", () => this.faults.push("a text ran as a script"));
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        window.walrusViolation(`${event.effectiveDirective} ${event.blockedURI} ${event.sample} ${event.sourceFile}:${event.lineNumber}`);
      });
    });
  }

  /** Takes the faults so far, except those that a step brings about on purpose. */
  take(expected = null) {
    const faults = this.faults.filter((fault) => !expected?.test(fault));
    this.faults = [];
    return [...new Set(faults)];
  }
}

/** A screen without a heading after this long has none. */
const HEADING_MS_MAX = 2_000;

/** Waits until no request is under way, nothing says that it is busy, there is a heading, and what came is painted. */
export async function settle(page, seen) {
  const began = Date.now();
  for (;;) {
    const isQuiet = seen.underWay.size === 0 && Date.now() - Math.max(seen.quietSince, began) > 60;
    const [isBusy, isHeaded] = await page.evaluate(() => ['main [aria-busy="true"]', "h1"].map((it) => document.querySelector(it) !== null));
    if (isQuiet && !isBusy && (isHeaded || Date.now() - began > HEADING_MS_MAX)) break;
    if (Date.now() - began > STEP_MS_MAX) {
      throw new Error(`still loading after ${STEP_MS_MAX} ms: ${[...seen.underWay].map((it) => it.url()).join(", ") || "aria-busy"}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}
