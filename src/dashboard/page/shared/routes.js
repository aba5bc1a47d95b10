// The address of each screen: `#/screen/ID?name=value`. Not here: drawing screens (`app.js`).

const isEmpty = (value) => value === undefined || value === null || value === '' || value === false;

/** The address of a screen; empty parameters are left out, lists repeated. */
export function hrefOf(screen, id = '', params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value].flat()) if (!isEmpty(one)) query.append(name, one);
  }
  const tail = query.size ? `?${query}` : '';
  return `#/${screen}${id ? `/${encodeURIComponent(id)}` : ''}${tail}`;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What an address says: `{screen, id, params}`. A name that stands twice becomes a list. */
export function parseRoute(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [screen, ...rest] = path.split('/');
  const params = {};
  for (const [name, value] of new URLSearchParams(query)) {
    params[name] = name in params ? [params[name], value].flat() : value;
  }
  return { screen: screen || 'timeline', id: decoded(rest.join('/')), params };
}

/** Goes to an address. `replace` adds nothing to the history, as while somebody types. */
export function navigate(href, { replace = false } = {}) {
  if (href === location.hash) return;
  if (!replace) {
    location.hash = href;
    return;
  }
  history.replaceState(history.state, '', href);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}
