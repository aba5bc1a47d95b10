// Starts the page: signs in, follows the address, draws the screen it names. Not here: the screens (`screens/`).

import { hasCode, signIn } from './api.js';
import { goLive } from './live.js';
import { html, render, useEffect, useErrorBoundary, useRef, useState } from './parts/preact.js';
import { listenForKeys } from './shared/keys.js';
import { Notices } from './shared/notices.js';
import { hrefOf, navigate, parseRoute } from './shared/routes.js';
import { isScreen } from './shared/screens.js';
import { applyTheme, Head, KeysDialog, Navigation } from './shared/shell.js';
import { Command, Empty, Failure, Loading, Top } from './shared/states.js';

const modules = new Map();

/** Loads the module of a screen once. */
async function loadScreen(name) {
  if (!modules.has(name)) modules.set(name, await import(`./screens/${name}.js`));
  return modules.get(name);
}

function useRoute() {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    // A code is for `useSignIn`, which puts an address of a screen in its place.
    const follow = () => hasCode() || setRoute(parseRoute(location.hash));
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return route;
}

/** Whether one may read. A link from the terminal signs in, also where the page is open already. */
function useSignIn(maySee) {
  const [isSignedIn, setSignedIn] = useState(maySee);
  const enter = (mayEnter) => {
    setSignedIn(mayEnter);
    if (mayEnter) goLive();
  };
  useEffect(() => {
    const out = () => setSignedIn(false);
    const follow = async () => {
      if (!hasCode()) return;
      const mayEnter = await signIn();
      enter(mayEnter);
      window.dispatchEvent(new HashChangeEvent('hashchange'));
    };
    window.addEventListener('signedOut', out);
    window.addEventListener('hashchange', follow);
    return () => {
      window.removeEventListener('signedOut', out);
      window.removeEventListener('hashchange', follow);
    };
  }, []);
  return [isSignedIn, () => enter(true)];
}

/** The module of a screen, once it is there; the one before it stays until then. */
function useModule(name) {
  const [loaded, setLoaded] = useState(() => ({ name, module: modules.get(name) }));
  useEffect(() => {
    let isWanted = true;
    const show = (module, error) => isWanted && setLoaded({ name, module, error });
    if (modules.has(name)) show(modules.get(name));
    else loadScreen(name).then(show, (error) => show(null, error));
    return () => { isWanted = false; };
  }, [name]);
  return loaded;
}

/** A screen that fails must not take the navigation with it. */
function Guarded({ Screen, params, go }) {
  const [error, reset] = useErrorBoundary((problem) => console.error(problem));
  if (error) return html`<${Failure} problem=${error} onRetry=${reset} />`;
  return html`<${Screen} params=${params} go=${go} />`;
}

/** Moves the focus to the heading of a new screen, but never out of a field. */
function useFocusOnHeading(place) {
  const before = useRef(null);
  useEffect(() => {
    const isFirst = before.current === null;
    before.current = place;
    if (isFirst || document.activeElement?.closest('input, select, textarea')) return;
    document.querySelector('main h1')?.focus({ preventScroll: true });
  }, [place]);
}

function Unknown({ screen }) {
  return html`<${Top} title="No such screen" /><${Empty} text=${`There is no screen called "${screen}".`}>
    <a href="#/timeline">Timeline</a><//>`;
}

function Current({ route }) {
  const isKnown = isScreen(route.screen);
  const { name, module, error } = useModule(isKnown ? route.screen : 'timeline');
  const { screen, id } = route;
  useFocusOnHeading(module && name === screen ? `${screen}/${id}` : 'loading');
  if (!isKnown) return html`<${Unknown} screen=${screen} />`;
  if (error) return html`<${Failure} problem=${error} />`;
  if (!module || name !== screen) return html`<${Loading} />`;
  const go = (changes, options) => navigate(hrefOf(screen, id, { ...route.params, ...changes }), options);
  return html`<${Guarded} key=${`${screen}/${id}`} Screen=${module.Screen} params=${{ ...route.params, id }} go=${go} />`;
}

function SignedOut({ onRetry }) {
  return html`<div class="signed-out"><h1 tabindex="-1">Signed out</h1>
    <p>Run this in a terminal. It opens the page again.</p><${Command} text="agent-knowledge ui" />
    <button onClick=${onRetry}>Try again</button></div>`;
}

function App({ maySee }) {
  const route = useRoute();
  const [isSignedIn, retry] = useSignIn(maySee);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useEffect(() => listenForKeys({ onHelp: () => setHelpOpen(true), onEscape: () => setMenuOpen(false) }), []);
  const skip = (event) => { event.preventDefault(); document.querySelector('main h1')?.focus(); };
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <${Head} route=${route} isMenuOpen=${isMenuOpen} onMenu=${() => setMenuOpen(!isMenuOpen)} onKeys=${() => setHelpOpen(true)} />
    <div class="body">
      <${Navigation} route=${route} isOpen=${isMenuOpen} onPick=${() => setMenuOpen(false)} />
      <main id="main" data-screen=${route.screen}>${isSignedIn ? html`<${Current} route=${route} />` : html`<${SignedOut}
        onRetry=${retry} />`}</main>
    </div>
    <${Notices} />
    <${KeysDialog} isOpen=${isHelpOpen} onClose=${() => setHelpOpen(false)} />`;
}

async function start() {
  applyTheme();
  // Asked for beside the sign-in, so that the first view need not wait for it afterwards.
  const { screen } = parseRoute(location.hash);
  const early = isScreen(screen) && loadScreen(screen).catch(() => null);
  const [maySee] = await Promise.all([signIn(), early]);
  const page = document.querySelector('#page');
  page.replaceChildren();
  render(html`<${App} maySee=${maySee} />`, page);
  if (maySee) goLive();
}

start();
