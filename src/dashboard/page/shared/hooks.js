// What screens do over and over: load, listen, take keys. Not here: drawing.

import { useCallback, useEffect, useRef, useState } from '../parts/preact.js';
import { onEvent } from '../live.js';

const EMPTY = { data: null, error: null, isLoading: true };

/**
 * Loads data, again when `deps` change. A late answer to an earlier question is dropped; the data shown
 * stays until the new answer is there.
 * @param {(signal: AbortSignal) => Promise<any>} load
 */
export function useData(load, deps) {
  const [state, setState] = useState(EMPTY);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const control = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    Promise.resolve(load(control.signal)).then(
      (data) => control.signal.aborted || setState({ data, error: null, isLoading: false }),
      (error) => control.signal.aborted || setState({ data: null, error, isLoading: false }),
    );
    return () => control.abort();
  }, [...deps, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, reload };
}

/** Calls the newest `callback` for each live event of these kinds. */
export function useEvents(kinds, callback) {
  const newest = useRef(callback);
  newest.current = callback;
  useEffect(() => onEvent(kinds, (event) => newest.current(event)), []);
}

/** Whether a key is meant for a field and not for the page. */
export function isTyping(event) {
  const { target } = event;
  const isField = target.closest?.('input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]');
  return Boolean(isField || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'));
}

/** Takes single keys while a screen is shown: `{'1': () => …}`. */
export function useKeys(keys) {
  const newest = useRef(keys);
  newest.current = keys;
  useEffect(() => {
    const onKey = (event) => {
      const action = newest.current[event.key];
      if (!action || isTyping(event)) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

const NARROW = matchMedia('(max-width: 700px)');

/** Whether the page is as narrow as a telephone. */
export function useNarrow() {
  const [isNarrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const follow = () => setNarrow(NARROW.matches);
    NARROW.addEventListener('change', follow);
    return () => NARROW.removeEventListener('change', follow);
  }, []);
  return isNarrow;
}

/** Names the document after what is shown. */
export function useTitle(title) {
  useEffect(() => {
    if (title) document.title = `${title} · agent-knowledge`;
  }, [title]);
}
