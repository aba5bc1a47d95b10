// The fields above a list; their values stand in the address. Not here: what a list does with them.

import { get } from '../api.js';
import { html, useEffect, useState } from '../parts/preact.js';
import { count, shortRepo } from './format.js';

const KINDS = ['error', 'success', 'pattern', 'fact', 'decision', 'principle', 'procedure', 'convention', 'preference', 'task', 'session'];
const SOURCES = ['human', 'agent', 'hook', 'imported', 'inferred', 'team'];
const STATES = [
  ['', 'live'], ['candidate', 'candidate'], ['flagged', 'flagged'], ['superseded', 'replaced'],
  ['forgotten', 'forgotten'], ['archived', 'archived'], ['expired', 'expired'], ['any', 'any'],
];
const AGENTS = ['claude-code', 'codex', 'cursor', 'copilot', 'gemini', 'opencode', 'cline', 'qwen', 'droid', 'dashboard'];
const FRESH_MS = 30_000;

let known = null;
let askedAt = 0;

/** The repositories with their number of memories, the largest first. */
export function repositories() {
  if (!known || Date.now() - askedAt > FRESH_MS) {
    askedAt = Date.now();
    known = get('status').then(({ repos = {} }) =>
      Object.entries(repos).filter(([, memories]) => typeof memories === 'number').sort(([, left], [, right]) => right - left));
    known.catch(() => { known = null; });
  }
  return known;
}

/** The same for a component; an empty list until they are known. */
export function useRepos() {
  const [repos, setRepos] = useState([]);
  useEffect(() => {
    repositories().then(setRepos, () => {});
  }, []);
  return repos;
}

const option = ([value, label], current) => html`<option value=${value} selected=${value === current}>${label}</option>`;

function Choice({ name, label, value = '', choices, onChange }) {
  const list = value && !choices.some(([known]) => known === value) ? [...choices, [value, value]] : choices;
  return html`<label class="field" key=${name}><span>${label}</span>
    <select value=${value} onChange=${(event) => onChange(name, event.target.value)}>
      ${list.map((one) => option(one, value))}</select></label>`;
}

/** A choice of repository; `all` is what the empty choice is called. */
export function RepoField({ value, onChange, all = 'all' }) {
  const repos = useRepos();
  const choices = repos.map(([key, memories]) => [key, `${shortRepo(key)} (${count(memories)})`]);
  return html`<${Choice} name="repo" label="Repository" value=${value} choices=${all ? [['', all], ...choices] : choices}
    onChange=${(_, repo) => onChange(repo)} />`;
}

function AgentField({ value, onChange }) {
  return html`<label class="field"><span>Agent</span>
    <input list="agents" value=${value ?? ''} placeholder="all" onChange=${(event) => onChange(event.target.value.trim())} />
    <datalist id="agents">${AGENTS.map((agent) => html`<option value=${agent} />`)}</datalist></label>`;
}

const plain = (names) => [['', 'all'], ...names.map((name) => [name, name])];

/**
 * The named filters. `onChange` gets the changed ones only.
 * @param {{value: object, onChange: (changes: object) => void, fields: string[]}} props
 */
export function Filters({ value, onChange, fields, children }) {
  const set = (name, chosen) => onChange({ [name]: chosen });
  const parts = {
    repo: () => html`<${RepoField} value=${value.repo} onChange=${(repo) => set('repo', repo)} />`,
    kind: () => html`<${Choice} name="kind" label="Kind" value=${value.kind} choices=${plain(KINDS)} onChange=${set} />`,
    source: () => html`<${Choice} name="source" label="Source" value=${value.source} choices=${plain(SOURCES)}
      onChange=${set} />`,
    state: () => html`<${Choice} name="state" label="State" value=${value.state} choices=${STATES} onChange=${set} />`,
    agent: () => html`<${AgentField} value=${value.agent} onChange=${(agent) => set('agent', agent)} />`,
  };
  const isSet = fields.some((name) => value[name]);
  const none = Object.fromEntries(fields.map((name) => [name, '']));
  return html`<form class="filters" aria-label="Filters" onSubmit=${(event) => event.preventDefault()}>
    ${fields.map((name) => parts[name]())}${children}
    ${isSet && html`<button type="button" class="plain" onClick=${() => onChange(none)}>Clear</button>`}
  </form>`;
}
