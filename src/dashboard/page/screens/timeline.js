// All memories, the newest first. Not here: who changed them (`audit.js`).

import { get } from '../api.js';
import { SCREENS } from '../shared/screens.js';
import { usePages } from '../shared/pages.js';
import {
  counted, Empty, Failure, Filters, HeatStrip, html, hrefOf, Loading, MemoryRow, Status, Top, useData,
  useEvents, useMemo, useNarrow, useState, WindowedList, withDays,
} from '../widgets.js';
import { Audit } from './audit.js';

export const title = 'Timeline';

const PAGE = 100;
const DAYS = 30;
const ROW = { heading: 44, wide: 64, narrow: 106 };

const filterOf = ({ repo, kind, agent, state, day }) => ({
  repo, kinds: kind, agents: agent, state, since: day, until: day, limit: PAGE,
});

/** What arrived since the list was read; it is not mixed in while somebody reads. */
function useNews({ repo, agent }, list) {
  const [news, setNews] = useState([]);
  useEvents(['added', 'changed', 'feedback', 'lost'], async ({ kind, id, ...event }) => {
    const isMine = (!repo || event.repo === repo) && (!agent || event.agent === agent);
    if (kind === 'lost') setNews((before) => [...before, null]);
    else if (kind === 'added' && isMine) setNews((before) => [...new Set([...before, id])]);
    else if (kind !== 'added' && id) {
      const { memories: [changed] } = await get(`memories/${encodeURIComponent(id)}`);
      list.replace((memory) => (memory.id === id ? { ...changed, history: undefined } : memory));
    }
  });
  return [news, () => setNews([])];
}

function News({ news, onShow }) {
  const text = news.includes(null) ? 'Some changes were missed' : `${counted(news.length, 'new memory', 'new memories')}`;
  return html`<${Status} text=${news.length ? text : ''} />
    <div class="news">${news.length > 0 && html`<button class="primary" onClick=${onShow}>${text} · show</button>`}</div>`;
}

function Strip({ params, go }) {
  const { data, error } = useData((signal) => get('timeline', { days: DAYS, repo: params.repo }, { signal }), [params.repo]);
  if (error) return html`<p class="note">The strip of days is not available: ${error.message}</p>`;
  if (!data) return html`<div class="heat-strip"></div>`;
  return html`<${HeatStrip} days=${data.days} picked=${params.day} onPick=${(day) => go({ day, view: '' })} />`;
}

function Nothing({ params }) {
  const isFiltered = ['repo', 'kind', 'agent', 'source', 'state', 'day'].some((name) => params[name]);
  if (isFiltered) return html`<${Empty} text="No memory passes these filters."><a href="#/timeline">Show all</a><//>`;
  return html`<${Empty} text="No memories yet. Agents save them as they work; you can save the first one now:"
    command="log-memory --type decision --context 'which package manager' --lesson 'this repository uses pnpm'" />`;
}

function MemoryList({ params, go }) {
  const isNarrow = useNarrow();
  const question = JSON.stringify(filterOf(params));
  const list = usePages('timeline', question, async (cursor, signal) => {
    const { memories, next, total } = await get('memories', { ...filterOf(params), cursor }, { signal });
    return { items: memories, next, total };
  });
  const [news, clearNews] = useNews(params, list);
  const shown = params.source ? list.items.filter(({ source }) => source === params.source) : list.items;
  const rows = useMemo(() => withDays(shown, ({ timestamp }) => timestamp), [list.items, params.source]);
  const rowHeight = useMemo(() => ({ day }) => (day ? ROW.heading : isNarrow ? ROW.narrow : ROW.wide), [isNarrow]);
  const show = () => {
    clearNews();
    window.scrollTo(0, 0);
    list.reload();
  };
  const row = (one) => (one.day
    ? html`<h2 class="day">${one.day}</h2>` : html`<${MemoryRow} memory=${one} isClock />`);
  return html`
    <${Filters} value=${params} onChange=${go} fields=${['repo', 'kind', 'agent', 'source', 'state']}>
      ${params.day && html`<button type="button" class="chip" onClick=${() => go({ day: '' })}>Day ${params.day} ×</button>`}
    <//>
    <p class="note count">${list.total === null ? '' : counted(list.total, 'memory', 'memories')}
      ${params.source && `; ${counted(shown.length, 'one', 'ones')} of the ${list.items.length} read so far is from this source`}</p>
    <${News} news=${news} onShow=${show} />
    ${list.error && html`<${Failure} problem=${list.error} onRetry=${list.reload} />`}
    ${list.isStarted && rows.length === 0 && !list.isLoading && !list.error && html`<${Nothing} params=${params} />`}
    <${WindowedList} items=${rows} rowHeight=${rowHeight} renderRow=${row} keyOf=${({ id, key }) => id ?? key}
      onEnd=${list.more} label="Memories" />
    ${params.source && list.next && !list.isLoading && html`<button onClick=${list.more}>Read ${PAGE} more</button>`}
    ${list.isLoading && html`<${Loading} />`}`;
}

/** The screen. */
export function Screen({ params, go }) {
  const isAudit = params.view === 'audit';
  const tab = ([view, label]) => html`<a href=${hrefOf('timeline', '', { repo: params.repo, view })}
    aria-current=${(params.view ?? '') === view ? 'page' : undefined}>${label}</a>`;
  return html`
    <${Top} title=${isAudit ? 'Who did what' : title}>
      <nav class="tabs" aria-label="Views">${SCREENS.timeline.map(tab)}</nav>
    <//>
    <${Strip} params=${params} go=${go} />
    ${isAudit ? html`<${Audit} params=${params} go=${go} />` : html`<${MemoryList} params=${params} go=${go} />`}`;
}
