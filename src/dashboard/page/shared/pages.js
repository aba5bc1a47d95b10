// A list that is read page by page, and remembered while one looks at a memory. Not here: drawing it (`windowed.js`).

import { useCallback, useLayoutEffect, useRef, useState } from '../parts/preact.js';

const START = { items: [], next: null, total: null, error: null, isLoading: true, isStarted: false };

/** The last list of each screen, so that "back" shows it as it was. */
const kept = new Map();

/**
 * Reads a list by cursor.
 * @param {string} name the screen, under which the list is remembered
 * @param {string} question what is asked; another one starts a new list
 * @param {(cursor: string | null, signal: AbortSignal) => Promise<{items: any[], next: string | null, total?: number}>} load
 */
export function usePages(name, question, load) {
  const before = kept.get(name);
  const [state, setState] = useState(() => (before?.question === question ? before.state : START));
  const control = useRef(null);
  const newest = useRef(state);
  newest.current = state;

  const read = useCallback(async (cursor, isFresh) => {
    control.current?.abort();
    const mine = new AbortController();
    control.current = mine;
    setState((now) => ({ ...now, isLoading: true }));
    try {
      const page = await load(cursor, mine.signal);
      if (mine.signal.aborted) return;
      setState((now) => ({
        items: isFresh ? page.items : [...now.items, ...page.items],
        next: page.next, total: page.total ?? now.total, error: null, isLoading: false, isStarted: true,
      }));
    } catch (error) {
      if (!mine.signal.aborted) setState((now) => ({ ...now, error, isLoading: false, isStarted: true }));
    }
  }, [question]);

  const asked = useRef(before?.question === question ? question : null);
  // Before the screen is painted, so that the answer is under way meanwhile.
  useLayoutEffect(() => {
    if (asked.current !== question) read(null, true);
    asked.current = question;
  }, [question]);

  useLayoutEffect(() => {
    // A list drawn anew stands where it stood.
    if (before?.question === question) window.scrollTo(0, before.scroll);
    else window.scrollTo(0, 0);
    const remember = () => kept.set(name, { question: asked.current, state: newest.current, scroll: window.scrollY });
    let frame = 0;
    const onScroll = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(remember);
    };
    window.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('scroll', onScroll);
      control.current?.abort();
    };
  }, []);

  const more = () => {
    const { next, isLoading, error } = newest.current;
    if (next && !isLoading && !error) read(next, false);
  };
  const replace = (change) => setState((now) => ({ ...now, items: now.items.map(change) }));
  return { ...state, more, replace, reload: () => read(null, true) };
}
