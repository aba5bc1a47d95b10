// The very briefing that an agent would get for a task. Not here: what agents did get (`injected.js`).

import { get, getText } from '../api.js';
import {
  Answer, count, counted, Empty, html, MemoryLink, RepoField, Table, Top, useData, useEffect, useRef, useRepos, useState, words,
} from '../widgets.js';

export const title = 'Context preview';

const TOKENS = { least: 100, most: 8_000, usual: 800, step: 50 };
const TYPING_MS = 250;

/** Tokens are not told by the server; four bytes a token is the usual estimate. */
const tokensOf = (text) => Math.ceil(new TextEncoder().encode(text).length / 4);

/** The text by its headings: `For this task:` and what follows it. */
function sectionsOf(text) {
  const sections = [];
  for (const block of text.split(/\n\n+/)) {
    const [head, ...lines] = block.split('\n');
    const isSection = head.endsWith(':') && lines.length > 0;
    sections.push({ name: isSection ? head.slice(0, -1) : 'Frame', notes: isSection ? lines.filter((line) => line.startsWith('- ')).length : 0, tokens: tokensOf(block) });
  }
  return sections;
}

const SECTION_COLUMNS = [
  { name: 'name', title: 'Section' }, { name: 'notes', title: 'Memories', isNumber: true }, { name: 'tokens', title: 'Tokens (about)', isNumber: true },
];

function Told({ briefing, text, budget }) {
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
      ${lists.map(([name, memories]) => html`<h3 class="section-name">${words(name)}</h3>
        <ul class="lines">${memories.map((memory) => html`<li key=${memory.id}><${MemoryLink} memory=${memory} /></li>`)}</ul>`)}
    </aside></div>`;
}

function Form({ params, go, budget }) {
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
  </form>`;
}

/** The screen. */
export function Screen({ params, go }) {
  const repos = useRepos();
  const repo = params.repo || repos[0]?.[0] || '';
  const budget = Number(params.tokens) || TOKENS.usual;
  const asked = { repo, task: params.task, files: params.file, max_tokens: budget };
  const state = useData(async (signal) => {
    if (!repo) return {};
    const [briefing, text] = await Promise.all([get('context', asked, { signal }), getText('context', asked, { signal })]);
    return { briefing, text };
  }, [JSON.stringify(asked)]);
  return html`
    <${Top} title=${title} note="What an agent gets at the start of work. Change the task or the budget, and see what stays." />
    <${Form} params=${{ ...params, repo }} go=${go} budget=${budget} />
    <div aria-busy=${state.isLoading}><${Answer} state=${state}>${({ briefing, text }) => (briefing
      ? html`<${Told} briefing=${briefing} text=${text} budget=${budget} />`
      : html`<${Empty} text="There is no repository with memories yet. Save one:"
        command="log-memory --type fact --lesson 'what to know here'" />`)}<//></div>`;
}
