import { isAgentError } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { withLog } from "./with-log.ts";

/** A store, and how it was when it was asked last. */
export interface WatchedStore {
  readonly store: SessionStore;
  /** The last answer of its log was none. */
  isAway(): boolean;
}

export function watchStore(store: SessionStore): WatchedStore {
  let isAway = false;
  /** What the answer is, is the asker's affair; here it matters whether there was one. */
  const heard = <T>(asking: Promise<T>, isNone: (answer: T) => boolean = () => false): Promise<T> => {
    asking.then(
      (answer) => {
        isAway = isNone(answer);
      },
      (error: unknown) => {
        isAway = !isAgentError(error) || error.code === "STORE_UNAVAILABLE";
      },
    );
    return asking;
  };
  const { log } = store;
  return {
    store: withLog(store, {
      append: (ref, request) => heard(log.append(ref, request), ({ type }) => type === "unknown"),
      read: (ref, options) => heard(log.read(ref, options)),
      head: (ref) => heard(log.head(ref)),
      claim: (ref, claim) => heard(log.claim(ref, claim)),
      renew: (ref, lease) => heard(log.renew(ref, lease)),
      ...(log.renewAll ? { renewAll: (renewals) => heard(log.renewAll?.(renewals) ?? Promise.resolve([])) } : {}),
      due: (options) => heard(log.due(options)),
    }),
    isAway: () => isAway,
  };
}
