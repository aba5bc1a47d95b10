// What stands around one memory or file, one to three steps far, as a drawing and as a table. Not here: laying it out
// (`shared/branches.js`).

import { get } from '../api.js';
import { BranchGraph } from '../shared/branches.js';
import {
  Answer, counted, Empty, File, firstLine, hrefOf, html, Kind, MemoryLink, RepoField, Table, titleOf, Top, useData,
  useState, words,
} from '../widgets.js';

export const title = 'Graph';

const NODES_MAX = 100;
const DEPTHS = [1, 2, 3];

const nodeOf = ({ memory, code }) => (memory
  ? { key: memory.id, id: memory.id, kind: memory.event_type, label: titleOf(memory), href: hrefOf('graph', memory.id), memory }
  : { key: `code:${code.path}${code.symbol ? `#${code.symbol}` : ''}`, kind: 'file', label: code.symbol ?? code.path, href: hrefOf('graph', '', { file: code.path, repo: code.repo }), code });

/** The drawing's nodes and edges; each link begins at a node that was found before it. */
function graphOf(center, related) {
  const nodes = new Map([[center.key, { ...center, depth: 0 }]]);
  const edges = [];
  for (const link of related) {
    const node = nodeOf(link);
    if (!nodes.has(node.key)) {
      if (nodes.size > NODES_MAX) continue;
      nodes.set(node.key, { ...node, depth: link.depth, from: link.from, isInbound: link.direction === 'inbound', number: nodes.size });
    }
    edges.push({ from: link.from, to: node.key, relation: link.relation, strength: link.strength });
  }
  return { nodes: [...nodes.values()], edges };
}

function Lenses({ relations, off, onToggle }) {
  const lens = ([relation, times]) => html`<label class="lens"><input type="checkbox" checked=${!off.has(relation)}
    onChange=${() => onToggle(relation)} />
    ${words(relation)} <span class="note">${times}</span></label>`;
  return html`<fieldset class="lenses"><legend class="visually-hidden">Relations</legend>${relations.map(lens)}</fieldset>`;
}

const COLUMNS = [
  { name: 'number', title: 'No.', isNumber: true, render: ({ node }) => node?.number ?? '' },
  { name: 'relation', title: 'Relation', render: ({ link }) => `${link.direction === 'inbound' ? '←' : '→'} ${words(link.relation)}` },
  { name: 'what', title: 'Memory or file', render: ({ link }) => (link.memory ? html`<${MemoryLink}
    memory=${link.memory} />` : html`<${File} path=${link.code.path} repo=${link.code.repo} />`) },
  { name: 'depth', title: 'Steps', isNumber: true, render: ({ link }) => link.depth },
  { name: 'why', title: 'Why', render: ({ link }) => html`<span class="note">${words(link.because ?? link.origin)}</span>` },
];

function Around({ center, related, heldBack }) {
  const [off, setOff] = useState(() => new Set());
  const counts = new Map();
  for (const { relation } of related) counts.set(relation, (counts.get(relation) ?? 0) + 1);
  const seen = related.filter(({ relation }) => !off.has(relation));
  const graph = graphOf(center, seen);
  const byKey = new Map(graph.nodes.map((node) => [node.key, node]));
  const rows = seen.map((link) => ({ link, node: byKey.get(nodeOf(link).key) }));
  const toggle = (relation) => setOff((before) => { const after = new Set(before); after.delete(relation) || after.add(relation); return after; });
  if (related.length === 0) {
    return html`<${Empty} text="Nothing is linked to it. Link it to another memory or to a file:"
      command=${`agent-knowledge link ${center.id ?? center.label} related_to OTHER`} />`;
  }
  return html`<${Lenses} relations=${[...counts]} off=${off} onToggle=${toggle} />
    <${BranchGraph} graph=${graph} />
    <p class="note">${counted(graph.nodes.length - 1, 'node')}${heldBack > 0 && `; ${heldBack} read like instructions and are held back`}. At the left is what leads to it, at the right what it leads to; numbers are those of the table.</p>
    <${Table} caption="The same as a table" columns=${COLUMNS} rows=${rows} isCaptionShown />`;
}

function MemoryGraph({ id, depth }) {
  const state = useData(async (signal) => {
    const path = `memories/${encodeURIComponent(id)}`;
    const [{ memories: [memory] }, links] = await Promise.all([
      get(path, {}, { signal }), get(`${path}/related`, { depth, max_tokens: 8_000 }, { signal }),
    ]);
    return { memory, links };
  }, [id, depth]);
  return html`<${Answer} state=${state}>${({ memory, links }) => html`
    <p class="center-line"><${Kind} kind=${memory.event_type} /><a href=${hrefOf('memory', memory.id)}><bdi>
      ${titleOf(memory)}</bdi></a></p>
    <${Around} center=${nodeOf({ memory })} related=${links.related} heldBack=${links.held_back} />`}<//>`;
}

/** The server names a file in 128 bytes, and finds one by the end of its path. */
const PATH_BYTES_MAX = 120;

function endOfPath(path) {
  const bytes = (text) => new TextEncoder().encode(text).length;
  let end = path;
  while (bytes(end) > PATH_BYTES_MAX && end.includes('/')) end = end.slice(end.indexOf('/') + 1);
  return end;
}

function FileGraph({ file, repo, depth }) {
  const state = useData((signal) => get('impact', { file: endOfPath(file), repo, depth, max_tokens: 8_000 }, { signal }), [file, repo, depth]);
  return html`<${Answer} state=${state}>${(links) => html`<p class="center-line"><code dir="auto">${file}</code></p>
    <${Around} center=${nodeOf({ code: { path: file, repo } })} related=${links.related} heldBack=${links.held_back} />`}<//>`;
}

function Start({ repo, go }) {
  const state = useData((signal) => get('analyze/hubs', { repo, limit: 20, max_tokens: 8_000 }, { signal }), [repo]);
  const submit = (event) => {
    event.preventDefault();
    const fields = new FormData(event.target);
    go({ file: fields.get('file').trim() });
  };
  const hub = ({ memory, code, ties }) => html`<li data-item>${memory
    ? html`<a data-open href=${hrefOf('graph', memory.id)}><bdi>${titleOf(memory)}</bdi></a>`
    : code && html`<${File} path=${code.path} repo=${code.repo} />`} <span class="note">
      ${ties !== undefined && counted(ties, 'link')}</span></li>`;
  return html`
    <form class="filters" onSubmit=${submit}><${RepoField} value=${repo} onChange=${(chosen) => go({ repo: chosen })} />
      <label class="field"><span>File</span><input name="file" required placeholder="src/main.rs" spellcheck="false" />
        </label><button>Show what is linked to it</button></form>
    <h2 class="section-name">Start at a hub</h2>
    <${Answer} state=${state}>${({ found }) => (found.length === 0
      ? html`<${Empty} text="No memory has links yet. Agents link memories as they work; you can link two yourself:"
        command="agent-knowledge link ID related_to OTHER_ID" />`
      : html`<ul class="lines">${found.map(hub)}</ul>`)}<//>`;
}

/** The screen. */
export function Screen({ params, go }) {
  const { id, file, repo } = params;
  const depth = Number(params.depth) || 2;
  const step = (one) => html`<a href=${hrefOf('graph', id, { ...params, id: '', depth: one })}
    aria-current=${one === depth ? 'page' : undefined}>${counted(one, 'step')}</a>`;
  const isAround = Boolean(id || file);
  return html`
    <${Top} title=${title} note=${isAround ? '' : 'What stands around one memory or one file.'}>
      ${isAround && html`<nav class="tabs" aria-label="How far">${DEPTHS.map(step)}</nav>`}<//>
    ${id ? html`<${MemoryGraph} id=${id} depth=${depth} />` : file && repo ? html`<${FileGraph} file=${file} repo=${repo}
      depth=${depth} />`
      : html`${file && html`<p class="notice-line">Choose the repository of ${firstLine(file)}.</p>`}<${Start}
        repo=${repo} go=${go} />`}`;
}
