// Past sessions: search them, and step through one. Not here: the player (`replay.js`).

import { get } from '../api.js';
import { Answer, counted, Empty, firstLine, Filters, hrefOf, html, Marked, Repo, Top, useData, useEffect, useRef,
  useState, When, words } from '../widgets.js';
import { Replay } from './replay.js';

export const title = 'Sessions';

const TYPING_MS = 200;
const SCOPES = ['all', 'errors', 'plans', 'configs', 'tools', 'files', 'decisions'];

function Hit({ hit, words: matched }) {
  const { session } = hit;
  return html`<article class="found plain-found" data-item><div class="found-text">
    <h2><a data-open href=${hrefOf('sessions', session.id, { exchange: hit.exchange })} dir="auto"><${Marked}
      text=${firstLine(hit.asked || session.title)} words=${matched} /></a></h2>
    ${hit.ran && html`<code class="one-line" dir="auto">${hit.ran}</code>`}
    ${hit.found && html`<p class="lesson" dir="auto"><${Marked} text=${hit.found} words=${matched} /></p>`}
    <p class="found-foot"><span>${words(session.tool)}</span><${Repo} repo=${session.repo} />
      ${session.branch && html`<code>${session.branch}</code>`}
      <${When} at=${session.last_ms} /><span>
        ${counted(session.exchanges, 'exchange')}</span>
      ${hit.others > 0 && html`<span>${counted(hit.others, 'other hit')} in it</span>`}${!hit.likely && html`<span class="mark">less likely</span>`}
      ${session.transcript_deleted && html`<span class="mark">the tool deleted its transcript</span>`}</p>
  </div></article>`;
}

function Newest({ repo }) {
  const asked = { repo, limit: 20 };
  const state = useData((signal) => get('sessions', asked, { signal }), [repo]);
  return html`<${Answer} state=${state}>${({ sessions }) => (sessions.length === 0
    ? html`<${Empty} text="No past sessions are kept. They are read only after your yes:" command="agent-knowledge sessions import" />`
    : html`<h2 class="section">The newest</h2>${sessions.map((session) => html`<${Hit} key=${session.uri}
        hit=${{ session, asked: session.title, likely: true, others: 0 }} />`)}`)}<//>`;
}

function SearchForm({ params, go }) {
  const timer = useRef(0);
  const [text, setText] = useState(params.query ?? '');
  useEffect(() => setText(params.query ?? ''), [params.query]);
  const type = ({ target }) => {
    setText(target.value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => go({ query: target.value }, { replace: true }), TYPING_MS);
  };
  return html`<${Filters} value=${params} onChange=${go} fields=${['repo']}>
    <label class="field"><span>Look at</span><select value=${params.scope ?? 'all'}
      onChange=${({ target }) => go({ scope: target.value === 'all' ? '' : target.value })}>
      ${SCOPES.map((scope) => html`<option value=${scope}>${scope}</option>`)}</select></label>
    <label class="field grow"><span>Search past sessions</span><input type="search" value=${text} dir="auto"
      placeholder="why is the cart test flaky" onInput=${type} /></label>
  <//>`;
}

function List({ params, go }) {
  const query = params.query?.trim() ?? '';
  const asked = { query, repo: params.repo, scope: params.scope, limit: 20, max_tokens: 8_000 };
  const state = useData((signal) => (query ? get('sessions', asked, { signal }) : Promise.resolve(null)), [JSON.stringify(asked)]);
  return html`
    <${Top} title=${title} note="What you did before with coding agents, kept on this machine only." />
    <${SearchForm} params=${params} go=${go} />
    ${query ? html`<${Answer} state=${state}>${({ sessions, indexing, matched_words: matched }) => html`
        ${indexing && html`<p class="notice-line">Sessions are still being indexed; more may be found soon.</p>`}
        ${sessions.length === 0 ? html`<${Empty} text="No session says anything about it. Sessions are read only after your yes:" command="agent-knowledge sessions import" />`
          : sessions.map((hit) => html`<${Hit} key=${hit.id} hit=${hit} words=${matched} />`)}`}<//>`
      : html`<${Newest} repo=${params.repo} />`}`;
}

/** The screen. */
export function Screen({ params, go }) {
  return params.id ? html`<${Replay} id=${params.id} params=${params} go=${go} />` : html`<${List} params=${params} go=${go} />`;
}
