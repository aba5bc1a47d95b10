// Marks the words of a text that another text does not have. Not here: a difference by lines.

import { html } from '../parts/preact.js';

const WORDS_MAX = 2_000;
const SHARE_MOST = 0.6;
const plain = (word) => word.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');

/** The text, with what is only here marked. */
export function Different({ text = '', other = '' }) {
  const known = new Set(other.split(/\s+/).map(plain));
  const parts = text.split(/(\s+)/);
  if (parts.length > WORDS_MAX) return text;
  const named = parts.map(plain).filter(Boolean);
  const isNewTo = (word) => !known.has(word);
  // Where nearly every word is marked, a mark says nothing.
  if (named.filter(isNewTo).length > named.length * SHARE_MOST) return text;
  // Runs of marked words become one mark, so that the eye finds them.
  const runs = [];
  for (const part of parts) {
    const word = plain(part);
    const isNew = word ? isNewTo(word) : null;
    const run = runs.at(-1);
    if (run && (isNew === null || isNew === run.isNew)) run.text += part;
    else runs.push({ isNew: Boolean(isNew), text: part });
  }
  return runs.map(({ isNew, text: run }) => {
    if (!isNew) return run;
    const words = run.trimEnd();
    return html`<mark>${words}</mark>${run.slice(words.length)}`;
  });
}
