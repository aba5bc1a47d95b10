// The screens of the dashboard by their addresses, and where rows are on them.

/** Every screen, opened with what a store has. */
export function screens(known) {
  const written = (value) => encodeURIComponent(value);
  return {
    timeline: "#/timeline",
    search: `#/search?query=${written(known.query)}`,
    injected: "#/injected",
    memory: `#/memory/${written(known.memory)}`,
    review: `#/review?repo=${written(known.repo)}`,
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
