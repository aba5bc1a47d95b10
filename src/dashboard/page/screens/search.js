// Search with reasons: what was found, by which signals, and what nearly was. Not here: past sessions.

import { get } from '../api.js';
import {
  Agent, asText, Empty, fixed, Filters, html, hrefOf, Kind, Marked, Marks, Answer, percent, Repo, Share, shortId, Swing, Table, titleOf, Top, useData,
  useTitle, When, words, excerptOf, firstLine,
} from '../widgets.js';

export const title = 'Search';

const MODES = [['', 'words and meaning'], ['lexical', 'words only'], ['dense', 'meaning only']];

/** The parts of a fit, each from 0 to 1: `[field, name, what it says]`. */
const SIGNALS = [
  ['covered', 'words', 'Share of the query that its words cover'],
  ['meaning', 'meaning', 'Cosine of query and memory'],
  ['tokens', 'tokens', 'How near its tokens are to those of the query'],
];
/** What is added to the fit or taken from it. */
const PRIORS = [
  ['repo', 'repository', 'It is of the repository that asks'],
  ['package', 'package', 'It was learned in the package that asks'],
  ['recency', 'recency', 'How new it is'],
  ['success', 'success', 'How often it helped'],
  ['trust', 'trust', 'Who saved it'],
  ['outdated', 'outdated', 'A newer or better note exists'],
  ['current', 'current', 'It stands in the place of a note that it outdates'],
  ['branch', 'branch', 'Its branch is not merged here'],
];

/** The most that a prior takes or gives (S-RANK-4). */
const PRIOR_MOST = 0.45;

const signed = (value) => `${value < 0 ? '−' : '+'}${fixed(Math.abs(value), 3)}`;

function Score({ score }) {
  const isKnown = ([field]) => score[field] !== undefined;
  const signal = ([field, name, hint]) => html`<tr title=${hint}><th scope="row">${name}</th>
    <td class="bar-cell">${score[field] !== null && html`<${Share} value=${score[field]} />`}</td>
    <td class="number">${score[field] === null ? 'none' : fixed(score[field], 2)}</td></tr>`;
  const prior = ([field, name, hint]) => html`<tr title=${hint}><th scope="row">${name}</th>
    <td class="bar-cell"><${Swing} value=${score[field]} most=${PRIOR_MOST} /></td><td class="number">
      ${signed(score[field])}</td></tr>`;
  const shown = PRIORS.filter(([field]) => score[field]);
  return html`<table class="score"><caption class="visually-hidden">Why it stands here</caption>
    <tbody>${SIGNALS.filter(isKnown).map(signal)}
      <tr class="sum"><th scope="row">fit</th><td></td><td class="number">${fixed(score.fit, 3)}</td></tr>
      ${shown.map(prior)}
      <tr class="sum"><th scope="row">score</th><td></td><td class="number strong">${fixed(score.total, 3)}</td></tr>
        </tbody></table>`;
}

function Found({ memory, words: matched, why }) {
  const text = excerptOf(memory.lesson, 600);
  return html`<article class="found" data-item>
    <div class="found-text">
      <h3><a data-open href=${hrefOf('memory', memory.id)} dir="auto"><${Marked} text=${titleOf(memory)} words=${matched} />
        </a></h3>
      ${why && html`<p class="why">${words(why)}</p>`}
      ${text && text !== titleOf(memory) && html`<p class="lesson" dir="auto"><${Marked} text=${text} words=${matched} /></p>`}
      ${memory.command && html`<code class="one-line" dir="auto">${firstLine(memory.command, 200)}</code>`}
      <p class="found-foot">
        ${memory.event_type && html`<${Kind} kind=${memory.event_type} />`}
        ${memory.repo && html`<${Repo} repo=${memory.repo} />`}
        ${memory.agent_id && html`<${Agent} agent=${memory.agent_id} />`}
        ${memory.timestamp && html`<${When} at=${memory.timestamp} />`}
        <${Marks} memory=${memory} />
        ${memory.outdates && html`<a class="mark" data-open href=${hrefOf('memory', memory.outdates)}>newer than ${shortId(memory.outdates)}</a>`}
        ${memory.also?.length > 0 && html`<span class="mark">seen ${memory.also.length + 1} times</span>`}
      </p>
    </div>
    <div class="found-score">
      ${memory.likelihood !== undefined && html`<p class="likelihood"><strong>${percent(memory.likelihood)}</strong> likely</p>`}
      ${memory.score && html`<details class="as-table"><summary>why</summary><${Score} score=${memory.score} /></details>`}
    </div>
  </article>`;
}

function Group({ name, note, memories, words: matched }) {
  if (!memories?.length) return null;
  return html`<section class="group"><h2>${name} <span class="note">${memories.length}</span></h2>
    ${note && html`<p class="note">${note}</p>`}
    ${memories.map((memory) => html`<${Found} key=${memory.id} memory=${memory} words=${matched}
      why=${memory.why ?? linkOf(memory)} />`)}</section>`;
}

const linkOf = ({ relation, of }) => relation && `${words(relation)}${of ? ` hit ${of}` : ''}`;

/** A possible hit comes with its title alone, ended by its short id. */
const possible = ({ title: text, ...rest }) => ({ ...rest, title: withoutId(asText(text), rest.id) });

function withoutId(text, id) {
  const end = [id, shortId(id)].map((one) => ` [${one}]`).find((one) => text.endsWith(one));
  return end ? text.slice(0, -end.length) : text;
}

function Results({ data }) {
  const { memories = [], possible: maybe = [], linked = [], near_misses: near = [], notices = [], matched_words: matched = [] } = data;
  // What is shown as possible has nearly answered already.
  const seen = new Set([...memories, ...maybe, ...linked].map(({ id }) => id));
  const isEmpty = memories.length + maybe.length === 0;
  return html`
    ${notices.map((notice) => html`<p class="notice-line" dir="auto">${asText(notice.text ?? notice)}</p>`)}
    ${isEmpty && html`<${Empty} text="Nothing answers this. Once you have found out, save it:"
      command="log-memory --type error --context 'what failed' --lesson 'what to do next time'" />`}
    <${Group} name="Likely" memories=${memories} words=${matched} />
    <${Group} name="Possible" note="Agents see only these titles." memories=${maybe.map(possible)} words=${matched} />
    <${Group} name="Linked" note="Linked to a likely hit." memories=${linked.map(possible)} words=${matched} />
    <${Group} name="Near misses" note="Agents do not see these." memories=${near.filter(({ id }) => !seen.has(id))}
      words=${matched} />`;
}

function Hints() {
  const rows = [
    { name: 'repo:shop', text: 'only this repository' }, { name: 'kind:error', text: 'only this kind' },
    { name: 'tag:npm', text: 'only with this tag' }, { name: 'file:cart.rs', text: 'only about this file' },
    { name: 'agent:codex', text: 'only learned by this agent' }, { name: 'since:30d until:2026-03-01', text: 'only from this time' },
  ];
  const columns = [{ name: 'name', title: 'Word', render: ({ name }) => html`<code>${name}
    </code>` }, { name: 'text', title: 'Finds' }];
  return html`<p>Type an error, a command or a question above. Paste the error text as it is.</p>
    <${Table} caption="Filters inside a query" columns=${columns} rows=${rows} isCaptionShown />`;
}

/** The screen. */
export function Screen({ params, go }) {
  const query = params.query?.trim() ?? '';
  const asked = {
    query, repo: params.repo, kinds: params.kind, agents: params.agent, mode: params.mode, limit: 20, max_tokens: 8_000, explain: true,
  };
  const state = useData((signal) => (query ? get('search', asked, { signal }) : Promise.resolve({})), [JSON.stringify(asked)]);
  useTitle(query ? `${query} · Search` : title);
  const mode = html`<label class="field"><span>Rank by</span>
    <select value=${params.mode ?? ''} onChange=${(event) => go({ mode: event.target.value })}>
      ${MODES.map(([value, label]) => html`<option value=${value}>${label}</option>`)}</select></label>`;
  return html`
    <${Top} title=${html`${title}`} />
    <${Filters} value=${params} onChange=${go} fields=${['repo', 'kind', 'agent']}>${mode}<//>
    ${query ? html`<div aria-busy=${state.isLoading}><${Answer} state=${state}>${(data) => html`<${Results} data=${data} />`}<//></div>`
      : html`<${Hints} />`}`;
}
