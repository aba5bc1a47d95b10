// News at the foot of the page: what was done, and how to take it back. Not here: actions (`actions.js`).

import { html, useEffect, useState } from '../parts/preact.js';

const SHOWN_MS = 8_000;
const NOTICES_MAX = 3;

let notices = [];
let next = 1;
const watchers = new Set();

function set(list) {
  notices = list;
  for (const watcher of watchers) watcher(list);
}

/** Removes a notice. */
export const dismiss = (id) => set(notices.filter((notice) => notice.id !== id));

/** Shows a sentence. `undo` is what takes it back; `isError` keeps it until it is closed. */
export function notify(text, { undo = null, isError = false, shownMs = SHOWN_MS } = {}) {
  const id = next;
  next += 1;
  set([...notices.slice(1 - NOTICES_MAX), { id, text, undo, isError }]);
  if (!isError) setTimeout(() => dismiss(id), shownMs);
  return id;
}

/** Takes back the newest action that can be taken back. Returns whether there was one. */
export function undoNewest() {
  const newest = notices.findLast((notice) => notice.undo);
  if (!newest) return false;
  dismiss(newest.id);
  newest.undo();
  return true;
}

/** The place of the notices; once on the page. */
export function Notices() {
  const [list, setList] = useState(notices);
  useEffect(() => {
    watchers.add(setList);
    return () => watchers.delete(setList);
  }, []);
  const one = ({ id, text, undo, isError }) => html`
    <div key=${id} class=${isError ? 'notice bad' : 'notice'}>
      <span dir="auto">${text}</span>
      ${undo && html`<button class="plain" onClick=${() => { dismiss(id); undo(); }}>Undo <kbd>z</kbd></button>`}
      <button class="plain" onClick=${() => dismiss(id)} aria-label="Close">×</button>
    </div>`;
  return html`<div class="notices" role="status" aria-live="polite">${list.map(one)}</div>`;
}
