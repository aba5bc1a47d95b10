// What is missing: searches without a result, memories that nothing links to, memories that may be out of date. Each with an action.
// Not here: contradictions (`review.js`).

import { get, post } from '../api.js';
import { doAction } from '../shared/actions.js';
import {
  Agent, Answer, Command, counted, Empty, hrefOf, html, Kind, MemoryLink, Panel, RepoField, Repo, Top, useData, useEvents,
  useRef, useRepos,
  useState, When,
} from '../widgets.js';

export const title = 'Gaps';

const LIMIT = 20;
const SAVED_KINDS = ['error', 'fact', 'decision', 'convention', 'success', 'procedure'];

function save(draft, onDone) {
  let saved = null;
  return doAction(
    'Saved. The next search finds it.',
    () => post('memories', draft).then((answer) => { saved = answer.id; onDone?.(); }),
    () => post(`memories/${encodeURIComponent(saved)}/forget`, { reason: 'taken back' }).then(onDone),
  );
}

function LessonForm({ query, repo: first, onClose, onDone }) {
  const repos = useRepos();
  const [draft, setDraft] = useState({ event_type: 'error', context: query, lesson: '', repo: first ?? '' });
  const set = (name) => ({ target }) => setDraft({ ...draft, [name]: target.value });
  const submit = async (event) => {
    event.preventDefault();
    if (await save({ ...draft, repo: draft.repo || repos[0]?.[0] || 'global' }, onDone)) onClose();
  };
  return html`<form class="stack" onSubmit=${submit}>
    <h2 id="lesson-title">Save the answer</h2>
    <label class="field"><span>Kind</span><select value=${draft.event_type} onChange=${set('event_type')}>
      ${SAVED_KINDS.map((kind) => html`<option value=${kind} selected=${kind === draft.event_type}>${kind}</option>`)}
      </select></label>
    <${RepoField} value=${draft.repo || repos[0]?.[0]} all="" onChange=${(repo) => setDraft({ ...draft, repo })} />
    <label class="field"><span>Context: what was looked for</span><input value=${draft.context} onInput=${set('context')}
      dir="auto" /></label>
    <label class="field"><span>Lesson: what to do next time, in one or two sentences</span>
      <textarea required rows="4" value=${draft.lesson} onInput=${set('lesson')} dir="auto"></textarea></label>
    <div class="button-row"><button class="primary">Save</button><button type="button" onClick=${onClose}>Cancel</button></div>
  </form>`;
}

function SaveButton({ query, repo, onDone }) {
  const box = useRef(null);
  const [isOpen, setOpen] = useState(false);
  const open = () => { setOpen(true); requestAnimationFrame(() => box.current.showModal()); };
  const close = () => { box.current.close(); setOpen(false); };
  return html`<button onClick=${open}>Save the answer…</button>
    ${isOpen && html`<dialog ref=${box} aria-labelledby="lesson-title" onClose=${() => setOpen(false)}>
      <${LessonForm} query=${query} repo=${repo} onClose=${close} onDone=${onDone} /></dialog>`}`;
}

function Searches({ repo }) {
  const state = useData((signal) => get('analyze/searches', { repo, limit: LIMIT, max_tokens: 8_000 }, { signal }), [repo]);
  const row = ({ query, count, last, repos }) => html`<li class="gap-row" data-item>
    <div class="grow"><a data-open href=${hrefOf('search', '', { query })}><bdi>${query}</bdi></a>
      <p class="found-foot"><span>${counted(count, 'time')}</span><span>last <${When} at=${last} /></span>
        ${repos.map((key) => html`<${Repo} repo=${key} />`)}</p></div>
    <${SaveButton} query=${query} repo=${repos[0]} onDone=${state.reload} /></li>`;
  return html`<${Panel} title="Searches without a result" note="Agents asked this and got nothing likely. Whoever knows the answer can save it now.">
    <${Answer} state=${state}>${({ found, notice }) => html`${notice && html`<p class="notice-line" dir="auto">${notice}</p>`}
      ${found.length === 0 ? html`<${Empty} text="Every search found something likely." />` : html`<ul>${found.map(row)}
        </ul>`}`}<//><//>`;
}

function BarelyLinked({ repo }) {
  const state = useData((signal) => get('analyze/gaps', { repo, limit: LIMIT, max_tokens: 8_000 }, { signal }), [repo]);
  const row = ({ memory, ties, maturity }) => html`<li key=${memory.id} class="gap-row" data-item>
    <div class="grow"><${MemoryLink} memory=${memory} />
      <p class="found-foot"><${Kind} kind=${memory.event_type} /><${Repo} repo=${memory.repo} /><${Agent}
        agent=${memory.agent_id} /><span>${maturity}, ${counted(ties, 'link')}</span></p></div>
    <a class="button" href=${hrefOf('memory', memory.id)}>Judge it</a></li>`;
  return html`<${Panel} title="Barely linked" note="Few or no links lead to them, and no verdict says whether they help. Judge them, or let them fade.">
    <${Answer} state=${state}>${({ found }) => (found.length === 0
      ? html`<${Empty} text="Every memory is linked to another one or to a file." />` : html`<ul>${found.map(row)}</ul>`)}<//><//>`;
}

/** The screen. */
export function Screen({ params, go }) {
  return html`
    <${Top} title=${title} note="What is missing, and what to do about it." />
    <form class="filters" onSubmit=${(event) => event.preventDefault()}><${RepoField} value=${params.repo}
      onChange=${(repo) => go({ repo })} /></form>
    <${Searches} repo=${params.repo} />
    <${BarelyLinked} repo=${params.repo} />
    <${Panel} title="Contradicted by the code" note="Only your work tree tells which files of a memory changed or vanished. Run this in the repository:">
      <${Command} text="agent-knowledge stale" /><//>`;
}
