// Whether everything works, and what to do where it does not. Not here: what is known (`gaps.js`).

import { get } from '../api.js';
import {
  Agent, Answer, asText, bytes, Command, count, Empty, Figure, hrefOf, html, Panel, Repo, Table, Top, useData, useEvents, When, words,
} from '../widgets.js';

export const title = 'Health';

const ENTRIES_MAX = 100;

const WORDS = { ok: ['works', 'good'], warn: ['look at it', 'warn'], fail: ['broken', 'bad'] };
const RANK = { fail: 0, warn: 1, ok: 2 };

const stateOf = (state) => WORDS[asText(state).toLowerCase()] ?? [words(state) || 'unknown', 'warn'];

/** Checks that say the same kind of thing stand together: one row, and how many. */
function grouped(checks) {
  const groups = new Map();
  for (const check of checks) {
    const key = `${check.check} ${check.state}`;
    if (groups.has(key)) groups.get(key).push(check);
    else groups.set(key, [check]);
  }
  const rank = ([{ state }]) => RANK[asText(state).toLowerCase()] ?? 1;
  return [...groups.values()].sort((left, right) => rank(left) - rank(right));
}

function Check({ checks }) {
  const [{ check, state }] = checks;
  const [word, tone] = stateOf(state);
  const line = ({ says, mend }) => html`<div class="said"><p dir="auto">${says}</p>${mend && html`<${Command}
    text=${mend} />`}</div>`;
  return html`<li class="check"><span class="mark" data-tone=${tone}>${word}</span><strong>${check}</strong>
    <div class="grow">${line(checks[0])}
      ${checks.length > 1 && html`<details><summary>${checks.length - 1} more of this kind</summary>
        ${checks.slice(1).map(line)}</details>`}</div></li>`;
}

function Doctor() {
  const state = useData((signal) => get('doctor', {}, { signal }), []);
  const again = html`<button class="plain" onClick=${state.reload} disabled=${state.isLoading}>Check again</button>`;
  return html`<${Panel} title="Checks" actions=${again}><${Answer} state=${state}>${({ fine, checks }) => {
    const warned = checks.filter(({ state: one }) => asText(one).toLowerCase() !== 'ok').length;
    const text = !fine ? 'Memories cannot be written or read as they should. Start with the first check.'
      : warned > 0 ? 'It works. Some things could be better.' : 'Everything works.';
    return html`<p class="verdict" data-tone=${!fine ? 'bad' : warned ? 'warn' : 'good'}>${text}</p>
      <ul class="checks">${grouped(checks).map((group) => html`<${Check} checks=${group} />`)}</ul>`;
  }}<//><//>`;
}

function Troubles({ status }) {
  const texts = [
    ...status.troubles.map((one) => asText(one) || Object.values(one).map(asText).filter(Boolean).join(': ')),
    status.watch_trouble && `Changes are not watched, every query checks the files: ${status.watch_trouble}`,
    status.model.cache_trouble && `The cache of the model: ${status.model.cache_trouble}`,
    status.waiting > 0 && `${count(status.waiting)} writes wait in the spool, since another process holds their log. Searches find them.`,
    status.left_out > 0 && `${count(status.left_out)} memories are left out: the memory limit of ${status.memory_mib} MiB is reached.`,
  ].filter(Boolean);
  return texts.map((text) => html`<p class="notice-line" dir="auto">${text}</p>`);
}

const HOOK_COLUMNS = [
  { name: 'agent', title: 'Agent', render: ({ agent }) => html`<${Agent} agent=${agent} />` },
  { name: 'by', title: 'By', render: ({ by }) => (by === 'hook' ? 'a hook' : 'a tool') },
  { name: 'at', title: 'Last', render: ({ at }) => html`<${When} at=${at} />` },
  { name: 'occasion', title: 'Occasion', render: ({ occasion }) => words(occasion) },
];

/** Hooks fail silently: the last time that each agent was shown anything shows it. */
function SignsOfLife() {
  const state = useData((signal) => get('injected', { limit: ENTRIES_MAX }, { signal }), []);
  useEvents('injected', state.reload);
  const newest = (entries) => [...new Map([...entries].reverse().map((entry) => [`${entry.agent} ${entry.by}`, entry])).values()]
    .sort((left, right) => right.at.localeCompare(left.at));
  return html`<${Panel} title="Last sign of life of hooks and tools" note=${`Among the last ${ENTRIES_MAX} answers.`}>
    <${Answer} state=${state}>${({ entries }) => (entries.length === 0
      ? html`<${Empty} text="No hook and no tool asked yet. Set up an agent, so that it asks by itself:" command="agent-knowledge setup" />`
      : html`<${Table} caption="Last sign of life" columns=${HOOK_COLUMNS} rows=${newest(entries)} />`)}<//><//>`;
}

const REPO_COLUMNS = [
  { name: 'key', title: 'Repository', render: ({ key }) => html`<a href=${hrefOf('timeline', '', { repo: key })}><${Repo}
    repo=${key} /></a>` },
  { name: 'memories', title: 'Memories', isNumber: true },
];
const SKIP_COLUMNS = [
  { name: 'log', title: 'Log', render: ({ log, file, path }) => log ?? file ?? path ?? '' },
  { name: 'offset', title: 'Byte', isNumber: true },
  { name: 'why', title: 'Why', render: ({ why, reason }) => why ?? reason ?? '' },
];

function Store({ status }) {
  const repos = Object.entries(status.repos).filter(([, memories]) => typeof memories === 'number').map(([key, memories]) => ({ key, memories })).sort((left, right) => right.memories - left.memories);
  return html`
    <dl class="figures">
      <${Figure} name="Memories" value=${count(status.memories)} />
      <${Figure} name="Logs" value=${count(status.logs)}
        note=${status.segments ? `and ${count(status.segments)} archived segments` : undefined} />
      <${Figure} name="Lines read" value=${count(status.lines)} note=${`${count(status.skipped)} skipped`} />
      <${Figure} name="Indexed by words" value=${count(status.lexical)} />
      <${Figure} name="By meaning" value=${count(status.embedded)}
        note=${status.model.works ? 'the model works' : 'the model is off'} />
      <${Figure} name="Held in memory" value=${bytes(status.held_bytes)} note=${`of ${status.memory_mib} MiB`} />
    </dl>
    <${Troubles} status=${status} />
    <p class="note">Store <code>${status.store}</code></p>
    <p class="note" dir="auto">Model: ${status.model.state}</p>
    ${status.skips.length > 0 && html`<${Panel} title="Skipped lines"><${Table} caption="Skipped lines"
      columns=${SKIP_COLUMNS} rows=${status.skips} /><//>`}
    <${Panel} title="Repositories"><${Table} caption="Memories by repository" columns=${REPO_COLUMNS} rows=${repos} /><//>`;
}

/** The screen. */
export function Screen() {
  const state = useData((signal) => get('status', {}, { signal }), []);
  useEvents(['indexed', 'synced', 'lost'], state.reload);
  return html`<${Top} title=${title} /><${Doctor} /><${SignsOfLife} />
    <${Panel} title="Store and indexes"><${Answer} state=${state}>${(status) => html`<${Store} status=${status} />`}<//><//>`;
}
