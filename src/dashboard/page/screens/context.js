// The very briefing that an agent would get for a task. Not here: what agents did get (`injected.js`).

import { get, getText } from '../api.js';
import {
  Answer, count, counted, Empty, html, MemoryLink, RepoField, sentenceCase, Table, Top, useData, useEffect, useRef, useRepos, useState,
  words,
} from '../widgets.js';

export const title = 'Context preview';

const TOKENS = { least: 100, most: 8_000, usual: 800, step: 50 };
const TYPING_MS = 250;
/** The slider goes back a year at most, and stops at the first day on which something was saved. */
const DAYS = 366;

/** The server does not count tokens; four bytes a token is the usual estimate. */
const tokensOf = (text) => Math.ceil(new TextEncoder().encode(text).length / 4);

/** The text by its headings: `For this task:` and what follows it. What stands before and after them is the frame. */
function sectionsOf(text) {
  const sections = new Map();
  for (const block of text.split(/\n\n+/)) {
    const [head, ...lines] = block.split('\n');
    const isSection = head.endsWith(':') && lines.length > 0;
    const name = isSection ? head.slice(0, -1) : 'Frame';
    const section = sections.get(name) ?? { name, notes: 0, tokens: 0 };
    section.notes += isSection ? lines.filter((line) => line.startsWith('- ')).length : 0;
    section.tokens += tokensOf(block);
    sections.set(name, section);
  }
  return [...sections.values()];
}

const SECTION_COLUMNS = [
  { name: 'name', title: 'Section' }, { name: 'notes', title: 'Memories', isNumber: true }, { name: 'tokens', title: 'Tokens (about)', isNumber: true },
];

function Briefing({ briefing, text, budget }) {
  const lists = Object.entries(briefing).filter(([, value]) => Array.isArray(value) && value[0]?.id);
  const total = tokensOf(text);
  return html`<div class="context-page">
    <div><h2>As the agent reads it</h2><pre class="briefing" tabindex="0" dir="auto">${text}</pre></div>
    <aside aria-label="Sections">
      <h2>By section</h2>
      <svg class="budget" viewBox="0 0 100 6" preserveAspectRatio="none" role="img"
        aria-label=${`About ${total} of ${budget} tokens`}>
        <rect class="ground" width="100" height="6" /><rect width=${Math.min(100, (total / budget) * 100)} height="6" /></svg>
      <p class="note">About ${count(total)} of ${count(budget)} tokens; ${counted(briefing.known, 'memory', 'memories')} known in the repository.</p>
      <${Table} caption="Tokens by section" columns=${SECTION_COLUMNS} rows=${sectionsOf(text)} />
      ${lists.map(([name, memories]) => html`<h3 class="section-name">${sentenceCase(words(name))}</h3>
        <ul class="lines">${memories.map((memory) => html`<li key=${memory.id}><${MemoryLink} memory=${memory} /></li>`)}</ul>`)}
    </aside></div>`;
}

/** The days to choose from, the oldest first; the last one is today, which is the present. */
function useDays(repo) {
  const { data } = useData((signal) => get('timeline', { days: DAYS, repo }, { signal }), [repo]);
  const days = data?.days ?? [];
  const first = days.findIndex(({ added, changed, feedback }) => added + changed + feedback > 0);
  return first < 0 ? [] : days.slice(first).map(({ day }) => day);
}

function TimeSlider({ days, picked, onPick }) {
  const last = days.length - 1;
  const at = picked ? days.indexOf(picked) : last;
  const [place, setPlace] = useState(at);
  const timer = useRef(0);
  useEffect(() => setPlace(at), [at, last]);
  const name = place >= last || place < 0 ? 'now' : days[place];
  // Each day is read from the logs anew, so it waits until the slider rests.
  const slide = ({ target }) => {
    const next = Number(target.value);
    setPlace(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onPick(next >= last ? '' : days[next]), TYPING_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return html`<label class="field slider"><span>As of: ${picked && at < 0 ? picked : name}</span>
    <input type="range" min="0" max=${Math.max(last, 0)} step="1" value=${place < 0 ? last : place} disabled=${last < 1}
      aria-valuetext=${name} onInput=${slide} /></label>`;
}

function Form({ params, go, budget, days }) {
  const timer = useRef(0);
  const [tokens, setTokens] = useState(budget);
  useEffect(() => setTokens(budget), [budget]);
  const soon = (changes) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => go(changes, { replace: true }), TYPING_MS);
  };
  const slide = ({ target }) => {
    setTokens(Number(target.value));
    soon({ tokens: Number(target.value) === TOKENS.usual ? '' : target.value });
  };
  return html`<form class="filters" onSubmit=${(event) => event.preventDefault()}>
    <${RepoField} value=${params.repo} all="" onChange=${(repo) => go({ repo })} />
    <label class="field grow"><span>Task</span><input defaultValue=${params.task ?? ''} placeholder="upgrade the ORM"
      onInput=${({ target }) => soon({ task: target.value })} /></label>
    <label class="field grow"><span>File at hand</span><input defaultValue=${params.file ?? ''} placeholder="src/db.rs"
      spellcheck="false" onInput=${({ target }) => soon({ file: target.value })} /></label>
    <label class="field slider"><span>Budget: ${count(tokens)} tokens</span>
      <input type="range" min=${TOKENS.least} max=${TOKENS.most} step=${TOKENS.step} value=${tokens} onInput=${slide} /></label>
    <${TimeSlider} days=${days} picked=${params.day} onPick=${(day) => go({ day }, { replace: true })} />
  </form>`;
}

/** The screen. */
export function Screen({ params, go }) {
  const repos = useRepos();
  const repo = params.repo || repos[0]?.[0] || '';
  const budget = Number(params.tokens) || TOKENS.usual;
  const days = useDays(repo);
  const asked = { repo, task: params.task, files: params.file, max_tokens: budget, as_of: params.day };
  const state = useData(async (signal) => {
    if (!repo) return {};
    const [briefing, text] = await Promise.all([get('context', asked, { signal }), getText('context', asked, { signal })]);
    return { briefing, text };
  }, [JSON.stringify(asked)]);
  return html`
    <${Top} title=${title} note="What an agent gets at the start of work. Change the task or the budget, and see what stays." />
    <${Form} params=${{ ...params, repo }} go=${go} budget=${budget} days=${days} />
    ${params.day && html`<p class="note">What was known at the end of ${params.day} (UTC), found by words alone.
      <button type="button" class="plain" onClick=${() => go({ day: '' })}>Back to now</button></p>`}
    <div aria-busy=${state.isLoading}><${Answer} state=${state}>${({ briefing, text }) => (briefing
      ? html`<${Briefing} briefing=${briefing} text=${text} budget=${budget} />`
      : html`<${Empty} text="There is no repository with memories yet. Save one:"
        command="log-memory --type fact --lesson 'what to know here'" />`)}<//></div>`;
}
