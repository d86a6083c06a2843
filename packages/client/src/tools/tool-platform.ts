/** Runs `act` while no other holder of the name runs: in this browser, or in this process where the platform has no locks. */
export type ToolLocks = (name: string, act: () => Promise<void>, signal: AbortSignal) => Promise<void>;

/** Where a client notes which calls it has begun: text by name, shared by all tabs, kept over a reload. */
export interface ToolNotes {
  get(name: string): string | undefined;
  set(name: string, text: string): void;
  remove(name: string): void;
}

interface Platform {
  readonly navigator?: {
    readonly locks?: { request(name: string, options: { signal: AbortSignal }, act: () => Promise<void>): Promise<void> };
  };
  readonly localStorage?: {
    getItem(name: string): string | null;
    setItem(name: string, text: string): void;
    removeItem(name: string): void;
  };
}

const held = new Map<string, Promise<void>>();

/** Web Locks, which all tabs of an origin share. Pages without TLS have none: there only this page is kept from running a call twice. */
export const platformLocks: ToolLocks = async (name, act, signal) => {
  const { locks } = (globalThis as Platform).navigator ?? {};
  if (locks) {
    await locks.request(name, { signal }, act);
    return;
  }
  const before = held.get(name) ?? Promise.resolve();
  const mine = before.then(() => (signal.aborted ? undefined : act()));
  const settled = mine.catch(() => {});
  held.set(name, settled);
  await mine.finally(() => held.get(name) === settled && held.delete(name));
};

/** `localStorage`, or memory of this page where there is none, or none may be written. */
export function platformNotes(): ToolNotes {
  const own = new Map<string, string>();
  const place = storage();
  return {
    get: (name) => own.get(name) ?? place?.getItem(name) ?? undefined,
    set(name, text) {
      try {
        if (place) place.setItem(name, text);
        else own.set(name, text);
      } catch {
        own.set(name, text);
      }
    },
    remove(name) {
      own.delete(name);
      place?.removeItem(name);
    },
  };
}

/** Browsers may refuse even to look at it. */
function storage(): Platform["localStorage"] {
  try {
    return (globalThis as Platform).localStorage;
  } catch {
    return undefined;
  }
}
