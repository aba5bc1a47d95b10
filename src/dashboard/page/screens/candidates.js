// Memories that wait for a judgement, one by one or several at once. Not here: pairs (`review.js`).

import { get, post } from '../api.js';
import { later } from '../shared/actions.js';
import { usePages } from '../shared/pages.js';
import {
  Command, counted, Empty, Failure, Folded, html, hrefOf, Loading, RepoField, Repo, titleOf, useEvents, useKeys, useState,
  When, Agent, Kind, words,
} from '../widgets.js';

const NOTES = {
  candidate: 'A hook saw a command fail and then succeed. Accept what is right; it then counts like any other memory. After 30 days without a word they are found no more.',
  flagged: 'These read like instructions to their reader. Agents do not get them. Reject what somebody planted.',
};
const EMPTY = {
  candidate: ['No candidates wait. Hooks make them when a command that failed succeeds:', 'agent-knowledge setup'],
  flagged: ['No memory reads like an instruction.', null],
};

const pathOf = (memory, action) => `memories/${encodeURIComponent(memory.id)}/${action}`;

function Card({ memory, isPicked, onPick, onAccept, onReject, state }) {
  return html`<article class="candidate" data-item>
    <label class="pick"><input type="checkbox" checked=${isPicked} onChange=${onPick} />
      <span class="visually-hidden">Pick ${titleOf(memory)}</span></label>
    <div class="grow">
      <h2><a data-open href=${hrefOf('memory', memory.id)}><bdi>${titleOf(memory)}</bdi></a></h2>
      <${Folded} text=${memory.lesson} />
      ${memory.symptoms?.map((text) => html`<pre tabindex="0" dir="auto">${text}</pre>`)}
      ${memory.command && html`<${Command} text=${memory.command} />`}
      <p class="found-foot"><${Kind} kind=${memory.event_type} /><${Repo} repo=${memory.repo} /><${Agent}
        agent=${memory.agent_id} /><${When} at=${memory.timestamp} />
        ${memory.flagged && html`<span class="mark" data-tone="bad">${words(memory.flagged)}</span>`}</p>
    </div>
    <div class="button-row column">
      ${state === 'candidate' && html`<button onClick=${onAccept}>Accept <kbd>a</kbd></button>`}
      <button onClick=${onReject}>Reject <kbd>x</kbd></button>
    </div>
  </article>`;
}

/** The memory whose card has the focus, else the first. */
function focused(shown) {
  const cards = [...document.querySelectorAll('.candidate')];
  return shown[Math.max(0, cards.indexOf(document.activeElement?.closest('.candidate')))];
}

/** The list of `state`: candidate or flagged. */
export function Candidates({ state, repo, onRepo }) {
  const list = usePages(`review-${state}`, JSON.stringify([state, repo]), async (cursor, signal) => {
    const { memories, next, total } = await get('memories', { state, repo, limit: 50, cursor }, { signal });
    return { items: memories, next, total };
  });
  const [hidden, setHidden] = useState(() => new Set());
  const [picked, setPicked] = useState(() => new Set());
  useEvents(['added', 'changed'], () => list.items.length === 0 && list.reload());
  const shown = list.items.filter(({ id }) => !hidden.has(id));
  const hide = (ids, isHidden) => setHidden((before) => {
    const after = new Set(before);
    for (const id of ids) isHidden ? after.add(id) : after.delete(id);
    return after;
  });
  const toggle = (id) => setPicked((before) => { const after = new Set(before); after.delete(id) || after.add(id); return after; });

  const accept = async (memories) => {
    const ids = memories.map(({ id }) => id);
    hide(ids, true);
    setPicked(new Set());
    const send = () => Promise.all(memories.map((memory) => post(pathOf(memory, 'feedback'), { verdict: 'confirmed' })));
    if (!(await later(`Accepted: ${counted(ids.length, 'memory', 'memories')}.`, send))) hide(ids, false);
  };
  const reject = async (memories) => {
    const ids = memories.map(({ id }) => id);
    hide(ids, true);
    setPicked(new Set());
    const send = () => Promise.all(memories.map((memory) => post(pathOf(memory, 'forget'), { reason: 'rejected in the review' })));
    if (!(await later(`Rejected: ${counted(ids.length, 'memory', 'memories')}.`, send))) hide(ids, false);
  };
  useKeys({
    a: () => state === 'candidate' && shown.length && accept([focused(shown)]),
    x: () => shown.length && reject([focused(shown)]),
  });
  const chosen = shown.filter(({ id }) => picked.has(id));
  const isEmpty = list.isStarted && !list.isLoading && !list.error && shown.length === 0;
  return html`
    <p class="note">${NOTES[state]}</p>
    <form class="filters" onSubmit=${(event) => event.preventDefault()}><${RepoField} value=${repo} onChange=${onRepo} />
      ${chosen.length > 0 && html`<span class="button-row">
        ${state === 'candidate' && html`<button type="button" onClick=${() => accept(chosen)}>Accept ${chosen.length}</button>`}
        <button type="button" onClick=${() => reject(chosen)}>Reject ${chosen.length}</button></span>`}
    </form>
    ${list.error && html`<${Failure} problem=${list.error} onRetry=${list.reload} />`}
    ${isEmpty && html`<${Empty} text=${EMPTY[state][0]} command=${EMPTY[state][1]} />`}
    ${shown.map((memory) => html`<${Card} key=${memory.id} memory=${memory} state=${state} isPicked=${picked.has(memory.id)}
      onPick=${() => toggle(memory.id)} onAccept=${() => accept([memory])} onReject=${() => reject([memory])} />`)}
    ${list.isLoading && html`<${Loading} />`}
    ${list.next && !list.isLoading && html`<button onClick=${list.more}>Show more</button>`}`;
}
