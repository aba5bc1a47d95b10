// Draws a small graph as two trees around its middle: what leads to it at the left, what it leads to at the right. The
// same graph is always drawn the same, and its labels can be read. Not here: what the nodes are.

import { html } from '../parts/preact.js';
import { words } from './format.js';

const COLUMN = 232;
const LINE = 30;
const LABEL_WIDTH = 206;
const LABEL_CHARS = 26;
const MARGIN = 18;
/** Below this width the drawing scrolls instead of shrinking. */
const WIDTH_LEAST = 600;

/** The children of each node. The parent of a node is the first node through which it was found. */
function childrenOf({ nodes }) {
  const [center, ...others] = nodes;
  const keys = new Set(nodes.map(({ key }) => key));
  const children = new Map();
  for (const node of others) {
    const parent = keys.has(node.from) && node.from !== node.key ? node.from : center.key;
    children.set(parent, [...(children.get(parent) ?? []), node]);
  }
  return children;
}

/** Sets the nodes of one side below each other; a parent stands in the middle of its children. */
function placeSide(first, side, children, places) {
  let line = 0;
  const place = (node) => {
    const below = children.get(node.key) ?? [];
    const lines = below.map(place);
    const y = lines.length > 0 ? (lines[0] + lines.at(-1)) / 2 : line++;
    places.set(node.key, { x: side * node.depth * COLUMN, y, side });
    return y;
  };
  first.forEach(place);
  return line;
}

function placesOf(graph) {
  const children = childrenOf(graph);
  const [center] = graph.nodes;
  const first = children.get(center.key) ?? [];
  const places = new Map();
  const sides = [[-1, first.filter(({ isInbound }) => isInbound)], [1, first.filter(({ isInbound }) => !isInbound)]];
  const counts = sides.map(([side, nodes]) => placeSide(nodes, side, children, places));
  const lines = Math.max(1, ...counts);
  // The shorter side stands in the middle of the longer one.
  for (const place of places.values()) place.y = (place.y + (lines - counts[place.side < 0 ? 0 : 1]) / 2) * LINE;
  places.set(center.key, { x: 0, y: ((lines - 1) / 2) * LINE, side: 1 });
  return { places, lines };
}

const short = (text) => (text.length > LABEL_CHARS ? `${text.slice(0, LABEL_CHARS - 1)}…` : text);

function Node({ node, at }) {
  const isMiddle = node.depth === 0;
  const label = isMiddle ? node.label : `${node.number}: ${node.label}`;
  return html`<a href=${node.href} class="node" data-kind=${node.kind} data-depth=${node.depth}>
    <title>${label}</title>
    ${node.kind === 'file' ? html`<rect x=${at.x - 11} y=${at.y - 11} width="22" height="22"
      rx="4" />` : html`<circle cx=${at.x} cy=${at.y} r="11" />`}
    ${!isMiddle && html`<text class="number" x=${at.x} y=${at.y + 4} text-anchor="middle">${node.number}</text>
      <text class="label" x=${at.x + at.side * 17} y=${at.y + 4} text-anchor=${at.side > 0 ? 'start' : 'end'}>
        ${short(node.label)}</text>`}
  </a>`;
}

/** A line that leaves and arrives level, so that it does not cross labels. */
function pathOf(start, end) {
  const middle = (start.x + end.x) / 2;
  return `M${start.x} ${start.y}C${middle} ${start.y} ${middle} ${end.y} ${end.x} ${end.y}`;
}

/** The drawing. `graph.nodes[0]` is the middle. */
export function BranchGraph({ graph }) {
  const { places, lines } = placesOf(graph);
  const columns = [...places.values()].map(({ x }) => x);
  const left = Math.min(0, ...columns) - (Math.min(...columns) < 0 ? LABEL_WIDTH : MARGIN);
  const right = Math.max(0, ...columns) + (Math.max(...columns) > 0 ? LABEL_WIDTH : MARGIN);
  const height = (lines - 1) * LINE + 2 * MARGIN;
  const edge = ({ from, to, relation, strength }) => {
    const [start, end] = [places.get(from) ?? places.get(graph.nodes[0].key), places.get(to)];
    return end && html`<path class="edge" d=${pathOf(start, end)} stroke-width=${0.75 + strength}><title>
      ${words(relation)}</title></path>`;
  };
  const label = `Graph of ${graph.nodes.length} nodes. The table below says the same.`;
  return html`<div class="sideways" tabindex="0" role="region" aria-label="Graph"><svg class="graph"
    style=${{ minWidth: `${Math.min(WIDTH_LEAST, right - left)}px` }} width=${right - left} height=${height}
    viewBox=${`${left} ${-MARGIN} ${right - left} ${height}`} role="group" aria-label=${label}>
    ${graph.edges.map(edge)}${graph.nodes.map((node) => html`<${Node} key=${node.key} node=${node}
      at=${places.get(node.key)} />`)}
  </svg></div>`;
}
