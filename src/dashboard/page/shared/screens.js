// The table of screens: each has a module of its name in `screens/`, and the views that it can be opened with. The tests
// walk this table. Not here: what a screen draws, and which screens the navigation shows (`shell.js`).

/** Each screen with its views, `[view, label]`. The empty view is what opens without one. */
export const SCREENS = {
  timeline: [['', 'Memories'], ['audit', 'Who did what']],
  search: [],
  injected: [],
  memory: [],
  review: [['', 'Contradictions'], ['candidate', 'Candidates'], ['flagged', 'Flagged'], ['stale', 'Stale']],
  graph: [],
  sessions: [],
  health: [],
  savings: [],
  gaps: [],
  patterns: [],
  context: [],
};

/** Whether there is a screen of this name; names such as `constructor` are none. */
export const isScreen = (name) => Object.hasOwn(SCREENS, name);
