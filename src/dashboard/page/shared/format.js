// Words and numbers as people read them. Not here: nodes of the page.

const number = new Intl.NumberFormat('en-GB');
const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' });

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What stands in place of a number or a time that is none. */
const NONE = '–';

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const isMoment = (at) => (typeof at === 'string' || typeof at === 'number') && !Number.isNaN(new Date(at).getTime());

/** A number with separators. */
export const amount = (value) => (isNumber(value) ? number.format(value) : NONE);

/** A number with separators; what is not counted is none. */
export const count = (value) => amount(value ?? 0);

/** `1 memory`, `2 memories`. */
export const counted = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** A share as whole percent. */
export const percent = (share) => (isNumber(share) ? `${Math.round(share * 100)} %` : NONE);

/** A number with a fixed number of digits behind the point. */
export const fixed = (value, digits) => (isNumber(value) ? value.toFixed(digits) : NONE);

/** A size in bytes as people say it. */
export function bytes(value) {
  if (!isNumber(value)) return NONE;
  if (value < 1_000) return `${value} B`;
  const units = ['kB', 'MB', 'GB'];
  let unit = -1;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** `Wed, 25 Nov 2026`, or `Today`. */
export function dayOf(at) {
  if (!isMoment(at)) return 'No date';
  const then = new Date(at);
  const today = new Date();
  if (then.toDateString() === today.toDateString()) return 'Today';
  if (then.toDateString() === new Date(today - DAY_MS).toDateString()) return 'Yesterday';
  return day.format(then);
}

/**
 * Puts a heading before the first item of each day, for lists of rows. `atOf` tells the time of an item; the items are
 * in order. Items of one hour are of one day, so that a long list asks the calendar seldom.
 */
export function withDays(items, atOf) {
  const rows = [];
  let hour = null;
  let current = null;
  for (const item of items) {
    const next = asText(atOf(item)).slice(0, 13);
    if (next !== hour) {
      const day = dayOf(atOf(item));
      if (day !== current) rows.push({ key: `day-${rows.length}`, day });
      current = day;
      hour = next;
    }
    rows.push(item);
  }
  return rows;
}

/** `14:03` */
export const clockOf = (at) => (isMoment(at) ? clock.format(new Date(at)) : NONE);

/** The whole time, for a tooltip. */
export const fullTime = (at) => (isMoment(at) ? full.format(new Date(at)) : 'no date');

/** Whether a text is a time as programs write it. */
export const isTime = (text) => typeof text === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && isMoment(text);

/** `5 min ago`, `3 h ago`, `2 d ago`, then the date. */
export function ago(at) {
  if (!isMoment(at)) return 'no date';
  const then = new Date(at).getTime();
  const passed = Date.now() - then;
  if (passed < -MINUTE_MS) return date.format(then);
  if (passed < MINUTE_MS) return 'just now';
  if (passed < HOUR_MS) return `${Math.round(passed / MINUTE_MS)} min ago`;
  if (passed < DAY_MS) return `${Math.round(passed / HOUR_MS)} h ago`;
  if (passed < 7 * DAY_MS) return `${Math.round(passed / DAY_MS)} d ago`;
  return date.format(then);
}

/** How long something took. */
export function lasted(ms) {
  if (!isNumber(ms)) return NONE;
  if (ms < MINUTE_MS) return `${Math.round(ms / 1_000)} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return `${(ms / HOUR_MS).toFixed(1)} h`;
}

/** A text, a number or a truth as a text; what has parts is shown by `Value`, and is none here. */
export const asText = (value) => (isNumber(value) || ['string', 'boolean'].includes(typeof value) ? String(value) : '');

/** The first line of a text, without marks of Markdown, at most `most` characters. */
export function firstLine(text, most = 160) {
  const line = asText(text).split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  const plain = line.replace(/^[\s#>*-]+/, '').trim();
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
}

/** The beginning of a text in one line: without headings, fences and marks of lists. */
export function excerptOf(text, most = 240) {
  const lines = asText(text).slice(0, 4 * most).split('\n').filter((line) => !/^\s*(#{1,6}\s|```|~~~)/.test(line));
  const plain = lines.map((line) => line.replace(/^\s*([-*>]|\d+\.)\s+/, '').trim()).filter(Boolean).join(' ').replaceAll('**', '');
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain || firstLine(text, most);
}

/** What a memory is called: its context, else the first line of its lesson. */
export const titleOf = (memory) =>
  firstLine(memory.context) || firstLine(memory.title) || firstLine(memory.lesson) || firstLine(memory.excerpt)
  || `${words(memory.event_type) || 'memory'} without a text`;

/** `github.com/acme/shop` as `acme/shop`. */
export const shortRepo = (key) => asText(key).replace(/^[^/]+\.[a-z]+\//, '').replace(/~[0-9a-f]{8}$/, '');

/** The end of an id, as answers to agents name it. */
export const shortId = (id) => asText(id).slice(-8);

/** `memory_search` as `memory search`. */
export const words = (name) => asText(name).replaceAll('_', ' ');

/** With a capital letter at its beginning. */
export const sentenceCase = (text) => text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
