// What stands in place of data: loading, nothing, failure; and commands to copy. Not here: notices.

import { html, useState } from '../parts/preact.js';
import { useTitle } from './hooks.js';
import { Icon } from './icons.js';

/** A button that copies a text. */
export function Copy({ text, label = 'Copy' }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1_500);
  };
  return html`<button class="plain small" onClick=${copy}><${Icon} name="copy" /> ${isDone ? 'Copied' : label}</button>`;
}

/** A command of the terminal, ready to copy. */
export function Command({ text }) {
  return html`<div class="command"><code tabindex="0" dir="ltr">${text}</code><${Copy} text=${text} /></div>`;
}

/** Nothing is there: says why, and what to do next. */
export function Empty({ text, command, children }) {
  return html`<div class="empty"><p>${text}</p>${command && html`<${Command} text=${command} />`}${children}</div>`;
}

/** A request failed: shows every field that the server names. */
export function Failure({ problem, onRetry }) {
  const fields = problem.problems ?? [];
  return html`<div class="failure" role="alert">
    <p class="strong">${problem.status ? `${problem.title || 'Error'} (${problem.status})` : 'No answer'}</p>
    ${fields.length > 0
      ? html`<ul>${fields.map(({ field, message }) => html`<li><code>${field}</code> ${message}</li>`)}</ul>`
      : html`<p dir="auto">${problem.detail || problem.message}</p>`}
    ${onRetry && html`<button onClick=${onRetry}>Try again</button>`}
  </div>`;
}

/** Shown only when an answer takes long enough to be noticed (see `.loading`). */
export function Loading({ text = 'Loading…' }) {
  return html`<p class="loading">${text}</p>`;
}

/** Says news to those who listen to the page. */
export function Status({ text }) {
  return html`<p class="visually-hidden" role="status">${text}</p>`;
}

/** The three ends of a request, or `children(data)`. */
export function Answer({ state, children }) {
  if (state.error) return html`<${Failure} problem=${state.error} onRetry=${state.reload} />`;
  if (!state.data) return html`<${Loading} />`;
  return children(state.data);
}

/** A part of a screen with a heading. */
export function Panel({ title, note, children, actions }) {
  return html`<section class="panel">
    <header class="panel-head"><h2>${title}</h2>${actions}</header>
    ${note && html`<p class="note">${note}</p>`}${children}
  </section>`;
}

/** The head of a screen: its one `h1`, what it is for, and what one can do. */
export function Top({ title, note, children }) {
  useTitle(typeof title === 'string' ? title : undefined);
  return html`<header class="top"><div class="grow"><h1 tabindex="-1"><bdi>${title}</bdi></h1>
    ${note && html`<p class="note">${note}</p>`}</div>${children}</header>`;
}
