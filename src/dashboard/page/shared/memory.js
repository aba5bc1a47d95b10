// How a memory, its author, place and time are shown. Not here: what one can do with it (`actions.js`).

import { get } from '../api.js';
import { html, useEffect, useState } from '../parts/preact.js';
import { ago, asText, clockOf, excerptOf, fullTime, shortRepo, titleOf, words } from './format.js';
import { Icon } from './icons.js';
import { hrefOf } from './routes.js';

/** What kind of memory it is; the word says it, the dot only helps the eye. */
export const Kind = ({ kind }) => html`<span class="kind" data-kind=${kind}><bdi>${words(kind)}</bdi></span>`;

/** A time: relative, or the clock in a list that has the days. */
export function When({ at, isClock = false }) {
  if (!at || Number.isNaN(new Date(at).getTime())) return html`<span class="note">no date</span>`;
  return html`<time datetime=${new Date(at).toISOString()} title=${fullTime(at)}>${isClock ? clockOf(at) : ago(at)}</time>`;
}

/** A repository, short, with the whole key as tooltip. */
export function Repo({ repo }) {
  return html`<bdi class="repo" title=${repo}>${shortRepo(repo)}</bdi>`;
}

/** Who said it. */
export const Agent = ({ agent }) => html`<bdi class="agent">${asText(agent) || 'unknown'}</bdi>`;

/** A file, linked to what is known about it. */
export function File({ path, repo }) {
  return html`<a class="file" href=${hrefOf('graph', '', { file: path, repo })}><code dir="auto">${path}</code></a>`;
}

const LIVES = { retracted: 'forgotten', superseded: 'replaced', archived: 'archived', tombstoned: 'buried', buried: 'buried', expired: 'expired' };

/** What one must know before believing a memory. */
export function Marks({ memory }) {
  const marks = [
    memory.life && [LIVES[memory.life] ?? words(memory.life), 'out'],
    memory.candidate && ['candidate', 'warn'],
    memory.flagged && ['reads like an instruction', 'bad'],
    memory.maturity && memory.maturity !== 'candidate' && [words(memory.maturity), 'good'],
    memory.better && ['a better note exists', 'warn'],
  ].filter(Boolean);
  return html`${memory.pinned && html`<span class="mark" title="does not age"><${Icon} name="pin" />pinned</span>`}
    ${marks.map(([text, tone]) => html`<span class="mark" data-tone=${tone}>${text}</span>`)}`;
}

const titles = new Map();

function loadTitle(id) {
  if (!titles.has(id)) {
    const title = get(`memories/${encodeURIComponent(id)}`).then(
      ({ memories }) => titleOf(memories[0]),
      () => null,
    );
    titles.set(id, title);
  }
  return titles.get(id);
}

/** A memory by its title. Give `memory`, or `id` where only that is known. */
export function MemoryLink({ memory, id = memory?.id }) {
  const [title, setTitle] = useState(memory && titleOf(memory));
  useEffect(() => {
    let isHere = true;
    if (memory) setTitle(titleOf(memory));
    else loadTitle(id).then((found) => isHere && setTitle(found ?? `${id} (not here any more)`));
    return () => { isHere = false; };
  }, [id, memory]);
  return html`<a class="memory-link" data-open href=${hrefOf('memory', id)}><bdi>${title ?? '…'}</bdi></a>`;
}

/** One memory on two lines, for lists. */
export function MemoryRow({ memory, isClock, extra }) {
  const lesson = excerptOf(memory.lesson);
  const title = titleOf(memory);
  return html`<article class="row" data-item>
    <div class="row-head">
      <${Kind} kind=${memory.event_type} />
      <a class="row-title" data-open href=${hrefOf('memory', memory.id)} dir="auto">${title}</a>
      <span class="row-marks"><${Marks} memory=${memory} /></span>
      <span class="row-time"><${When} at=${memory.timestamp} isClock=${isClock} /></span>
    </div>
    <div class="row-foot">
      <span class="row-text" dir="auto">${lesson === title ? '' : lesson}</span>
      <span class="row-from"><${Repo} repo=${memory.repo} /><${Agent} agent=${memory.agent_id} /></span>
    </div>
    ${extra}
  </article>`;
}
