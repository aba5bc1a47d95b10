// One connection that tells what changes. Not here: what a screen does about it.

import { addressOf, headers, signOut } from './api.js';

const KINDS = ['added', 'changed', 'feedback', 'injected', 'indexed', 'synced', 'stale', 'fresh', 'lost'];
const WAIT_FIRST_MS = 1_000;
const WAIT_MOST_MS = 10_000;
/** A hidden tab lets go of its connection: browsers allow six to one host, and the server sixteen. */
const HIDDEN_MS = 60_000;

const listeners = new Set();
const watchers = new Set();
let lastEventId = null;
let wasLive = false;
let connection = null;
let state = 'off';

function enter(next) {
  state = next;
  for (const watcher of watchers) watcher(next);
}

/** Calls back with `{kind, id, ...data}` for each event of these kinds. Returns how to stop. */
export function onEvent(kinds, callback) {
  const listener = { kinds: new Set([kinds].flat()), callback };
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls back with `off`, `waiting` or `live`, now and at each change. Returns how to stop. */
export function onConnection(callback) {
  watchers.add(callback);
  callback(state);
  return () => watchers.delete(callback);
}

function tell(event) {
  if (event.id) lastEventId = event.id;
  if (!KINDS.includes(event.kind)) return;
  let data;
  try {
    data = JSON.parse(event.data || '{}');
  } catch {
    return;
  }
  for (const { kinds, callback } of [...listeners]) {
    if (kinds.has(event.kind)) callback({ ...data, kind: event.kind, sequence: event.id });
  }
}

function parse(block) {
  const event = { kind: 'message', id: null, data: '' };
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === 'event') event.kind = value;
    if (name === 'id') event.id = value;
    if (name === 'data') event.data += (event.data ? '\n' : '') + value;
  }
  return event;
}

async function read(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) tell(parse(block));
  }
}

/** Connects once. Returns whether it is worth trying again. */
async function connect(signal) {
  const resume = lastEventId ? { 'Last-Event-ID': lastEventId } : {};
  const response = await fetch(addressOf('events'), {
    headers: headers({ Accept: 'text/event-stream', ...resume }),
    cache: 'no-store',
    signal,
  });
  if (response.status === 401) signOut();
  if (response.status === 401 || response.status === 404) return false;
  if (!response.ok) throw new Error(response.statusText);
  enter('live');
  // Without a place to resume from, whatever happened in between was missed.
  if (wasLive && !lastEventId) tell({ kind: 'lost', id: null, data: '{}' });
  wasLive = true;
  await read(response);
  return true;
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function keepConnected(signal) {
  let wait = WAIT_FIRST_MS;
  while (!signal.aborted) {
    const began = performance.now();
    try {
      if (!(await connect(signal))) break;
    } catch {
      // The server is gone for now; the next attempt says where we were.
    }
    if (signal.aborted) return;
    wait = performance.now() - began > WAIT_MOST_MS ? WAIT_FIRST_MS : Math.min(wait * 2, WAIT_MOST_MS);
    enter('waiting');
    await pause(wait);
  }
  if (!signal.aborted) stop();
}

function stop() {
  connection?.abort();
  connection = null;
  enter('off');
}

function start() {
  if (connection) return;
  connection = new AbortController();
  keepConnected(connection.signal);
}

let isWatched = false;

/** Connects, and lets go while nobody looks. */
export function goLive() {
  start();
  if (isWatched) return;
  isWatched = true;
  let timer = null;
  window.addEventListener('signedOut', stop);
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(stop, HIDDEN_MS);
    else start();
  });
}
