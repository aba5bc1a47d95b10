// Draws a small graph in rings around its middle; the same graph is always drawn the same. Not here: what the nodes are.

import { html } from '../parts/preact.js';
import { words } from './format.js';

const RING = 130;
const LABELS_MAX = 24;
const LABEL_CHARS = 26;

/** How much room a node and what hangs on it needs. */
function leavesOf(key, children, sizes) {
  const below = (children.get(key) ?? []).reduce((sum, child) => sum + leavesOf(child, children, sizes), 0);
  sizes.set(key, Math.max(1, below));
  return sizes.get(key);
}

/** A place for each node: its ring by its depth, its angle near that of the node it hangs on. */
function placesOf({ nodes }) {
  const keys = new Set(nodes.map(({ key }) => key));
  const center = nodes[0].key;
  const children = new Map();
  for (const { key, from } of nodes.slice(1)) {
    const parent = keys.has(from) && from !== key ? from : center;
    children.set(parent, [...(children.get(parent) ?? []), key]);
  }
  const sizes = new Map();
  leavesOf(center, children, sizes);
  const depthOf = new Map(nodes.map(({ key, depth }) => [key, depth]));
  const places = new Map([[center, { x: 0, y: 0, angle: 0 }]]);
  const place = (key, start, end) => {
    let from = start;
    for (const child of children.get(key) ?? []) {
      const to = from + ((end - start) * sizes.get(child)) / sizes.get(key);
      const angle = (from + to) / 2;
      const radius = RING * depthOf.get(child);
      // Wide rather than high: labels are written sideways.
      places.set(child, { x: Math.cos(angle) * radius * 1.5, y: Math.sin(angle) * radius, angle });
      place(child, from, to);
      from = to;
    }
  };
  place(center, -Math.PI / 2, Math.PI * 1.5);
  return places;
}

const short = (text) => (text.length > LABEL_CHARS ? `${text.slice(0, LABEL_CHARS - 1)}…` : text);

function Node({ node, at, hasLabel }) {
  const isRight = Math.cos(at.angle) >= 0;
  const isMiddle = node.depth === 0;
  const said = isMiddle ? node.label : `${node.number}: ${node.label}`;
  return html`<a href=${node.href} class="node" data-kind=${node.kind} data-depth=${node.depth} aria-label=${said}>
    <title>${said}</title>
    ${node.kind === 'file' ? html`<rect x=${at.x - 11} y=${at.y - 11} width="22" height="22" rx="4" />` : html`<circle cx=${at.x} cy=${at.y} r=${isMiddle ? 15 : 11} />`}
    <text class="number" x=${at.x} y=${at.y + 4} text-anchor="middle">${isMiddle ? '●' : node.number}</text>
    ${hasLabel && !isMiddle && html`<text class="label" x=${at.x + (isRight ? 17 : -17)} y=${at.y + 4} text-anchor=${isRight ? 'start' : 'end'}>${short(node.label)}</text>`}
  </a>`;
}

/** The drawing. `graph.nodes[0]` is the middle. */
export function RingGraph({ graph }) {
  const places = placesOf(graph);
  const deepest = Math.max(1, ...graph.nodes.map(({ depth }) => depth));
  const isLabelled = graph.nodes.length <= LABELS_MAX;
  const width = RING * deepest * 1.5 + (isLabelled ? 200 : 30);
  const height = RING * deepest + 26;
  const line = ({ from, to, relation, strength }) => {
    const start = places.get(from) ?? places.get(graph.nodes[0].key);
    const end = places.get(to);
    return end && html`<line class="edge" data-relation=${relation} x1=${start.x} y1=${start.y} x2=${end.x} y2=${end.y} stroke-width=${1 + strength}><title>${words(relation)}</title></line>`;
  };
  return html`<svg class="graph" viewBox=${`${-width} ${-height} ${width * 2} ${height * 2}`} role="group" aria-label=${`Graph of ${graph.nodes.length} nodes; the table below says the same`}>
    ${graph.edges.map(line)}
    ${graph.nodes.map((node) => html`<${Node} key=${node.key} node=${node} at=${places.get(node.key)} hasLabel=${isLabelled} />`)}
  </svg>`;
}
