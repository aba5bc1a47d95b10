// The checks on two pages that break every one of them: a check that finds nothing there finds nothing anywhere.
// Not here: the checks (checks.mjs), and what is noticed all the time (browser.mjs).

import { listen } from "./attacks.mjs";
import { openPage, settle, startBrowser } from "./browser.mjs";
import * as checks from "./checks.mjs";
import { MARK } from "./poison.mjs";

const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Under the policy of the real page: what the browser itself must complain about. */
const COMPLAINTS = `
  console.error("an error");
  console.warn("a warning");
  setTimeout(() => { throw new Error("nobody caught this"); });
  setTimeout(() => { document.body.innerHTML = "<b>markup</b>"; });
  alert("a dialog");
  walrus();
`;

/** Without a policy: what only the checks can find. */
const BROKEN = (elsewhere) => `<!doctype html><title></title><body style="background:#fff">
  <style>@media (prefers-color-scheme: dark) { #dark { color: #ddd } }</style>
  <p style="color:#eee">pale in light</p><p id="dark">pale in dark</p><img src="x">
  <div style="width:2000px">wide</div>
  <${MARK}>made</${MARK}><a href="javascript:walrus()">press</a><b onclick="walrus()">b</b>
  <p title="[object Object]">{"a": 1} and undefined</p><p>made by memory_id at 2026-03-01T10:00:00Z</p>
  <div style="height:20px"><p style="margin:0">one text</p><p style="margin:-14px 0 0">other text</p></div>
  <div style="width:90px;white-space:nowrap">a text that runs out of it</div>
  <div style="width:90px;overflow:hidden;white-space:nowrap">a text that ends without a sign</div>
  <div style="height:20px;overflow:hidden">a line<br>and one that nobody sees</div>
  <div style="display:flex;width:60px;overflow:hidden"><span style="flex:none">as wide as it is</span><span style="min-width:0;overflow:hidden">squeezed</span></div>
  <p>before <span>\u202eturned</span> after</p>
  ${"<i></i>".repeat(6_000)}
  <script>fetch("${elsewhere}/pixel", { mode: "no-cors" }); document.cookie = "token=quite-secret"; localStorage.token = "quite-secret";</script>`;

export async function control(results) {
  const elsewhere = await listen((request, answer) => answer.end());
  const server = await listen((request, answer) => {
    const isStrict = request.url === "/strict";
    if (isStrict) answer.setHeader("Content-Security-Policy", POLICY);
    answer.setHeader("Content-Type", request.url.endsWith(".js") ? "text/javascript" : "text/html; charset=utf-8");
    if (request.url.endsWith(".js")) answer.end(COMPLAINTS);
    else answer.end(isStrict ? '<!doctype html><body><script>1</script><script src="/complain.js"></script>' : BROKEN(elsewhere.address));
  });
  const browser = await startBrowser();
  try {
    const { page, seen } = await openPage(browser, server.address);
    const finds = (what, faults, patterns) => {
      const missed = patterns.filter((pattern) => !faults.some((fault) => pattern.test(fault)));
      results.add(`control: ${what}`, missed.map((pattern) => `nothing like ${pattern} in ${JSON.stringify(faults).slice(0, 2000)}`));
    };
    await page.goto(`${server.address}/strict`);
    await settle(page, seen);
    finds("complaints of the browser", seen.take(), [
      /console error: an error/, /console warning: a warning/, /page error: .*nobody caught this/, /dialog: a dialog/,
      /policy violation: script-src-elem inline/, /policy violation: require-trusted-types-for/, /a text ran as a script/,
    ]);
    await page.goto(`${server.address}/broken`);
    await settle(page, seen);
    finds("a request elsewhere", seen.take(), [/request to another origin: .*pixel/]);
    finds("frame", await checks.frame(page), [/one h1/, /no title/, /one main/, /main is empty/, /elements/]);
    finds("markup", await checks.untouched(page), [new RegExp(`made from a text: <${MARK}`), /leads elsewhere: javascript/, /runs a script: B onclick/]);
    finds("direction", await checks.isolated(page), [/may turn/]);
    finds("secrets", await checks.secretive(page, ["quite-secret"]), [/cookie/, /local/]);
    finds("values of programs", await checks.readable(page, [], true), [
      /title of p shows \[object/, /shows \{"/, /shows undefined/, /shows memory_id/, /shows 2026-03-01T/,
    ]);
    const own = await checks.readable(page, ['it is {"a": 1} and undefined']);
    results.add("control: what was written so is no value of a program", own.filter((fault) => !/title of/.test(fault)));
    finds("layout", await checks.laidOut(page), [/is on "other text"/, /runs out of div/, /cut at its side/, /cut at its bottom/, /nearly nothing is left/]);
    finds("light", await checks.accessible(page, "light"), [/color-contrast/, /image-alt/]);
    await page.emulateMedia({ colorScheme: "dark" });
    finds("dark", await checks.accessible(page, "dark"), [/#dark/]);
    await page.setViewportSize(checks.NARROW);
    finds("narrow", await checks.narrow(page), [/wider than 360 px/]);
  } finally {
    await browser.close();
    for (const one of [server, elsewhere]) one.close();
  }
}
