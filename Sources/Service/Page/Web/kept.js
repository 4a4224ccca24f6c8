// What this browser keeps for one person at one farm: a draft, and whether single letters act. It is removed when the person signs out,
// and when somebody else signs in. Each tab keeps its own, which other tabs do not replace. A new tab begins with what was kept last.

/** All keys of this farm: another one may have another path of the same host. */
const prefix = `penumbra ${location.pathname} `;
let owner = '';
// A browser without storage keeps it as long as the page is open.
const memory = new Map();

/** Calls `body` with the storage of this tab and with that of the browser, if there are any. Returns the first result. */
function withStorage(body) {
  let first = null;
  for (const name of ['sessionStorage', 'localStorage']) {
    try { first ??= body(window[name]); } catch { /* The browser has none, or it is full. */ }
  }
  return first;
}
function remove(isRemoved) {
  for (const key of [...memory.keys()]) if (isRemoved(key)) memory.delete(key);
  withStorage(storage => { for (const key of Object.keys(storage)) if (key.startsWith(prefix) && isRemoved(key)) storage.removeItem(key); return null; });
}

/**
 * Says who has signed in. What is kept of others is removed.
 *
 * @returns whether somebody else was signed in on this page before: then what the page has in memory is his.
 */
export function belongTo(next) {
  const isOther = owner !== '' && owner !== next;
  owner = next;
  remove(key => !key.startsWith(`${prefix}${owner} `));
  return isOther;
}
export function forget() { remove(() => true); }

const whole = key => `${prefix}${owner} ${key}`;
export const kept = {
  get: key => withStorage(storage => storage.getItem(whole(key))) ?? memory.get(whole(key)) ?? '',
  set: (key, value) => {
    memory.set(whole(key), value);
    withStorage(storage => { storage.setItem(whole(key), value); return null; });
  },
};
