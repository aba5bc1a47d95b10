// Small line drawings beside words. Not here: figures that carry data (`figures.js`).

import { html } from '../parts/preact.js';

const PATHS = {
  timeline: 'M3 4h10M3 8h7M3 12h9',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3',
  injected: 'M8 2v8M5 7l3 3 3-3M3 13h10',
  review: 'M6 3H3v10h3M10 3h3v10h-3M8 2v12',
  graph: 'M8 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM3.5 14a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12.5 14a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM7 6l-3 5M9 6l3 5',
  sessions: 'M2 3h12v8H7l-3 3v-3H2z',
  health: 'M1 8h3l2-5 4 10 2-5h3',
  savings: 'M2 13h12M4 13V9M8 13V4M12 13V7',
  gaps: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6 6.5a2 2 0 1 1 2.5 2c-.5.2-.5.5-.5 1M8 11.5v.1',
  patterns: 'M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z',
  context: 'M3 2h7l3 3v9H3zM6 7h4M6 10h4',
  menu: 'M2 4h12M2 8h12M2 12h12',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  moon: 'M13 9.5A5.5 5.5 0 1 1 6.5 3 4.5 4.5 0 0 0 13 9.5z',
  keys: 'M1.5 4h13v8h-13zM4 7h.1M7 7h.1M10 7h.1M12 7h.1M5 9.5h6',
  copy: 'M5 5V2.5h8.5V11H11M2.5 5H11v8.5H2.5z',
  pin: 'M8 10v4M4.5 10h7L10 7V2.5H6V7z',
  play: 'M5 3l8 5-8 5z',
  pause: 'M5 3v10M11 3v10',
};

/** A drawing that screen readers skip: the word beside it says the same. */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    <path d=${PATHS[name]} /></svg>`;
}
