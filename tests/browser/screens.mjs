// The screens of the dashboard by their addresses, and where rows are on them. Which there are says the page's own table.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { SCREENS } from "../../src/dashboard/page/shared/screens.js";

const MODULES = join(import.meta.dirname, "../../src/dashboard/page/screens");

/** Every screen, opened with what a store has. */
export function screens(known) {
  const written = (value) => encodeURIComponent(value);
  return {
    timeline: "#/timeline",
    audit: "#/timeline?view=audit",
    search: `#/search?query=${written(known.query)}`,
    injected: "#/injected",
    memory: `#/memory/${written(known.memory)}`,
    review: `#/review?repo=${written(known.repo)}`,
    candidate: "#/review?view=candidate",
    flagged: "#/review?view=flagged",
    stale: `#/review?view=stale&repo=${written(known.repo)}`,
    graph: `#/graph/${written(known.memory)}`,
    sessions: "#/sessions",
    session: `#/sessions/${written(known.session)}`,
    health: "#/health",
    savings: "#/savings",
    gaps: "#/gaps",
    patterns: "#/patterns",
    context: `#/context?task=${written(known.task)}&repo=${written(known.repo)}`,
  };
}

/** What a list or a table is made of. */
export const ROWS = "main li, main tbody tr, main article, main [role=listitem], main [role=row], main [role=option]";

/** What of the page's table of screens no address of these leads to, and what has a module and is not in the table. */
export function unvisited(routes) {
  const seen = new Set(routes.map((route) => {
    const [, screen, query = ""] = /^#\/(\w+)[^?]*\??(.*)$/.exec(route);
    return `${screen} ${new URLSearchParams(query).get("view") ?? ""}`;
  }));
  const named = Object.entries(SCREENS).flatMap(([screen, views]) => [["", ""], ...views].map(([view]) => `${screen} ${view}`));
  const missed = [...new Set(named)].filter((screen) => !seen.has(screen)).map((screen) => `no visit of ${screen}`);
  const source = (name) => readFileSync(join(MODULES, name), "utf8");
  const modules = readdirSync(MODULES).filter((name) => name.endsWith(".js") && /^export function Screen\b/m.test(source(name)));
  const unnamed = modules.map((name) => name.slice(0, -3)).filter((name) => !Object.hasOwn(SCREENS, name));
  return [...missed, ...unnamed.map((name) => `screens/${name}.js is not in the table of screens`)];
}
