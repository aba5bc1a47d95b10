// What answers cost and spared, measured calls only. Not here: single answers (`injected.js`).

import { get } from '../api.js';
import { Answer, Bars, count, Empty, Figure, html, sentenceCase, Top, useData, useEvents, When, words } from '../widgets.js';

export const title = 'Savings';

/** The server names its fields; people read their words. */
const sentencesOf = (formula) => words(formula).split('. ').map(sentenceCase).join('. ');

const SPANS = [7, 30, 90, 365];

function Figures({ data }) {
  const less = data.tokens_of_logs - data.tokens_given;
  return html`
    <dl class="figures">
      <${Figure} name="Answers given" value=${count(data.answers)} />
      <${Figure} name="Tokens given" value=${count(data.tokens_given)} />
      <${Figure} name="Tokens of the logs" value=${count(data.tokens_of_logs)} note="had an agent read them instead" />
      <${Figure} name="Difference (estimate)" value=${count(less)} note="tokens; see the formula" />
    </dl>
    <dl class="figures">
      <${Figure} name="Memories that helped" value=${count(data.helped)} />
      <${Figure} name="Memories that failed" value=${count(data.failed)} />
      <${Figure} name="Times silent" value=${count(data.silent)} note="no likely memory, so no tokens" />
    </dl>
    <p class="formula"><strong>How this is computed.</strong> <span dir="auto">${sentencesOf(data.formula)}</span></p>`;
}

/** The screen. */
export function Screen({ params, go }) {
  const days = Number(params.days) || 30;
  const state = useData((signal) => get('savings', { days }, { signal }), [days]);
  useEvents('injected', state.reload);
  const span = (one) => html`<a href=${`#/savings?days=${one}`} aria-current=${one === days ? 'page' : undefined}>
    ${one} days</a>`;
  return html`
    <${Top} title=${title} note="Only calls that took place are counted. What is estimated says so."><nav class="tabs"
      aria-label="Span">${SPANS.map(span)}</nav><//>
    <${Answer} state=${state}>${(data) => html`
      <${Figures} data=${data} />
      ${data.answers === 0 && html`<${Empty} text="No agent asked in this time. Set up an agent, so that it asks by itself:" command="agent-knowledge setup" />`}
      <${Bars} caption="Answers a day" unit="answers"
        values=${data.days.map(({ day, answers }) => ({ label: day, value: answers }))} />
      <${Bars} caption="Tokens given a day" unit="tokens"
        values=${data.days.map(({ day, tokens_given: value }) => ({ label: day, value }))} />
      <p class="note">Counted since <${When} at=${data.since} />. Days are in UTC.</p>`}<//>`;
}
