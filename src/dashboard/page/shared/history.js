// Who did what to one memory, the oldest first. Not here: the same over all memories (`screens/audit.js`).

import { get } from '../api.js';
import { html } from '../parts/preact.js';
import { words } from './format.js';
import { useData } from './hooks.js';
import { Agent, MemoryLink, When } from './memory.js';
import { Answer, Panel } from './states.js';

const DEEDS = {
  feedback: 'reported', retract: 'forgot', restore: 'brought back', supersede: 'replaced', pin: 'pinned', unpin: 'unpinned',
  distinct: 'settled', link: 'linked', unlink: 'ended a link of', archive: 'archived', tombstone: 'buried',
};

/** What an event did, in words before and after what it was done to; a kind of memory means that it was saved. */
export function deedOf({ event_type: type, verdict }) {
  if (type === 'feedback' && verdict) return [`reported "${verdict}" for`, ''];
  if (DEEDS[type]) return [DEEDS[type], ''];
  return ['saved', `as ${words(type)}`];
}

const isMemory = (id) => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(id ?? '');

function Line({ event, memory }) {
  const [before, after] = deedOf(event);
  const isFirst = event.id === memory.id;
  const other = event.target ?? event.superseded_by ?? event.distinct_from;
  return html`<li class="event">
    <p><${Agent} agent=${event.agent} /> ${before} it ${after}${event.relation && html` · ${words(event.relation)}`}
      ${other && html` ${isMemory(other) ? html`<${MemoryLink} id=${other} />` : html`<code dir="auto">${other}</code>`}`}
      <span class="note"> · <${When} at=${event.at} />${[event.host, event.session].filter(Boolean).map((part) => html` · <bdi>${part}</bdi>`)}</span></p>
    ${event.text && !isFirst && html`<p class="note" dir="auto">${event.text}</p>`}
  </li>`;
}

/** The history; `round` changes when it must be read again. */
export function History({ memory, round }) {
  const path = `memories/${encodeURIComponent(memory.id)}/history`;
  const state = useData((signal) => get(path, {}, { signal }), [memory.id, round]);
  return html`<${Panel} title="History"><${Answer} state=${state}>${({ events }) => html`
    <ol class="history">${events.map((event) => html`<${Line} key=${event.id} event=${event} memory=${memory} />`)}</ol>`}<//><//>`;
}
