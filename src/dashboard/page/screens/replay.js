// One past session, step by step: what was asked, tried, failed, answered. Not here: finding it (`sessions.js`).

import { get } from '../api.js';
import {
  Answer, asText, clockOf, Command, counted, dayOf, firstLine, Folded, fullTime, html, Icon, lasted, Repo, Top, useData, useEffect,
  useKeys, useMemo, useRef,
  useState, useTitle, words,
} from '../widgets.js';

const SPEEDS = [0.5, 1, 2, 5];
/** Pauses between two moments are real, but neither too short to read nor longer than anybody waits. */
const PAUSE = { least: 500, most: 3_000, shortened: 20 };
const LOADS_MAX = 200;

const NAMES = {
  Asked: 'asked', Answered: 'answered', Summarised: 'summary', Planned: 'planned', Decided: 'decided', Ran: 'ran', Edited: 'edited',
  Called: 'called', Failed: 'failed', Interrupted: 'interrupted',
};

/** Exchanges that did not fit into the first answer are asked for one by one. */
async function load(id, signal) {
  const path = `sessions/${encodeURIComponent(id)}`;
  const { sessions: [first] } = await get(path, { max_tokens: 8_000 }, { signal });
  const byOrdinal = new Map(first.exchanges.map((exchange) => [exchange.ordinal, exchange]));
  for (let ordinal = 0; ordinal < Math.min(first.session.exchanges, LOADS_MAX); ordinal += 1) {
    if (byOrdinal.has(ordinal)) continue;
    const one = `sessions/${encodeURIComponent(`${first.session.id}#${ordinal}`)}`;
    const { sessions: [more] } = await get(one, { max_tokens: 8_000 }, { signal });
    for (const exchange of more?.exchanges ?? []) byOrdinal.set(exchange.ordinal, exchange);
  }
  return { session: first.session, exchanges: [...byOrdinal.values()].sort((left, right) => left.ordinal - right.ordinal) };
}

/** `{kind, text | command | path | tool, outcome, excerpt}` from the server's tagged form. */
function flat({ at_ms: at, what }, exchange, index) {
  const [kind, value] = typeof what === 'string' ? [what, {}] : Object.entries(what)[0];
  const fields = typeof value === 'string' ? { text: value } : value;
  return { key: `${exchange.ordinal}-${index}`, exchange: exchange.ordinal, at, kind, ...fields };
}

const momentsOf = (exchanges) => exchanges.flatMap((exchange) => exchange.parts.map((part, index) => flat(part, exchange, index)));

function Outcome({ outcome }) {
  if (!outcome || outcome === 'Unknown') return null;
  const code = typeof outcome === 'object' ? Object.values(outcome).find((part) => typeof part === 'number') ?? null : null;
  const isGood = outcome === 'Succeeded' || code === 0;
  const text = isGood ? 'worked' : code !== null ? `exit ${code}` : asText(outcome).toLowerCase() || 'unknown';
  return html`<span class="mark" data-tone=${isGood ? 'good' : 'bad'}>${text}</span>`;
}

function Moment({ moment, isCurrent, onPick }) {
  const subject = moment.command ?? moment.path ?? (moment.tool && `${moment.tool} ${moment.argument ?? ''}`);
  return html`<li class=${isCurrent ? 'moment current' : 'moment'} data-kind=${moment.kind}
    aria-current=${isCurrent ? 'step' : undefined}>
    <p class="moment-head"><button class="plain small" onClick=${onPick}>${moment.at ? clockOf(moment.at) : '–'}</button>
      <strong>${NAMES[moment.kind] ?? words(moment.kind).toLowerCase()}</strong><${Outcome} outcome=${moment.outcome} /></p>
    <div class="moment-body">
      ${moment.text && html`<${Folded} text=${moment.text} />`}
      ${subject && html`<${Command} text=${subject} />`}
      ${moment.excerpt && html`<pre tabindex="0" dir="auto">${moment.excerpt}</pre>`}
    </div></li>`;
}

/** Moves on by itself while it plays. */
function usePlayer(moments, step, setStep) {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (step >= moments.length - 1) {
      setPlaying(false);
      return undefined;
    }
    const real = (moments[step + 1].at ?? 0) - (moments[step].at ?? 0);
    const pause = Math.min(PAUSE.most, Math.max(PAUSE.least, real / PAUSE.shortened)) / speed;
    const timer = setTimeout(() => setStep(step + 1), pause);
    return () => clearTimeout(timer);
  }, [isPlaying, step, speed]);
  const toggle = () => {
    if (!isPlaying && step >= moments.length - 1) setStep(0);
    setPlaying(!isPlaying);
  };
  return { isPlaying, speed, setSpeed, toggle, pause: () => setPlaying(false) };
}

function Controls({ moments, step, onStep, player }) {
  const at = moments[step]?.at;
  return html`<div class="player" role="group" aria-label="Replay">
    <button class="square" onClick=${() => onStep(step - 1)} disabled=${step === 0} aria-label="One moment back">‹</button>
    <button class="primary" onClick=${player.toggle}><${Icon} name=${player.isPlaying ? 'pause' : 'play'} />
      ${player.isPlaying ? 'Pause' : 'Play'}</button>
    <button class="square" onClick=${() => onStep(step + 1)} disabled=${step >= moments.length - 1}
      aria-label="One moment on">›</button>
    <input class="grow" type="range" min="0" max=${moments.length - 1} value=${step} aria-label="Moment"
      aria-valuetext=${`moment ${step + 1} of ${moments.length}`} onInput=${({ target }) => onStep(Number(target.value))} />
    <span class="note">${step + 1} of ${moments.length}${at ? ` · ${clockOf(at)}` : ''}</span>
    <label class="field inline"><span class="visually-hidden">Speed</span><select value=${player.speed}
      onChange=${({ target }) => player.setSpeed(Number(target.value))}>
      ${SPEEDS.map((speed) => html`<option value=${speed}>${speed} ×</option>`)}</select></label>
  </div>`;
}

function Player({ data, params, go }) {
  const { session, exchanges } = data;
  const moments = useMemo(() => momentsOf(exchanges), [exchanges]);
  const asked = moments.findLastIndex(({ exchange }) => String(exchange) === params.exchange);
  const [step, setStep] = useState(asked >= 0 ? asked : moments.length - 1);
  const player = usePlayer(moments, step, setStep);
  const list = useRef(null);
  const onStep = (next) => { player.pause(); setStep(Math.max(0, Math.min(moments.length - 1, next))); };
  useKeys({ ArrowLeft: () => onStep(step - 1), ArrowRight: () => onStep(step + 1), ' ': player.toggle });
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) list.current?.querySelector('.current')?.scrollIntoView({ block: 'nearest' });
    isFirst.current = false;
  }, [step]);
  useTitle(session.title);
  const jump = ({ ordinal, parts }) => {
    const question = parts.map((part) => part.what.Asked).find(Boolean);
    const first = moments.findIndex(({ exchange }) => exchange === ordinal);
    return html`<li><button class="plain" aria-current=${moments[step]?.exchange === ordinal ? 'true' : undefined}
      onClick=${() => onStep(first)} data-item><span class="note">${ordinal + 1}</span> <bdi>
      ${firstLine(question, 80) || 'went on'}</bdi></button></li>`;
  };
  return html`
    <${Top} title=${html`${firstLine(session.title, 120)}`} note=${html`${words(session.tool)} · <${Repo} repo=${session.repo} />
      ${session.branch && ` · ${session.branch}`} · <span
      title=${fullTime(session.first_ms)}>${dayOf(session.first_ms)}</span>, ${lasted(session.last_ms - session.first_ms)} · ${counted(session.exchanges, 'exchange')}`} />
    <${Controls} moments=${moments} step=${step} onStep=${onStep} player=${player} />
    <div class="replay"><nav aria-label="Exchanges"><ol class="exchanges">${exchanges.map(jump)}</ol></nav>
      <ol class="moments" ref=${list}>${moments.slice(0, step + 1).map((moment, index) => html`<${Moment}
        key=${moment.key} moment=${moment} isCurrent=${index === step} onPick=${() => onStep(index)} />`)}</ol></div>`;
}

/** The session `id`. */
export function Replay({ id, params, go }) {
  const state = useData((signal) => load(id, signal), [id]);
  return html`<p><a href="#/sessions" class="back">‹ Sessions</a></p>
    ${state.error && html`<${Top} title="Session" />`}<${Answer} state=${state}>${(data) => html`<${Player}
    data=${data} params=${params} go=${go} />`}<//>`;
}
