// The frame around every screen: head, navigation, keys. Not here: which screen is shown (`app.js`).

import { html, useEffect, useRef, useState } from '../parts/preact.js';
import { onConnection } from '../live.js';
import { Icon } from './icons.js';
import { hrefOf, navigate } from './routes.js';

const TYPING_MS = 140;
const THEME_NAME = 'agent-knowledge-theme';

/** The screens of the navigation: `[name, label, key after g]`. */
export const NAVIGATION = [
  ['What is known', [['timeline', 'Timeline', 't'], ['search', 'Search', 's'], ['graph', 'Graph', 'g'], ['sessions', 'Sessions', 'e']]],
  ['What agents get', [['injected', 'Injected', 'i'], ['context', 'Context preview', 'c'], ['savings', 'Savings', 'v']]],
  ['What needs you', [['review', 'Review', 'r'], ['gaps', 'Gaps', 'a'], ['patterns', 'Patterns', 'p'], ['health', 'Health', 'h']]],
];

/** Applies the theme that was chosen before. */
export function applyTheme() {
  document.documentElement.dataset.theme = localStorage.getItem(THEME_NAME) ?? '';
}

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function ThemeSwitch() {
  const [, setRound] = useState(0);
  const next = isDark() ? 'light' : 'dark';
  const change = () => {
    localStorage.setItem(THEME_NAME, next);
    applyTheme();
    setRound((round) => round + 1);
  };
  return html`<button class="plain square" onClick=${change} aria-label=${`Use the ${next} theme`}
    title=${`Use the ${next} theme`}>
    <${Icon} name=${isDark() ? 'sun' : 'moon'} /></button>`;
}

const LIVE_WORDS = { live: 'Live', waiting: 'Connecting…', off: 'Not live' };

function LiveMark() {
  const [state, setState] = useState('off');
  useEffect(() => onConnection(setState), []);
  return html`<span class="live" data-state=${state} title="Whether changes arrive by themselves">${LIVE_WORDS[state]}</span>`;
}

function SearchBox({ route }) {
  const isHere = route.screen === 'search';
  const asked = isHere ? route.params.query ?? '' : '';
  const [text, setText] = useState(asked);
  const timer = useRef(0);
  useEffect(() => setText(asked), [asked, isHere]);
  const ask = (query) => {
    clearTimeout(timer.current);
    navigate(hrefOf('search', '', { ...(isHere ? route.params : {}), query }), { replace: isHere });
  };
  const onInput = ({ target }) => {
    setText(target.value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => ask(target.value), TYPING_MS);
  };
  const onSubmit = (event) => {
    event.preventDefault();
    ask(text);
  };
  return html`<form class="search-box" role="search" onSubmit=${onSubmit}>
    <${Icon} name="search" />
    <input id="search" type="search" autocomplete="off" spellcheck="false" dir="auto" aria-label="Search memories"
      placeholder="Search an error, a command or a question" value=${text} onInput=${onInput} />
    <kbd aria-hidden="true">/</kbd>
  </form>`;
}

/** The bar at the top of every screen. */
export function Head({ route, isMenuOpen, onMenu, onKeys }) {
  return html`<header class="head">
    <button class="plain square menu-button" aria-expanded=${isMenuOpen} aria-controls="navigation" aria-label="Menu"
      onClick=${onMenu}>
      <${Icon} name="menu" /></button>
    <a class="brand" href="#/timeline">agent-knowledge</a>
    <${SearchBox} route=${route} />
    <${LiveMark} />
    <${ThemeSwitch} />
    <button class="plain square keys-button" onClick=${onKeys} aria-label="Keys" title="Keys (?)"><${Icon} name="keys" /></button>
  </header>`;
}

/** The list of screens. */
export function Navigation({ route, isOpen, onPick }) {
  const link = ([name, label]) => html`<li><a href=${hrefOf(name)} onClick=${onPick}
    aria-current=${route.screen === name ? 'page' : undefined}><${Icon} name=${name} />${label}</a></li>`;
  const group = ([title, links]) => html`<h2 class="nav-title">${title}</h2><ul>${links.map(link)}</ul>`;
  return html`<nav id="navigation" class=${isOpen ? 'nav open' : 'nav'} aria-label="Screens">${NAVIGATION.map(group)}</nav>`;
}

const KEYS = [
  ['/', 'search'], ['j', 'next row'], ['k', 'row before'], ['Enter', 'open'], ['z', 'take back the last action'],
  ['Escape', 'leave a field, close'], ['?', 'this list'],
];
const REVIEW_KEYS = [['1', 'keep the first'], ['2', 'keep the second'], ['b', 'keep both'], ['u', 'unclear, later'], ['a', 'accept'], ['x', 'reject']];

/** The list of keys. */
export function KeysDialog({ isOpen, onClose }) {
  const box = useRef(null);
  useEffect(() => {
    if (isOpen && !box.current.open) box.current.showModal();
    if (!isOpen && box.current.open) box.current.close();
  }, [isOpen]);
  const row = ([key, action]) => html`<div><dt>${key.split(' ').map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${action}</dd></div>`;
  const screens = NAVIGATION.flatMap(([, links]) => links).map(([, label, key]) => [`g ${key}`, label]);
  return html`<dialog ref=${box} class="keys" aria-labelledby="keys-title" onClose=${onClose}>
    <header class="panel-head"><h2 id="keys-title">Keys</h2><button class="plain"
      onClick=${onClose} autofocus>Close</button></header>
    <div class="columns">
      <dl aria-label="Everywhere">${KEYS.map(row)}</dl><dl aria-label="Screens">${screens.map(row)}</dl>
      <dl aria-label="Review">${REVIEW_KEYS.map(row)}</dl>
    </div></dialog>`;
}
