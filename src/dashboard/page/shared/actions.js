// What one can do with a memory. Every action can be taken back: by its opposite where the log has one, else it waits
// some seconds before it is sent. Not here: how the page reports it (`notices.js`).

import { post } from '../api.js';
import { html, useState } from '../parts/preact.js';
import { notify } from './notices.js';

const WAIT_MS = 6_000;
const waiting = new Set();

const showProblem = (problem) => notify(problem.message, { isError: true });

/** Sends what still waits; called when the page goes away. */
function sendWaiting() {
  for (const action of [...waiting]) action.send();
}
window.addEventListener('pagehide', sendWaiting);

/**
 * Carries out `send` in some seconds, unless somebody takes it back.
 * @returns {Promise<boolean>} whether it was done
 */
export function later(text, send) {
  return new Promise((resolve) => {
    const action = {
      send: async () => {
        if (!waiting.delete(action)) return;
        clearTimeout(timer);
        try {
          await send();
          resolve(true);
        } catch (problem) {
          showProblem(problem);
          resolve(false);
        }
      },
    };
    const timer = setTimeout(action.send, WAIT_MS);
    waiting.add(action);
    const undo = () => {
      clearTimeout(timer);
      waiting.delete(action);
      resolve(false);
    };
    notify(text, { undo, shownMs: WAIT_MS });
  });
}

/**
 * Carries out an action at once, and offers its opposite.
 * @returns {Promise<boolean>} whether it was done
 */
export async function doAction(text, send, takeBack) {
  try {
    await send();
  } catch (problem) {
    showProblem(problem);
    return false;
  }
  const undo = async () => {
    try {
      await takeBack();
    } catch (problem) {
      showProblem(problem);
    }
  };
  notify(text, { undo: takeBack && undo });
  return true;
}

const pathOf = (memory, action) => `memories/${encodeURIComponent(memory.id)}/${action}`;

/** Takes a memory out of all answers. `onDone` is also called after undo. */
export const forget = (memory, reason, onDone) => doAction(
  'Forgotten. It is in no answer any more.',
  () => post(pathOf(memory, 'forget'), { reason }).then(onDone),
  () => post(pathOf(memory, 'restore')).then(onDone),
);

/** Brings a memory back. */
export const restore = (memory, reason, onDone) => doAction(
  'Brought back.',
  () => post(pathOf(memory, 'restore'), { reason }).then(onDone),
  () => post(pathOf(memory, 'forget')).then(onDone),
);

/** Lets a memory not age, or age again. */
export const pin = (memory, undo, reason, onDone) => doAction(
  undo ? 'It ages again.' : 'Pinned. It does not age.',
  () => post(pathOf(memory, 'pin'), { undo, reason }).then(onDone),
  () => post(pathOf(memory, 'pin'), { undo: !undo }).then(onDone),
);

/** Replaces a memory by another one. */
export const supersede = (memory, by, reason, onDone) => doAction(
  'Replaced. The old memory is in no answer any more.',
  () => post(pathOf(memory, 'supersede'), { superseded_by: by, reason }).then(onDone),
  () => post(pathOf(memory, 'restore')).then(onDone),
);

/** Links two memories, or a memory and a file. */
export const link = (edge, onDone) => doAction(
  'Linked.',
  () => post('links', edge).then(onDone),
  () => post('links/end', edge).then(onDone),
);

/** Ends a link. `terms` is what it said beside its ends, for the way back. */
export const endLink = (edge, terms, onDone) => doAction(
  'The link is ended.',
  () => post('links/end', edge).then(onDone),
  () => post('links', { ...edge, ...terms }).then(onDone),
);

const VERDICTS = [
  ['worked', 'Worked', 'It was followed, and it helped'],
  ['failed', 'Failed', 'It was followed, and it did not help'],
  ['stale', 'Out of date', 'It was right once, and is not any more'],
  ['confirmed', 'Still true', 'It was checked, and it holds'],
];

/** Reports a verdict. The log cannot take one back, so it waits. */
export async function report(memory, verdict, note, onDone) {
  const label = VERDICTS.find(([name]) => name === verdict)[1].toLowerCase();
  const isDone = await later(`Reported: ${label}.`, () => post(pathOf(memory, 'feedback'), { verdict, note }));
  if (isDone) onDone?.();
}

/** The buttons of a memory. `onDone` is called after each action, and after its undo. */
export function MemoryActions({ memory, onDone, children }) {
  const [note, setNote] = useState('');
  const reason = note.trim() || undefined;
  const done = () => {
    setNote('');
    onDone?.();
  };
  const isOut = Boolean(memory.life);
  const verdict = ([name, label, hint]) => html`<button key=${name} title=${hint}
    onClick=${() => report(memory, name, reason, done)}>${label}</button>`;
  return html`<div class="actions">
    <div class="button-row" role="group" aria-label="Report">${VERDICTS.map(verdict)}</div>
    <div class="button-row" role="group" aria-label="Change">
      <button onClick=${() => pin(memory, Boolean(memory.pinned), reason, done)}>${memory.pinned ? 'Unpin' : 'Pin'}</button>
      ${isOut
        ? html`<button onClick=${() => restore(memory, reason, done)}>Bring back</button>`
        : html`<button class="danger" onClick=${() => forget(memory, reason, done)}>Forget</button>`}
      ${children}
    </div>
    <label class="field grow"><span>Reason (optional, goes into the log)</span>
      <input value=${note} maxlength="500" onInput=${(event) => setNote(event.target.value)} /></label>
  </div>`;
}
