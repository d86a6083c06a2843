import type { SessionLog, SessionStore } from "@loopwright/core/ports";

/** A store whose log answers, fails or falls silent, as its test states. */
export interface FailingStore extends SessionStore {
  state: "well" | "failing" | "silent";
}

const never = new Promise<never>(() => {});

export function failingStore(store: SessionStore): FailingStore {
  const { log } = store;
  const moody =
    <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> => {
      if (failing.state === "well") return act(...args);
      return failing.state === "silent" ? never : Promise.reject(new Error("The disk is gone."));
    };
  const moodyLog: SessionLog = {
    ...log,
    read: moody((ref, options) => log.read(ref, options)),
    head: moody((ref) => log.head(ref)),
    append: moody((ref, request) => log.append(ref, request)),
    claim: moody((ref, claim) => log.claim(ref, claim)),
    renew: moody((ref, lease) => log.renew(ref, lease)),
    release: moody((ref, epoch) => log.release(ref, epoch)),
    remove: moody((ref) => log.remove(ref)),
    due: moody((options) => log.due(options)),
    setDue: moody((ref, options) => log.setDue(ref, options)),
  };
  const failing: FailingStore = { ...store, log: moodyLog, state: "well" };
  return failing;
}
