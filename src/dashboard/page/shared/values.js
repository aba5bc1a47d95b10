// Shows a value whose shape the page does not know, such as a field of a newer version or of another program, so that a
// person can read it: names and texts, never the notation of a program. Not here: fields that the page knows.

import { html } from '../parts/preact.js';
import { amount, isTime, sentenceCase, words } from './format.js';
import { When } from './memory.js';

/** Deeper and longer values are cut: a page is no place for them, and `show --json` has all of it. */
const DEPTH_MAX = 5;
const PARTS_MAX = 50;

const isNothing = (value) => value === undefined || value === null || value === '';
const isGroup = (value) => typeof value === 'object' && value !== null;

function Single({ value }) {
  if (isNothing(value)) return html`<span class="note">nothing</span>`;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return amount(value);
  if (isTime(value)) return html`<${When} at=${value} />`;
  return html`<span dir="auto">${String(value)}</span>`;
}

const rest = (count) => count > PARTS_MAX && html`<p class="note">and ${amount(count - PARTS_MAX)} more</p>`;

/** A value of any shape. */
export function Value({ value, depth = 0 }) {
  if (!isGroup(value)) return html`<${Single} value=${value} />`;
  const isList = Array.isArray(value);
  const parts = isList ? value : Object.entries(value);
  if (parts.length === 0) return html`<span class="note">nothing</span>`;
  if (depth >= DEPTH_MAX) return html`<span class="note">${amount(parts.length)} more inside</span>`;
  const shown = parts.slice(0, PARTS_MAX);
  if (isList) {
    return html`<ul class="value">${shown.map((part) => html`<li><${Value} value=${part} depth=${depth + 1} /></li>`)}</ul>
      ${rest(parts.length)}`;
  }
  return html`<dl class="value">${shown.map(([name, part]) => html`<div><dt><bdi>${sentenceCase(words(name))}</bdi></dt><dd>
    <${Value} value=${part} depth=${depth + 1} /></dd></div>`)}</dl>${rest(parts.length)}`;
}
