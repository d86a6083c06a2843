/** Storage for text that outlives the page. Never throws, because a browser may refuse to store anything. */
export interface KeptText {
  get(key: string): string | undefined;
  set(key: string, value: string | undefined): void;
  keys(): readonly string[];
}

const prefix = "loopwright.";

/** The local storage of the browser, under a prefix of our own. */
export function browserKeptText(storage: () => Storage = () => localStorage): KeptText {
  const attempt = <Value>(act: (kept: Storage) => Value, otherwise: Value): Value => {
    try {
      return act(storage());
    } catch {
      // Storage is switched off or full: the page works without it.
      return otherwise;
    }
  };
  return {
    get: (key) => attempt((kept) => kept.getItem(prefix + key) ?? undefined, undefined),
    set: (key, value) => {
      attempt((kept) => (value === undefined ? kept.removeItem(prefix + key) : kept.setItem(prefix + key, value)), undefined);
    },
    keys: () =>
      attempt((kept) => Array.from({ length: kept.length }, (_, place) => kept.key(place) ?? ""), [])
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length)),
  };
}

/** Storage that lasts as long as the page: for tests, and for browsers without local storage. */
export function passingText(): KeptText {
  const kept = new Map<string, string>();
  return {
    get: (key) => kept.get(key),
    set: (key, value) => {
      if (value === undefined) kept.delete(key);
      else kept.set(key, value);
    },
    keys: () => [...kept.keys()],
  };
}
