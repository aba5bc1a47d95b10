// One memory in full: text, worth, history, links, and what one can do. Not here: the graph around it.

import { get } from '../api.js';
import { History } from '../shared/history.js';
import { supersede } from '../shared/actions.js';
import { Links, LinkTo } from '../shared/links.js';
import {
  Agent, Answer, asText, Command, Copy, count, MemoryActions, Empty, File, Folded, hrefOf, html, Kind, Marks, MemoryLink, Panel, Repo, sentenceCase,
  shortRepo, titleOf, Top, useData,
  useEvents, useRef, useState, useTitle, Value, When, words,
} from '../widgets.js';

export const title = 'Memory';

/** Fields that have a place of their own; all others are listed by their names (`Value`). */
const PLACED = new Set([
  'id', 'timestamp', 'agent_id', 'repo', 'event_type', 'context', 'lesson', 'command', 'symptoms', 'tags', 'files', 'source',
  'session_id', 'branch', 'commit', 'host', 'success_rate', 'confidence', 'expires', 'life', 'superseded_by', 'maturity',
  'verdicts', 'evidence', 'pinned', 'history', 'conflicts', 'flagged', 'candidate', 'standing', 'origins', 'schema',
]);

function Fact({ name, children }) {
  if (children === undefined || children === null || children === '' || children === false) return null;
  return html`<div class="fact"><dt>${name}</dt><dd dir="auto">${children}</dd></div>`;
}

const isPresent = (value) => value !== undefined && value !== null && value !== '' && value !== false;

const verdictText = (verdicts) => Object.entries(verdicts).filter(([, times]) => typeof times === 'number' && times > 0)
  .map(([name, times]) => `${words(name)} × ${count(times)}`).join(', ');

const shownOf = (value) => isPresent(value) && html`<${Value} value=${value} />`;

const joined = (texts, shown) => (Array.isArray(texts) ? texts.map(asText).filter(Boolean).map(shown).join(', ') : '');

/** What the standing of a memory adds to its own line; its state, verdicts and links are shown elsewhere. */
function StandingFacts({ memory }) {
  const { seen_in: repos, replaces = [], changed_files: changed } = memory.standing ?? {};
  const others = Array.isArray(repos) ? repos.filter((repo) => repo !== memory.repo) : [];
  return html`
    <${Fact} name="Seen in">${joined(others, shortRepo)}<//>
    <${Fact} name="Replaces">${Array.isArray(replaces) && replaces.length > 0 && replaces.map((old) => html`<p><${MemoryLink}
      memory=${old.title ? old : undefined} id=${old.id} /></p>`)}<//>
    <${Fact} name="Changed since">${joined(changed, (path) => path)}<//>
    <${Fact} name="Also in the stores">${joined(memory.origins, (store) => store)}<//>`;
}

function Facts({ memory }) {
  const others = Object.entries(memory).filter(([name, value]) => !PLACED.has(name) && isPresent(value));
  return html`<dl class="facts">
    <${Fact} name="Kind"><${Kind} kind=${memory.event_type} /><//>
    <${Fact} name="Repository"><a href=${hrefOf('timeline', '', { repo: memory.repo })}><${Repo} repo=${memory.repo} /></a><//>
    <${Fact} name="Saved"><${When} at=${memory.timestamp} /> by <${Agent} agent=${memory.agent_id} /><//>
    <${Fact} name="Source">${words(memory.source)}<//>
    <${Fact} name="Worth">${words(memory.maturity)}<//>
    <${Fact} name="Reports">${memory.verdicts && typeof memory.verdicts === 'object' && verdictText(memory.verdicts)}<//>
    <${Fact} name="Evidence">${shownOf(memory.evidence ?? memory.success_rate)}<//>
    <${Fact} name="Confidence">${shownOf(memory.confidence)}<//>
    <${Fact} name="Expires">${memory.expires && html`<${When} at=${memory.expires} />`}<//>
    <${Fact} name="Replaced by">${memory.superseded_by && html`<${MemoryLink} id=${memory.superseded_by} />`}<//>
    <${Fact} name="Session">${memory.session_id && html`<a href=${hrefOf('injected', '', { session: memory.session_id })}>
      <code>${memory.session_id}</code></a>`}<//>
    <${Fact} name="Branch">${memory.branch && html`<code>${memory.branch}</code>`}<//>
    <${Fact} name="Commit">${memory.commit && html`<code>${memory.commit}</code>`}<//>
    <${Fact} name="Host">${memory.host}<//>
    <${StandingFacts} memory=${memory} />
    ${others.map(([name, value]) => html`<${Fact} name=${sentenceCase(words(name))}><div class="clip" tabindex="0">
      <${Value} value=${value} /></div><//>`)}
    <${Fact} name="Id"><code>${memory.id}</code> <${Copy} text=${memory.id} /><//>
  </dl>`;
}

function Warnings({ memory }) {
  return html`
    ${memory.flagged && html`<p class="notice-line">This reads like an instruction to its reader (${words(memory.flagged)}). Agents do not get it.</p>`}
    ${memory.candidate && html`<p class="notice-line">A hook saved this. It is a candidate until somebody confirms it.</p>`}
    ${memory.life && html`<p class="notice-line">This is in no answer any more: ${words(memory.life)}.</p>`}
    ${memory.conflicts?.length > 0 && html`<p class="notice-line">Another text was written under the same id, and is held back.</p>`}`;
}

function Text({ memory }) {
  const isTitle = titleOf(memory) === memory.context?.trim();
  return html`<div class="memory-text">
    ${memory.context && !isTitle && html`<h2>Context</h2><${Folded} text=${memory.context} />`}
    <h2>Lesson</h2><${Folded} text=${memory.lesson} />
    ${memory.command && html`<h2>Command</h2><${Command} text=${memory.command} />`}
    ${memory.symptoms?.length > 0 && html`<h2>Symptoms</h2>${memory.symptoms.map((text) => html`<pre class="symptom"
      tabindex="0" dir="auto">${text}</pre>`)}`}
    ${memory.files?.length > 0 && html`<h2>Files</h2><p class="chips">${memory.files.map((path) => html`<${File}
      path=${path} repo=${memory.repo} />`)}</p>`}
    ${memory.tags?.length > 0 && html`<h2>Tags</h2><p class="chips">${memory.tags.map((tag) => html`<a class="mark"
      href=${hrefOf('search', '', { query: `tag:${tag}` })}><bdi>${tag}</bdi></a>`)}</p>`}
  </div>`;
}

function Replace({ memory, onDone }) {
  const box = useRef(null);
  const [by, setBy] = useState('');
  const submit = async (event) => {
    event.preventDefault();
    if (await supersede(memory, by.trim(), undefined, onDone)) box.current.close();
  };
  return html`<button onClick=${() => box.current.showModal()}>Replace…</button>
    <dialog ref=${box} aria-labelledby="replace-title"><form onSubmit=${submit} class="stack">
      <h2 id="replace-title">Replace this memory</h2>
      <p>Give the id of the memory that holds instead. Agents then get only that one.</p>
      <label class="field"><span>Id of the other memory</span>
        <input required value=${by} spellcheck="false" onInput=${(event) => setBy(event.target.value)} /></label>
      <div class="button-row"><button class="primary">Replace</button>
        <button type="button" onClick=${() => box.current.close()}>Cancel</button></div>
    </form></dialog>`;
}

function Seen({ memory }) {
  const state = useData((signal) => get('injected', { memory: memory.id, limit: 20 }, { signal }), [memory.id]);
  const line = (entry) => html`<li><${When} at=${entry.at} /> <${Agent} agent=${entry.agent} /> in <${Repo} repo=${entry.repo} />
    <span class="note">${words(entry.occasion)}${entry.helped.includes(memory.id) ? ', it helped' : ''}${entry.failed.includes(memory.id) ? ', it failed' : ''}</span></li>`;
  const all = html`<a href=${hrefOf('injected', '', { memory: memory.id })}>All</a>`;
  return html`<${Panel} title="Where agents got it" actions=${all}><${Answer} state=${state}>
    ${({ entries }) => (entries.length === 0
    ? html`<p class="note">No agent got it yet, as far as is recorded.</p>` : html`<ul class="lines">${entries.map(line)}
      </ul>`)}<//><//>`;
}

function Page({ memory, reload, round }) {
  useTitle(titleOf(memory));
  return html`
    <${Top} title=${html`${titleOf(memory)}`}><span class="chips"><${Marks} memory=${memory} /></span><//>
    <${Warnings} memory=${memory} />
    <div class="memory-page">
      <div>
        <${Text} memory=${memory} />
        <div class="action-bar"><${MemoryActions} memory=${memory} onDone=${reload}><${Replace} memory=${memory} onDone=${reload} />
          <${LinkTo} memory=${memory} onDone=${reload} /><//></div>
        <${History} memory=${memory} round=${round} />
      </div>
      <aside aria-label="About this memory"><${Facts} memory=${memory} /><${Links} memory=${memory}
        round=${round} onDone=${reload} /><${Seen}
        memory=${memory} /></aside>
    </div>`;
}

/** The screen. */
export function Screen({ params: { id } }) {
  const [round, setRound] = useState(0);
  const state = useData((signal) => get(`memories/${encodeURIComponent(id)}`, {}, { signal }), [id, round]);
  const reload = () => setRound((before) => before + 1);
  useEvents(['changed', 'feedback'], (event) => event.id === state.data?.memories[0]?.id && reload());
  if (!id) return html`<${Top} title="Memory" /><${Empty} text="No memory is named. Pick one from the timeline.">
    <a href="#/timeline">Timeline</a><//>`;
  if (state.error) return html`<${Top} title="Memory" /><${Answer} state=${state} />`;
  return html`<${Answer} state=${state}>${({ memories: [memory] }) => html`<${Page} memory=${memory} reload=${reload}
    round=${round} />`}<//>`;
}
