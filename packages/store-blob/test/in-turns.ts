import type { SessionStore } from "@loopwright/core/ports";

export interface TurningStore extends SessionStore {
  /** From now on it is always the same node. */
  stay(): void;
}

/** Several nodes on one place as if they were one store: each call goes to the next of them. */
export function inTurns(nodes: readonly [SessionStore, ...SessionStore[]]): TurningStore {
  let turn = 0;
  let step = 1;
  const next = (): SessionStore => {
    turn += step;
    return nodes[turn % nodes.length] ?? nodes[0];
  };
  return {
    stay: () => {
      step = 0;
    },
    log: {
      append: (...args) => next().log.append(...args),
      read: (...args) => next().log.read(...args),
      head: (...args) => next().log.head(...args),
      claim: (...args) => next().log.claim(...args),
      renew: (...args) => next().log.renew(...args),
      release: (...args) => next().log.release(...args),
      due: (...args) => next().log.due(...args),
      setDue: (...args) => next().log.setDue(...args),
      remove: (...args) => next().log.remove(...args),
    },
    index: {
      list: (...args) => next().index.list(...args),
      get: (...args) => next().index.get(...args),
      search: (...args) => next().index.search(...args),
      rebuild: (...args) => next().index.rebuild(...args),
    },
    blobs: {
      put: (...args) => next().blobs.put(...args),
      get: (...args) => next().blobs.get(...args),
      own: (...args) => next().blobs.own(...args),
      remove: (...args) => next().blobs.remove(...args),
      list: (...args) => next().blobs.list(...args),
    },
    snapshots: {
      put: (...args) => next().snapshots.put(...args),
      get: (...args) => next().snapshots.get(...args),
      remove: (...args) => next().snapshots.remove(...args),
    },
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}
