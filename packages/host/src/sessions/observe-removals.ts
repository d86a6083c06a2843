/*
 * Owns: what observers are notified of when a session and those below it are removed.
 * Does not own: the removal (core/stores), the end of the session at the top, which its handle observes (core).
 * Invariants
 *  R1 observers get the last fact of each session below before its log is removed, also if another process has appended it;
 *  R2 observers are notified of each log that this process has removed, after its removal;
 *  R3 what an observer throws is logged for the operator only, and stops no removal.
 */
import { type Fact, foldSession, isAgentError, type Observer, type SessionSnapshot } from "@loopwright/core";
import type { Logger, SessionRef, SessionStore } from "@loopwright/core/ports";
import { replaceLogMethods } from "../store/replace-log-methods.ts";

interface ObservedParts {
  readonly store: SessionStore;
  readonly observers?: readonly Observer[];
  readonly logger: Logger;
}

/** Facts of one read. */
const pageSize = 500;

/** The store for the erasure of the session `top`. */
export function observedRemovals(parts: ObservedParts, top: SessionRef): SessionStore {
  const { store, observers = [] } = parts;
  if (observers.length === 0) return store;
  return replaceLogMethods(store, {
    async remove(ref) {
      if (ref.session !== top.session) await observeEnd(parts, ref);
      await store.log.remove(ref);
      callEach(parts, { ref, method: "removed", call: (one) => one.removed?.(ref) });
    },
  });
}

async function observeEnd(parts: ObservedParts, ref: SessionRef): Promise<void> {
  const { store, observers = [], logger } = parts;
  if (!observers.some((one) => one.facts)) return;
  const fold = foldSession(ref, store.blobs);
  let last: Fact | undefined;
  try {
    for (;;) {
      const facts = await store.log.read(ref, { from: fold.seq + 1, limit: pageSize });
      if (facts.length === 0) break;
      await fold.add(facts);
      last = facts.at(-1);
    }
  } catch (error) {
    // A damaged log is removed all the same.
    const code = isAgentError(error) ? error.code : "unknown";
    logger.log("error", "The end of a session could not be read again for the observers.", { ...ref, code });
    return;
  }
  if (!last) return;
  const facts = [last];
  let made: SessionSnapshot | undefined;
  const snapshot = (): SessionSnapshot => {
    made ??= fold.snapshot();
    return made;
  };
  callEach(parts, { ref, method: "facts", call: (one) => one.facts?.(ref, facts, snapshot, () => undefined) });
}

interface ObserverCall {
  readonly ref: SessionRef;
  readonly method: "facts" | "removed";
  readonly call: (observer: Observer) => unknown;
}

function callEach({ observers = [], logger }: ObservedParts, { ref, method, call }: ObserverCall): void {
  const report = (cause: unknown): void => {
    const error = cause instanceof Error ? { name: cause.name, message: cause.message, stack: cause.stack ?? "" } : String(cause);
    logger.log("error", `The method \`${method}\` of an observer threw an error.`, { ...ref, error });
  };
  for (const one of observers)
    try {
      const result = call(one);
      if (result instanceof Promise) result.catch(report);
    } catch (error) {
      report(error);
    }
}
