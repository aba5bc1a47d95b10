// Keys that work on every screen. Not here: keys of one screen (`useKeys`).

import { isTyping } from './hooks.js';
import { undoNewest } from './notices.js';
import { hrefOf, navigate } from './routes.js';
import { NAVIGATION } from './shell.js';

const GO_MS = 1_200;
const SCREEN_OF = new Map(NAVIGATION.flatMap(([, links]) => links).map(([name, , key]) => [key, name]));

/** Moves the focus to the next or the previous row that is drawn. */
function moveRow(step) {
  const rows = [...document.querySelectorAll('main [data-item]')];
  if (rows.length === 0) return;
  const now = rows.indexOf(document.activeElement?.closest('[data-item]'));
  const headHeight = document.querySelector('.head')?.offsetHeight ?? 0;
  const firstSeen = Math.max(0, rows.findIndex((row) => row.getBoundingClientRect().top >= headHeight));
  const row = rows[now === -1 ? firstSeen : Math.min(rows.length - 1, Math.max(0, now + step))];
  (row.querySelector('[data-open]') ?? row).focus({ preventScroll: true });
  row.scrollIntoView({ block: 'nearest' });
}

function focusSearch() {
  const field = document.querySelector('#search');
  field.focus();
  field.select();
}

/** Listens for keys. `onHelp` shows the list, `onEscape` closes what is open. */
export function listenForKeys({ onHelp, onEscape }) {
  let goUntil = 0;
  const actions = {
    '/': focusSearch,
    '?': onHelp,
    j: () => moveRow(1),
    k: () => moveRow(-1),
    z: undoNewest,
    g: () => { goUntil = Date.now() + GO_MS; },
  };
  const onKey = (event) => {
    if (event.key === 'Escape') {
      if (isTyping(event)) event.target.blur?.();
      onEscape();
      return;
    }
    if (isTyping(event)) return;
    const screen = Date.now() < goUntil && SCREEN_OF.get(event.key);
    goUntil = 0;
    if (!screen && !actions[event.key]) return;
    event.preventDefault();
    if (screen) navigate(hrefOf(screen));
    else actions[event.key]();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}
