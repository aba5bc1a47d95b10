// What hooks and tools showed agents, and whether it helped. Not here: what they would get now (`context.js`).

import { get } from '../api.js';
import { usePages } from '../shared/pages.js';
import {
  Agent, counted, Empty, Failure, Filters, firstLine, hrefOf, html, Loading, MemoryLink, Repo, Status, Top,
  useEvents, useMemo, useNarrow, useState, When, WindowedList, withDays, words,
} from '../widgets.js';

export const title = 'Injected';

const PAGE = 100;
const HEIGHT = { day: 44, row: 68, rowNarrow: 94, asked: 26, memory: 30, rest: 14 };

const verdictOf = (entry, id) => (entry.helped.includes(id) ? ['it helped', 'good'] : entry.failed.includes(id) ? ['it failed', 'bad'] : null);

function ShownMemories({ entry, isOpen }) {
  const line = (id) => {
    const verdict = verdictOf(entry, id);
    return html`<li key=${id}><${MemoryLink} id=${id} />${verdict && html`<span class="mark" data-tone=${verdict[1]}>
      ${verdict[0]}</span>`}</li>`;
  };
  return isOpen && html`<ul class="delivered">${entry.memories.map(line)}</ul>`;
}

function Entry({ entry, isOpen, onToggle, go }) {
  const helped = entry.helped.length;
  const failed = entry.failed.length;
  const many = entry.memories.length;
  return html`<article class="row injected" data-item tabindex="-1">
    <div class="row-head"><strong><${Agent} agent=${entry.agent} /></strong>
      <span class="mark">${words(entry.occasion)}</span>
        <span class="note">by ${entry.by === 'hook' ? 'a hook' : 'a tool'} in <${Repo} repo=${entry.repo} /></span>
      <span class="row-time"><${When} at=${entry.at} isClock /></span></div>
    ${entry.asked && html`<p class="row-text" dir="auto">${firstLine(entry.asked, 300)}</p>`}
    <div class="row-head row-marks-line">
      ${many === 0 && html`<span class="note">silent: no likely memory</span>`}
      ${many > 0 && html`<button class="plain small" data-open aria-expanded=${isOpen} onClick=${onToggle}>
        ${isOpen ? '▾' : '▸'} ${counted(many, 'memory', 'memories')}</button>`}
      ${helped > 0 && html`<span class="mark" data-tone="good">${helped} helped</span>`}
      ${failed > 0 && html`<span class="mark" data-tone="bad">${failed} failed</span>`}
      ${many > 0 && helped + failed === 0 && html`<span class="note">no verdict yet</span>`}
      <span class="note">${counted(entry.tokens, 'token')}</span>
      ${entry.session && html`<button class="plain small session" onClick=${() => go({ session: entry.session })}><bdi>
        ${`session ${entry.session}`}</bdi></button>`}
    </div>
    <${ShownMemories} entry=${entry} isOpen=${isOpen} />
  </article>`;
}

/** The screen. */
export function Screen({ params, go }) {
  const { agent, repo, session, memory } = params;
  const asked = { agent, repo, session, memory };
  const list = usePages('injected', JSON.stringify(asked), async (cursor, signal) => {
    const { entries, next } = await get('injected', { ...asked, limit: PAGE, cursor }, { signal });
    return { items: entries, next };
  });
  const [open, setOpen] = useState(() => new Set());
  const isNarrow = useNarrow();
  const [news, setNews] = useState(0);
  useEvents('injected', (event) => (!agent || event.agent === agent) && (!repo || event.repo === repo) && setNews(news + 1));
  const rows = useMemo(() => withDays(list.items, ({ at }) => at), [list.items]);
  const heightOf = useMemo(() => (row) => {
    if (row.day) return HEIGHT.day;
    return (isNarrow ? HEIGHT.rowNarrow : HEIGHT.row) + (row.asked ? HEIGHT.asked : 0) + (open.has(row.sequence) ? row.memories.length * HEIGHT.memory + HEIGHT.rest : 0);
  }, [open, isNarrow]);
  const toggle = (key) => setOpen((before) => { const after = new Set(before); after.delete(key) || after.add(key); return after; });
  const show = () => { setNews(0); window.scrollTo(0, 0); list.reload(); };
  const row = (one) => (one.day ? html`<h2 class="day">${one.day}</h2>`
    : html`<${Entry} entry=${one} isOpen=${open.has(one.sequence)} onToggle=${() => toggle(one.sequence)} go=${go} />`);
  const chip = (name, label) => params[name] && html`<button type="button" class="chip"
    onClick=${() => go({ [name]: '' })}>${label} <bdi>${params[name]}</bdi> ×</button>`;
  return html`
    <${Top} title=${title} note="Everything that hooks and tools of this program showed agents. Nothing else was put into a prompt." />
    <${Filters} value=${params} onChange=${go} fields=${['repo', 'agent']}>
      ${chip('session', 'Session')}${chip('memory', 'Memory')}<//>
    <${Status} text=${news ? counted(news, 'new entry', 'new entries') : ''} />
    <div class="news">${news > 0 && html`<button class="primary" onClick=${show}>
      ${counted(news, 'new entry', 'new entries')} · show</button>`}</div>
    ${list.error && html`<${Failure} problem=${list.error} onRetry=${list.reload} />`}
    ${list.isStarted && !list.isLoading && !list.error && rows.length === 0 && html`<${Empty}
      text="No agent was shown anything yet. Hooks show an agent what is known when it starts and when a command fails; set them up once:" command="agent-knowledge setup" />`}
    <${WindowedList} items=${rows} rowHeight=${heightOf} renderRow=${row} keyOf=${({ sequence, key }) => sequence ?? key}
      onEnd=${list.more} label="Entries" />
    ${list.isLoading && html`<${Loading} />`}`;
}
