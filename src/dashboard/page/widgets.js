// Everything a screen builds from, in one import. Not here: the parts themselves (`shared/`).

export {
  html, h, render, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useErrorBoundary,
} from './parts/preact.js';
export { useData, useEvents, useKeys, useNarrow, useTitle } from './shared/hooks.js';
export { hrefOf, navigate, parseRoute } from './shared/routes.js';
export { Empty, Failure, Loading, Command, Copy, Status, Answer, Panel, Top } from './shared/states.js';
export { Table, Bars, HeatStrip, Share, Swing, Figure } from './shared/figures.js';
export { WindowedList } from './shared/windowed.js';
export { MemoryLink, MemoryRow, Kind, Marks, Repo, When, Agent, File } from './shared/memory.js';
export { MemoryActions, doAction, later } from './shared/actions.js';
export { Filters, RepoField, useRepos } from './shared/filters.js';
export { Folded, Prose, Marked } from './shared/prose.js';
export { Value } from './shared/values.js';
export { notify, Notices } from './shared/notices.js';
export { Icon } from './shared/icons.js';
export * from './shared/format.js';
