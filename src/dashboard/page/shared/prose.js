// Lessons are often written in Markdown. This shows its blocks as nodes; nothing in a text becomes a link or an
// element of its own. Not here: any other Markdown.

import { html, useState } from '../parts/preact.js';
import { asText, count } from './format.js';

const LONGEST = 64_000;
const FOLD_CHARS = 4_000;

/** Text with `code` and **strong** parts. */
function inline(text) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part) => {
    if (part.length > 2 && part.startsWith('`') && part.endsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.length > 4 && part.startsWith('**') && part.endsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`;
    return part;
  });
}

/** Splits a text into blocks: fences, headings, lists, paragraphs. */
function blocksOf(text) {
  const blocks = [];
  let fence = null;
  const add = (kind, line) => {
    const open = blocks.at(-1);
    if (open?.kind === kind) open.lines.push(line);
    else blocks.push({ kind, lines: [line] });
  };
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) {
      fence = fence ? null : { kind: 'code', lines: [] };
      if (fence) blocks.push(fence);
      else blocks.push({ kind: 'gap', lines: [] });
    } else if (fence) fence.lines.push(line);
    else if (!line.trim()) blocks.push({ kind: 'gap', lines: [] });
    else if (/^#{1,6}\s/.test(line)) blocks.push({ kind: 'heading', lines: [line.replace(/^#+\s*/, '')] });
    else if (/^\s*[-*]\s/.test(line)) add('list', line.replace(/^\s*[-*]\s+/, ''));
    else if (/^\s*\d+\.\s/.test(line)) add('steps', line.replace(/^\s*\d+\.\s+/, ''));
    else if (['list', 'steps'].includes(blocks.at(-1)?.kind) && /^\s+\S/.test(line)) blocks.at(-1).lines.push(`${blocks.at(-1).lines.pop()} ${line.trim()}`);
    else add('paragraph', line);
  }
  return blocks.filter(({ lines }) => lines.length > 0);
}

function blockNode({ kind, lines }, index) {
  const text = lines.join('\n');
  if (kind === 'code') return html`<pre key=${index} tabindex="0" dir="auto"><code>${text}</code></pre>`;
  if (kind === 'heading') return html`<p key=${index} class="prose-heading" dir="auto">${inline(text)}</p>`;
  const items = () => lines.map((line) => html`<li dir="auto">${inline(line)}</li>`);
  if (kind === 'list') return html`<ul key=${index}>${items()}</ul>`;
  if (kind === 'steps') return html`<ol key=${index}>${items()}</ol>`;
  return html`<p key=${index} dir="auto">${inline(text)}</p>`;
}

/** A text of a memory. */
export function Prose({ text = '' }) {
  return html`<div class="prose">${blocksOf(asText(text).slice(0, LONGEST)).map(blockNode)}</div>`;
}

/** A text that is shown whole only when asked for, if it is long. */
export function Folded({ text = '' }) {
  const [isOpen, setOpen] = useState(false);
  if (text.length < FOLD_CHARS) return html`<${Prose} text=${text} />`;
  return html`<div class=${isOpen ? '' : 'folded'}><${Prose} text=${isOpen ? text : text.slice(0, FOLD_CHARS)} /></div>
    <button class="unfold" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      ${isOpen ? 'Show less' : `Show all ${count(text.length)} characters`}</button>`;
}

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Scripts that are written without spaces; in them a word ends nowhere, so that only the others need ends of their own. */
const UNSPACED = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\p{sc=Bopomofo}';
const LETTER = `[[\\p{L}\\p{N}\\p{M}_]--[${UNSPACED}]]`;
const isUnspaced = new RegExp(`[${UNSPACED}]`, 'v');

/** Finds words as they stand alone, the longest first; the server has named them (`matched_words`). */
function patternOf(words) {
  const longestFirst = [...words].sort((left, right) => right.length - left.length);
  const alone = (word) => (isUnspaced.test(word) ? escaped(word) : `(?<!${LETTER})${escaped(word)}(?!${LETTER})`);
  return new RegExp(`(${longestFirst.map(alone).join('|')})`, 'vgi');
}

/** A text with those of its words marked that the search matched. */
export function Marked({ text = '', words = [] }) {
  const shown = asText(text);
  if (words.length === 0) return shown;
  return shown.split(patternOf(words)).map((part, index) => (index % 2 ? html`<mark>${part}</mark>` : part));
}
