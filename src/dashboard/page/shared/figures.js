// Figures: tables, bars, the strip of days. Each drawing has the same figures as a table. Not here: the graph.

import { html } from '../parts/preact.js';
import { count } from './format.js';

/**
 * A table that scrolls sideways on its own where it is too wide.
 * @param {{caption: string, columns: {name: string, title: string, isNumber?: boolean, render?: (row: any) => any}[],
 *   rows: any[], isCaptionShown?: boolean}} props
 */
export function Table({ caption, columns, rows, isCaptionShown = false }) {
  const cell = (row, { name, isNumber, render }) => html`<td class=${isNumber ? 'number' : ''}>
    ${render ? render(row) : isNumber ? count(row[name]) : row[name]}</td>`;
  return html`<div class="sideways" role="region" aria-label=${caption} tabindex="0"><table>
    <caption class=${isCaptionShown ? '' : 'visually-hidden'}>${caption}</caption>
    <thead><tr>${columns.map(({ title, isNumber }) => html`<th scope="col" class=${isNumber ? 'number' : ''}>${title}
      </th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${columns.map((column) => cell(row, column))}</tr>`)}</tbody>
  </table></div>`;
}

function AsTable({ caption, values, unit }) {
  const columns = [{ name: 'label', title: 'Day' }, { name: 'value', title: unit, isNumber: true }];
  return html`<details class="as-table"><summary>Show as a table</summary>
    <${Table} caption=${caption} columns=${columns} rows=${values} /></details>`;
}

/**
 * Bars, one for each value, at most 365.
 * @param {{caption: string, values: {label: string, value: number}[], unit: string}} props
 */
export function Bars({ caption, values, unit }) {
  const highest = Math.max(1, ...values.map(({ value }) => value));
  const width = 100 / Math.max(1, values.length);
  const bar = ({ label, value }, index) => {
    const height = value === 0 ? 0.6 : Math.max(2, (value / highest) * 100);
    return html`<rect key=${label} x=${index * width + width * 0.12} y=${100 - height} width=${width * 0.76}
      height=${height} class=${value === 0 ? 'bar zero' : 'bar'}><title>${label}: ${count(value)} ${unit}</title></rect>`;
  };
  const sum = values.reduce((total, { value }) => total + value, 0);
  return html`<figure class="bars">
    <figcaption><span>${caption}</span><span class="note">highest ${count(highest)} · sum ${count(sum)} ${unit}</span>
      </figcaption>
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label=${`${caption}: ${count(sum)} ${unit}`}>
      ${values.map(bar)}</svg>
    <div class="ends note"><span>${values[0]?.label}</span><span>${values.at(-1)?.label}</span></div>
    <${AsTable} caption=${caption} values=${values} unit=${unit} />
  </figure>`;
}

/** How dark a day is, from 0 to 4. */
const levelOf = (value, highest) => (value === 0 ? 0 : Math.min(4, 1 + Math.floor((value / (highest + 1)) * 4)));

/**
 * One cell a day; a day can be picked.
 * @param {{days: {day: string, added: number, changed: number, feedback: number}[], picked?: string,
 *   onPick: (day: string) => void}} props
 */
export function HeatStrip({ days, picked, onPick }) {
  const sum = (one) => one.added + one.changed + one.feedback;
  const highest = Math.max(1, ...days.map(sum));
  const label = (one) => `${one.day}: ${one.added} added, ${one.changed} changed, ${one.feedback} reports`;
  const cell = (one) => html`<button key=${one.day} class="heat" data-level=${levelOf(sum(one), highest)}
    aria-pressed=${picked === one.day} aria-label=${label(one)} title=${label(one)}
    onClick=${() => onPick(picked === one.day ? '' : one.day)}></button>`;
  const columns = [
    { name: 'day', title: 'Day (UTC)' },
    { name: 'added', title: 'Added', isNumber: true },
    { name: 'changed', title: 'Changed', isNumber: true },
    { name: 'feedback', title: 'Reports', isNumber: true },
  ];
  const caption = `Activity of the last ${days.length} days`;
  return html`<figure class="heat-strip" aria-label=${caption}>
    <div class="cells" role="group" aria-label="Pick a day">${days.map(cell)}</div>
    <details class="as-table"><summary>${caption}</summary>
      <${Table} caption=${caption} columns=${columns} rows=${[...days].reverse()} /></details>
  </figure>`;
}

/** A bar from 0 to 1. The number beside it says the same. */
export function Share({ value }) {
  return html`<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="ground" y="3" width="100" height="2" /><rect width=${Math.max(0, Math.min(1, value)) * 100} height="8" /></svg>`;
}

/** A bar from 0 in the middle to `most` at either side. */
export function Swing({ value, most }) {
  const size = Math.min(1, Math.abs(value) / most) * 50;
  return html`<svg class=${value < 0 ? 'share minus' : 'share'} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="ground" y="3" width="100" height="2" /><rect class="ground" x="49.5" width="1" height="8" />
    <rect x=${value < 0 ? 50 - size : 50} width=${size} height="8" /></svg>`;
}

/** One number with its name. */
export function Figure({ name, value, note }) {
  return html`<div class="figure"><dt>${name}</dt><dd>${value}</dd>${note && html`<dd class="note">${note}</dd>`}</div>`;
}
