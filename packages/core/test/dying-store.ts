import type { AppendRequest, SessionLog, SessionStore } from "../src/ports/index.ts";

/** Where a process dies: at its n-th append (from 1), before the log has it, after, or with the answer lost. */
export interface Death {
  readonly at: number;
  readonly when: "before" | "after";
}

export interface DyingStore extends SessionStore {
  /** Appends begun. */
  readonly appends: number;
  readonly isDead: boolean;
  /** The process dies now, between two appends. */
  kill(): void;
  /** What each append held. */
  readonly batches: readonly AppendRequest[];
}

const never = new Promise<never>(() => {});

/** The store as one process sees it until it dies: from then on nothing it asks is answered or done. */
export function dyingStore(store: SessionStore, death?: Death): DyingStore {
  const batches: AppendRequest[] = [];
  let isDead = false;
  const alive =
    <Args extends readonly unknown[], T>(act: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      isDead ? never : act(...args).then((value) => (isDead ? never : value));
  const { log } = store;
  const dying: SessionLog = {
    read: alive((ref, options) => log.read(ref, options)),
    head: alive((ref) => log.head(ref)),
    claim: alive((ref, claim) => log.claim(ref, claim)),
    renew: alive((ref, lease) => log.renew(ref, lease)),
    release: alive((ref, epoch) => log.release(ref, epoch)),
    remove: alive((ref) => log.remove(ref)),
    due: alive((options) => log.due(options)),
    setDue: alive((ref, options) => log.setDue(ref, options)),
    async append(ref, request) {
      if (isDead) return never;
      batches.push(request);
      const dies = death?.at === batches.length;
      if (dies && death?.when === "before") {
        isDead = true;
        return never;
      }
      const outcome = await log.append(ref, request);
      if (!dies) return outcome;
      isDead = true;
      return never;
    },
  };
  return {
    ...store,
    log: dying,
    batches,
    get appends() {
      return batches.length;
    },
    get isDead() {
      return isDead;
    },
    kill() {
      isDead = true;
    },
  };
}
