// Memories that the files or git of a work tree contradict, live. Not here: pairs that contradict each other (`review.js`).

import { get } from '../api.js';
import { report, forget } from '../shared/actions.js';
import {
  Answer, counted, Empty, html, hrefOf, percent, RepoField, titleOf, useData, useEvents, useRepos, When,
} from '../widgets.js';

/** What speaks against a memory, in words. */
function reasonsOf({ gone, changed, symbols, commit_gone: isCommitGone }) {
  const files = (name, list) => list.length > 0 && html`<span>${name}: <bdi>${list.join(', ')}</bdi></span>`;
  return [
    files('gone', gone), files('changed', changed), files('no longer there', symbols.missing),
    isCommitGone && html`<span>its commit is in no branch</span>`,
  ].filter(Boolean);
}

function Card({ stale, onDone }) {
  const { memory } = stale;
  return html`<article class="candidate" data-item>
    <div class="grow">
      <h3><a data-open href=${hrefOf('memory', memory.id)}><bdi>${titleOf(memory)}</bdi></a></h3>
      <p class="found-foot"><span class="mark" data-tone="warn">${percent(stale.confidence)} sure</span>${reasonsOf(stale)}
        <${When} at=${memory.timestamp} /></p>
    </div>
    <div class="button-row column">
      <button onClick=${() => report(memory, 'confirmed', undefined, onDone)}>Still true</button>
      <button class="danger" onClick=${() => forget(memory, undefined, onDone)}>Forget</button>
    </div>
  </article>`;
}

function Tree({ tree, onDone }) {
  return html`<section class="panel">
    <header class="panel-head"><h2>Work tree <bdi>${tree.work_tree}</bdi></h2></header>
    <p class="note">${counted(tree.found, 'memory', 'memories')} of ${tree.checked} checked, <${When} at=${tree.looked_at} /></p>
    ${tree.notices.map((notice) => html`<p class="notice-line" dir="auto">${notice}</p>`)}
    ${tree.stale.length === 0 && html`<p class="note">Nothing seems stale here.</p>`}
    ${tree.stale.map((stale) => html`<${Card} key=${stale.memory.id} stale=${stale} onDone=${onDone} />`)}</section>`;
}

/** The list for one repository. */
export function Outdated({ params, go }) {
  const repos = useRepos();
  const repo = params.repo || repos[0]?.[0] || '';
  const state = useData((signal) => (repo ? get('stale', { repo }, { signal }) : { work_trees: [] }), [repo]);
  useEvents(['stale', 'fresh', 'lost'], (event) => (event.kind === 'lost' || event.repo === repo) && state.reload());
  return html`
    <form class="filters" onSubmit=${(event) => event.preventDefault()}><${RepoField} value=${repo} all=""
      onChange=${(chosen) => go({ repo: chosen })} /></form>
    <${Answer} state=${state}>${({ work_trees: trees }) => (trees.length === 0
      ? html`<${Empty} text="No work tree of this repository is known yet. It is as soon as an agent works in one, or you ask there:"
        command="agent-knowledge stale" />`
      : trees.map((tree) => html`<${Tree} key=${tree.work_tree} tree=${tree} onDone=${state.reload} />`))}<//>`;
}
