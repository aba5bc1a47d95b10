// Calls of the REST interface, and the token they carry. Not here: live events (`live.js`).

const BASE = new URL('../api/v1/', import.meta.url);
const TOKEN_NAME = 'agent-knowledge-token';

/** What the server says when it refuses a request (RFC 9457). */
export class Problem extends Error {
  constructor({ status = 0, title = 'No answer', detail = '', problems = [] }) {
    super(detail || title);
    Object.assign(this, { status, title, detail, problems });
  }
}

/** The address of an endpoint, with its parameters; lists are repeated, empty values left out. */
export function addressOf(path, params = {}) {
  const address = new URL(path, BASE);
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null && one !== '') address.searchParams.append(name, one);
    }
  }
  return address;
}

/** The headers of every call. */
export function headers(more = {}) {
  const token = sessionStorage.getItem(TOKEN_NAME);
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

/** Forgets the token and tells the page. */
export function signOut() {
  sessionStorage.removeItem(TOKEN_NAME);
  window.dispatchEvent(new Event('signedOut'));
}

async function problemOf(response) {
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  const body = isJson ? JSON.parse(text) : { detail: text.trim() };
  return new Problem({ title: response.statusText, ...body, status: response.status });
}

async function call(path, params, options) {
  let response;
  try {
    response = await fetch(addressOf(path, params), { cache: 'no-store', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem({ detail: 'The server does not answer. Start it with `agent-knowledge serve --http`.' });
  }
  if (response.status === 401) signOut();
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** Reads JSON. `options.signal` stops it. */
export async function get(path, params, options = {}) {
  const accept = headers({ Accept: 'application/json' });
  return (await call(path, params, { ...options, headers: accept })).json();
}

/** Reads the text that agents get. */
export async function getText(path, params, options = {}) {
  return (await call(path, params, { ...options, headers: headers({ Accept: 'text/plain' }) })).text();
}

/** Does an action once, even if the request is sent twice. */
export async function post(path, body = {}, options = {}) {
  const sent = headers({
    'Content-Type': 'application/json',
    Accept: 'application/json',
    'X-Agent': 'dashboard',
    'Idempotency-Key': crypto.randomUUID(),
  });
  // A action that was begun is sent even if the page is closed.
  const action = { keepalive: true, ...options, method: 'POST', headers: sent, body: JSON.stringify(body) };
  return (await call(path, {}, action)).json();
}

/** Whether the address holds a one-time code. */
export const hasCode = () => location.hash.startsWith('#code=');

/** The one-time code of the address, if the terminal opened this page. */
function takeCode() {
  const code = hasCode() ? new URLSearchParams(location.hash.slice(1)).get('code') : null;
  // The code must not stay in the history of the browser, even if it is used up.
  if (code) history.replaceState(null, '', `${location.pathname}#/timeline`);
  return code;
}

/** Exchanges a one-time code for a token. Returns whether the page may read. */
export async function signIn() {
  const code = takeCode();
  try {
    if (code) {
      const answer = await fetch(addressOf('sign-in'), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ code }),
      });
      if (!answer.ok) throw await problemOf(answer);
      sessionStorage.setItem(TOKEN_NAME, (await answer.json()).token);
    }
    return true;
  } catch {
    // A link that is old or not ours must not sign out who is signed in.
    if (sessionStorage.getItem(TOKEN_NAME)) return true;
    signOut();
    return false;
  }
}
