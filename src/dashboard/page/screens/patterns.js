// Lessons that several repositories learned independently. Not here: contradictions (`review.js`).

import { get, post } from '../api.js';
import { doAction } from '../shared/actions.js';
import { Answer, counted, Empty, html, MemoryLink, Prose, Repo, Top, useData, useEvents } from '../widgets.js';

export const title = 'Patterns';

/** Saves a pattern. Undo forgets the memory that it became. */
function accept(pattern, onDone) {
  let saved = null;
  return doAction(
    'Saved as a pattern for all repositories.',
    () => post(`patterns/${encodeURIComponent(pattern.mark)}/accept`).then((answer) => { saved = answer.id; onDone(); }),
    () => post(`memories/${encodeURIComponent(saved)}/forget`, { reason: 'taken back' }).then(onDone),
  );
}

function Pattern({ pattern, onDone }) {
  return html`<article class="pattern" data-item>
    <div class="panel-head"><h2 dir="auto">${pattern.excerpt}</h2><button class="primary"
      onClick=${() => accept(pattern, onDone)}>Accept</button></div>
    <p class="found-foot">${pattern.repos.map((repo) => html`<${Repo} repo=${repo} />`)}
      <span>${counted(pattern.sources.length, 'memory', 'memories')}</span>
        ${pattern.evidence && html`<span>worked ${pattern.evidence}</span>`}</p>
    <div class="clamped"><${Prose} text=${pattern.lesson} /></div>
    <ul class="lines">${pattern.sources.map((id) => html`<li key=${id}><${MemoryLink} id=${id} /></li>`)}</ul>
  </article>`;
}

/** The screen. */
export function Screen() {
  const state = useData((signal) => get('patterns', { limit: 20, max_tokens: 8_000 }, { signal }), []);
  useEvents(['added', 'changed', 'lost'], state.reload);
  return html`
    <${Top} title=${title} note="The same failure, fixed in several repositories. Accept one, and agents of every repository get it." />
    <${Answer} state=${state}>${({ patterns }) => (patterns.length === 0
      ? html`<${Empty} text="No two repositories fixed the same failure yet. Patterns need the error text: save it as a symptom." command="log-memory --type error --symptom 'npm error code EACCES' --lesson 'what to do next time'" />`
      : patterns.map((pattern) => html`<${Pattern} key=${pattern.mark} pattern=${pattern} onDone=${state.reload} />`))}<//>`;
}
