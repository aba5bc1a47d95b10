// Who did what to one memory, the oldest first. Not here: the same over all memories (`screens/audit.js`).

import { get } from '../api.js';
import { html } from '../parts/preact.js';
import { words } from './format.js';
import { useData } from './hooks.js';
import { Agent, MemoryLink, When } from './memory.js';
import { Answer, Panel } from './states.js';

const ACTIONS = {
  feedback: 'reported', retract: 'forgot', restore: 'brought back', supersede: 'replaced', pin: 'pinned', unpin: 'unpinned',
  distinct: 'kept', link: 'linked', unlink: 'ended a link of', archive: 'archived', tombstone: 'buried',
};

/** What an event did, in words before and after what it was done to; a kind of memory means that it was saved. */
export function actionOf({ event_type: type, verdict }) {
  if (type === 'feedback' && verdict) return [`reported "${verdict}" for`, ''];
  if (ACTIONS[type]) return [ACTIONS[type], ''];
  return ['saved', `as ${words(type)}`];
}

/** A memory with its title, or a file. */
function End({ end }) {
  if (end.file) return html`<code dir="auto">${end.file}${end.symbol ? ` ${end.symbol}` : ''}</code>`;
  return html`<${MemoryLink} memory=${end.title ? end : undefined} id=${end.id} />`;
}

/** The other memory or file of an event, and how it is linked. */
function Other({ event, id }) {
  const { link, other } = event;
  if (!link) return other ? html` ${event.event_type === 'distinct' ? 'beside' : 'by'} <${End} end=${other} />` : null;
  const isSource = link.source.id === id;
  return html` · ${isSource ? 'it' : html`<${End} end=${link.source} />`} ${words(link.relation)} ${isSource ? html`<${End} end=${link.target} />` : 'it'}`;
}

function Line({ event, memory }) {
  const [before, after] = actionOf(event);
  const isFirst = event.id === memory.id;
  return html`<li class="event">
    <p><${Agent} agent=${event.agent} /> ${before} it ${after}<${Other} event=${event} id=${memory.id} />
      <span class="note"> · <${When} at=${event.at} />
        ${[event.host, event.session].filter(Boolean).map((part) => html` · <bdi>${part}</bdi>`)}</span></p>
    ${event.text && !isFirst && html`<p class="note" dir="auto">${event.text}</p>`}
  </li>`;
}

/** The history; `round` changes when it must be read again. */
export function History({ memory, round }) {
  const path = `memories/${encodeURIComponent(memory.id)}/history`;
  const state = useData((signal) => get(path, {}, { signal }), [memory.id, round]);
  return html`<${Panel} title="History"><${Answer} state=${state}>${({ events }) => html`
    <ol class="history">${events.map((event) => html`<${Line} key=${event.id} event=${event} memory=${memory} />`)}</ol>`}
      <//><//>`;
}
