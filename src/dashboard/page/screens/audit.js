// Who did what to which memory, from the logs. Not here: the memories (`timeline.js`).

import { get } from '../api.js';
import { actionOf } from '../shared/history.js';
import { usePages } from '../shared/pages.js';
import { Agent, Empty, Failure, Filters, hrefOf, html, Loading, useNarrow, When, WindowedList } from '../widgets.js';

const ROW_HEIGHT = { wide: 66, narrow: 104 };

function EventRow({ event }) {
  const [before, after] = actionOf(event);
  return html`<article class="row event-row" data-item>
    <div class="row-head"><${Agent} agent=${event.agent} /><span class="action">${before}</span>
      <a class="row-title" data-open href=${hrefOf('memory', event.memory)}><bdi>${event.title || event.memory}</bdi></a>
      <span class="note action-end">${after}</span><span class="row-time"><${When} at=${event.at} /></span></div>
    <div class="row-foot"><span class="row-text" dir="auto">${event.text ?? ''}</span>
      <span class="row-from">${[event.host, event.session].filter(Boolean).map((part) => html`<bdi>${part}</bdi>`)}</span></div>
  </article>`;
}

/** The list of events. */
export function Audit({ params, go }) {
  const asked = { repo: params.repo, agent: params.agent };
  const list = usePages('audit', JSON.stringify(asked), async (cursor, signal) => {
    const { events, next } = await get('audit', { ...asked, limit: 100, cursor }, { signal });
    return { items: events, next };
  });
  return html`
    <${Filters} value=${params} onChange=${go} fields=${['repo', 'agent']} />
    ${list.error && html`<${Failure} problem=${list.error} onRetry=${list.reload} />`}
    ${list.isStarted && !list.isLoading && !list.error && list.items.length === 0
      && html`<${Empty} text="Nobody changed a memory here." />`}
    <${WindowedList} items=${list.items} rowHeight=${useNarrow() ? ROW_HEIGHT.narrow : ROW_HEIGHT.wide}
      renderRow=${(event) => html`<${EventRow} event=${event} />`}
      onEnd=${list.more} label="Events" />
    ${list.isLoading && html`<${Loading} />`}`;
}
