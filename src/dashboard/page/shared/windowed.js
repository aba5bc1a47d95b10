// A list of any length that draws only the rows one can see. Not here: rows.

import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../parts/preact.js';

/** Rows drawn above and below the window, in pixels: enough for a quick turn of the wheel. */
const MARGIN = 800;
/** Rows before the end at which the next page is asked for. */
const NEAR_END = 30;

/** Where each row begins, and at last where the list ends. */
function startsOf(items, rowHeight) {
  const heightOf = typeof rowHeight === 'function' ? rowHeight : () => rowHeight;
  const starts = new Float64Array(items.length + 1);
  for (let index = 0; index < items.length; index += 1) starts[index + 1] = starts[index] + heightOf(items[index]);
  return starts;
}

/** The last row that begins at or before `offset`. */
function rowAt(starts, offset) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function useSpan(box, starts) {
  const [span, setSpan] = useState({ first: 0, last: 20 });
  const measure = useCallback(() => {
    if (!box.current) return;
    const above = -box.current.getBoundingClientRect().top;
    const first = rowAt(starts, above - MARGIN);
    const last = rowAt(starts, above + window.innerHeight + MARGIN) + 1;
    setSpan((before) => (before.first === first && before.last === last ? before : { first, last }));
  }, [starts]);
  useLayoutEffect(measure, [measure]);
  useEffect(() => {
    let frame = 0;
    const later = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(measure);
    };
    window.addEventListener('scroll', later, { passive: true });
    window.addEventListener('resize', later);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('scroll', later);
      window.removeEventListener('resize', later);
    };
  }, [measure]);
  return span;
}

/**
 * Draws a long list in the page's own scrolling.
 * @param {{items: any[], rowHeight: number | ((item: any) => number), renderRow: (item: any, index: number) => any,
 *   keyOf?: (item: any) => string, onEnd?: () => void, label: string}} props
 */
export function WindowedList({ items, rowHeight, renderRow, keyOf = (item) => item.id, onEnd, label }) {
  const box = useRef(null);
  const [held, setHeld] = useState(-1);
  const starts = useMemo(() => startsOf(items, rowHeight), [items, rowHeight]);
  const span = useSpan(box, starts);
  const last = Math.min(span.last, items.length);
  useEffect(() => {
    if (span.last >= items.length - NEAR_END) onEnd?.();
  }, [span.last, items.length]);

  const indexes = [];
  for (let index = span.first; index < last; index += 1) indexes.push(index);
  // The row with the focus stays, or the next key would start at the top of the page.
  if (held >= 0 && held < span.first) indexes.unshift(held);
  if (held >= last && held < items.length) indexes.push(held);

  const onFocus = (event) => setHeld(Number(event.target.closest('[data-index]')?.dataset.index ?? -1));
  const row = (index) => html`<li key=${keyOf(items[index])} data-index=${index}
    style=${{ top: `${starts[index]}px`, height: `${starts[index + 1] - starts[index]}px` }}>
    ${renderRow(items[index], index)}</li>`;
  return html`<ul class="windowed" ref=${box} aria-label=${label} onFocusIn=${onFocus} onFocusOut=${() => setHeld(-1)}
    style=${{ height: `${starts[items.length]}px` }}>${indexes.map(row)}</ul>`;
}
