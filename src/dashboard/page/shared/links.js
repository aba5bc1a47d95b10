// The links of a memory: which there are, making one, ending one. Not here: the graph around it (`screens/graph.js`).

import { get } from '../api.js';
import { html, useRef, useState } from '../parts/preact.js';
import { endLink, link as makeLink } from './actions.js';
import { titleOf, words } from './format.js';
import { useData } from './hooks.js';
import { File, MemoryLink } from './memory.js';
import { hrefOf } from './routes.js';
import { Answer, Panel } from './states.js';

/** What can be said of two memories, or of a memory and a file; that one replaces another has a button of its own. */
const RELATIONS = [
  'related_to', 'depends_on', 'builds_on', 'contradicts', 'alternative_to', 'specializes', 'part_of', 'caused_by', 'led_to',
  'learned_in', 'touches', 'calls', 'imports', 'inherits',
];

/** The other end of a link, as a request names it. */
function endOf({ memory, code, absent }) {
  if (!code) return memory?.id ?? absent;
  return `code:${code.path}${code.symbol ? `::${code.symbol}` : ''}`;
}

/** A link as a request names it: from where, how, and to where. */
function edgeOf(own, link) {
  const ends = link.direction === 'inbound' ? [endOf(link), own.id] : [own.id, endOf(link)];
  return { source: ends[0], relation: link.relation, target: ends[1], repo: link.code?.repo };
}

function Line({ own, link, onDone }) {
  const name = link.memory ? titleOf(link.memory) : link.code?.path ?? link.absent;
  const end = () => endLink(edgeOf(own, link), { strength: link.strength, origin: link.origin }, onDone);
  // What was found and not said is not in the log, so it cannot be ended there.
  const isSaid = !link.because && link.relation !== 'supersedes';
  return html`<li>
    <span class="note">${link.direction === 'inbound' ? '←' : '→'} ${words(link.relation)}</span>
    ${link.memory ? html`<${MemoryLink} memory=${link.memory} />` : link.code
      ? html`<${File} path=${link.code.path} repo=${link.code.repo} />` : html`<code>${link.absent}</code>`}
    ${link.because && html`<span class="note">${link.because}</span>`}
    ${isSaid && html`<button class="plain small" aria-label=${`End the link: ${words(link.relation)} ${name}`} onClick=${end}>End</button>`}
  </li>`;
}

/** The panel. `round` changes when they are to be read again. */
export function Links({ memory, round, onDone }) {
  const path = `memories/${encodeURIComponent(memory.id)}/related`;
  const state = useData((signal) => get(path, { depth: 1, max_tokens: 8_000 }, { signal }), [memory.id, round]);
  const graph = html`<a href=${hrefOf('graph', memory.id)}>Graph</a>`;
  return html`<${Panel} title="Links" actions=${graph}><${Answer} state=${state}>${({ related }) => (related.length === 0
    ? html`<p class="note">Nothing is linked to it.</p>`
    : html`<ul class="lines">${related.map((link) => html`<${Line} own=${memory} link=${link} onDone=${onDone} />`)}</ul>`)}<//><//>`;
}

/** The button that links a memory to another one or to a file. */
export function LinkTo({ memory, onDone }) {
  const box = useRef(null);
  const [relation, setRelation] = useState(RELATIONS[0]);
  const [target, setTarget] = useState('');
  const submit = async (event) => {
    event.preventDefault();
    if (!(await makeLink({ source: memory.id, relation, target: target.trim() }, onDone))) return;
    setTarget('');
    box.current.close();
  };
  return html`<button onClick=${() => box.current.showModal()}>Link to…</button>
    <dialog ref=${box} aria-labelledby="link-title"><form onSubmit=${submit} class="stack">
      <h2 id="link-title">Link this memory</h2>
      <p>Give the id of another memory, or a file of this repository such as <code>src/db/pool.rs</code>.</p>
      <label class="field"><span>How it is related</span><select value=${relation}
        onChange=${(event) => setRelation(event.target.value)}>${RELATIONS.map((name) => html`<option value=${name}>
          ${words(name)}</option>`)}</select></label>
      <label class="field"><span>Id or file</span>
        <input required value=${target} spellcheck="false" maxlength="2000" onInput=${(event) => setTarget(event.target.value)} /></label>
      <div class="button-row"><button class="primary">Link</button>
        <button type="button" onClick=${() => box.current.close()}>Cancel</button></div>
    </form></dialog>`;
}
