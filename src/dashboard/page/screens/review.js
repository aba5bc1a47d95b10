// What needs a judgement: pairs that contradict each other, candidates of hooks, texts that read like instructions.
// Not here: the lists of single memories (`candidates.js`).

import { get, post } from '../api.js';
import { doAction, later } from '../shared/actions.js';
import { SCREENS } from '../shared/screens.js';
import { repositories } from '../shared/filters.js';
import { Different } from '../shared/different.js';
import {
  Agent, Command, counted, Empty, Failure, hrefOf, html, Kind, percent, RepoField, Repo, shortRepo, Status, titleOf, Top,
  useEffect, useKeys, useRef,
  useState, When,
} from '../widgets.js';
import { Candidates } from './candidates.js';
import { Outdated } from './outdated.js';

export const title = 'Review';

const PAIRS_A_REPO = 20;
const PAIRS_MAX = 100;

const keyOf = ({ older, newer }) => `${older.id} ${newer.id}`;

/** Looks through one repository, or through all of them, one after the other. */
function usePairs(repo) {
  const [state, setState] = useState({ pairs: [], done: 0, all: 0, error: null });
  useEffect(() => {
    const control = new AbortController();
    const look = async () => {
      const keys = repo ? [repo] : (await repositories()).map(([key]) => key);
      setState({ pairs: [], done: 0, all: keys.length, error: null });
      let pairs = [];
      for (const [index, key] of keys.entries()) {
        const answer = await get('review', { repo: key, limit: PAIRS_A_REPO }, { signal: control.signal });
        pairs = [...pairs, ...answer.pairs.map((pair) => ({ ...pair, repo: key }))];
        setState((before) => ({ ...before, pairs, done: index + 1 }));
        if (pairs.length >= PAIRS_MAX) break;
      }
    };
    look().catch((error) => control.signal.aborted || setState((before) => ({ ...before, error })));
    return () => control.abort();
  }, [repo]);
  return state;
}

function Side({ name, memory, other, hint }) {
  return html`<div class="side">
    <p class="note">${name} · <${When} at=${memory.timestamp} /> · <${Agent} agent=${memory.agent_id} /> <${Kind}
      kind=${memory.event_type} /></p>
    <h3><a data-open href=${hrefOf('memory', memory.id)}><bdi>${titleOf(memory)}</bdi></a></h3>
    <p dir="auto" class="pre" tabindex="0"><${Different} text=${memory.lesson} other=${other.lesson} /></p>
    ${memory.command && html`<${Command} text=${memory.command} />`}
    <p class="note">${[memory.evidence ?? memory.success_rate, memory.branch].filter(Boolean).join(' · ')}</p>
    <p class="grow"></p>${hint}
  </div>`;
}

function Pair({ pair, isCurrent, onCurrent, choices }) {
  const button = ([key, label, act], isPrimary) => html`<button onClick=${() => act(pair)}
    class=${isPrimary ? 'primary' : ''}>${label} <kbd>${key}</kbd></button>`;
  const [first, second, both, unclear] = choices;
  return html`<article class=${isCurrent ? 'pair current' : 'pair'} data-item data-pair=${keyOf(pair)}
    onFocusIn=${onCurrent} tabindex="-1">
    <h2 class="pair-head"><${Repo} repo=${pair.repo} /> <span class="note">
      ${percent(pair.kinship)} alike · ${pair.signs.join(' · ')}</span></h2>
    <div class="sides">
      <${Side} name="First (older)" memory=${pair.older} other=${pair.newer} hint=${button(first)} />
      <${Side} name="Second (newer)" memory=${pair.newer} other=${pair.older} hint=${button(second)} />
    </div>
    <div class="button-row centered">${button(both)}${button(unclear)}</div>
  </article>`;
}

/** The ways to settle a pair. `hide` takes it from the list, `show` puts it back. */
function choicesFor(hide, show) {
  const replace = (pair, old, by) => {
    hide(pair);
    const path = (action) => `memories/${encodeURIComponent(old.id)}/${action}`;
    doAction(
      'Replaced. Agents get only the other one.',
      () => post(path('supersede'), { superseded_by: by.id }),
      () => post(path('restore')).then(() => show(pair)),
    ).then((isDone) => isDone || show(pair));
  };
  return [
    ['1', 'Keep the first', (pair) => replace(pair, pair.newer, pair.older)],
    ['2', 'Keep the second', (pair) => replace(pair, pair.older, pair.newer)],
    ['b', 'Keep both', async (pair) => {
      hide(pair);
      const path = `memories/${encodeURIComponent(pair.older.id)}/distinct`;
      if (!(await later('Kept both. The pair is settled.', () => post(path, { other: pair.newer.id })))) show(pair);
    }],
    ['u', 'Unclear, later', (pair) => hide(pair)],
  ];
}

function Pairs({ params, go }) {
  const { pairs, done, all, error } = usePairs(params.repo);
  const [hidden, setHidden] = useState(() => new Set());
  const [current, setCurrent] = useState(null);
  const list = useRef(null);
  const shown = pairs.filter((pair) => !hidden.has(keyOf(pair)));
  const now = shown.find((pair) => keyOf(pair) === current) ?? shown[0];
  const change = (edit) => setHidden((before) => { const after = new Set(before); edit(after); return after; });
  const hide = (pair) => {
    const next = shown[shown.indexOf(pair) + 1] ?? shown[0];
    setCurrent(next && keyOf(next));
    change((after) => after.add(keyOf(pair)));
    requestAnimationFrame(() => list.current?.querySelector('.pair.current')?.scrollIntoView({ block: 'nearest' }));
  };
  const choices = choicesFor(hide, (pair) => change((after) => after.delete(keyOf(pair))));
  useKeys(Object.fromEntries(choices.map(([key, , act]) => [key, () => now && act(now)])));
  const isDone = done === all && all > 0;
  const progress = isDone
    ? `${counted(shown.length, 'pair')} in ${counted(all, 'repository', 'repositories')}`
    : `${counted(shown.length, 'pair')} so far; ${done} of ${all} repositories compared`;
  return html`
    <form class="filters" onSubmit=${(event) => event.preventDefault()}><${RepoField} value=${params.repo}
      onChange=${(repo) => go({ repo })} /></form>
    <${Status} text=${isDone ? progress : ''} /><p class="note count">${all > 0 && progress}</p>
    ${error && html`<${Failure} problem=${error} />`}
    ${isDone && shown.length === 0 && html`<${Empty}
      text="Nothing contradicts anything here. Agents are told of a contradiction when they save; this list looks at the rest." command="agent-knowledge review" />`}
    <div ref=${list}>${shown.map((pair) => html`<${Pair} key=${keyOf(pair)} pair=${pair} isCurrent=${pair === now}
      onCurrent=${() => setCurrent(keyOf(pair))} choices=${choices} />`)}</div>`;
}

/** The screen. */
export function Screen({ params, go }) {
  const view = params.view ?? '';
  const tab = ([name, label]) => html`<a href=${hrefOf('review', '', { view: name, repo: params.repo })}
    aria-current=${view === name ? 'page' : undefined}>${label}</a>`;
  return html`
    <${Top} title=${title} note=${params.repo ? shortRepo(params.repo) : undefined}><nav class="tabs" aria-label="Views">
      ${SCREENS.review.map(tab)}</nav><//>
    ${view === '' ? html`<${Pairs} params=${params} go=${go} />` : view === 'stale' ? html`<${Outdated} params=${params} go=${go} />`
      : html`<${Candidates} key=${view} state=${view} repo=${params.repo} onRepo=${(repo) => go({ repo })} />`}`;
}
