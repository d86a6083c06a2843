import { AgentError, type Fact } from "@loopwright/core";
import type { AppendRequest, SessionLog, SessionRef, SessionStore } from "@loopwright/core/ports";
import { isSealed, openFacts, sealFacts } from "./seal-facts.ts";
import type { SessionKeys } from "./session-keys.ts";

/** The log of a store whose facts are encrypted. Leases, due times and notifications are those of the store. */
export function sealedLog({ log, blobs }: Pick<SessionStore, "log" | "blobs">, keys: SessionKeys): SessionLog {
  const { renewAll, subscribe } = log;
  return {
    async append(ref, request) {
      const key = request.expectedSeq === 0 ? await keys.createSession(ref) : await keys.session(ref);
      if (!key) return appendClear(log, ref, request);
      const facts = await sealFacts(request, { ref, key, wordKey: await keys.scope(ref.scope), blobs });
      return log.append(ref, { ...request, facts });
    },
    async read(ref, options) {
      const facts = await log.read(ref, options);
      if (facts.length === 0) return facts;
      const key = await keys.session(ref);
      if (key) return openFacts(facts, { ref, key, blobs });
      if (facts.some(isSealed)) throw erased(ref);
      return facts;
    },
    head: (ref) => log.head(ref),
    claim: (ref, claim) => log.claim(ref, claim),
    renew: (ref, lease) => log.renew(ref, lease),
    ...(renewAll ? { renewAll: (renewals) => renewAll.call(log, renewals) } : {}),
    release: (ref, epoch) => log.release(ref, epoch),
    due: (options) => log.due(options),
    setDue: (ref, options) => log.setDue(ref, options),
    async remove(ref) {
      // The key goes last: a removal that was cut off can be completed by one that still reads the session.
      await log.remove(ref);
      await keys.eraseSession(ref);
    },
    ...(subscribe ? { subscribe: (ref, listener) => subscribe.call(log, ref, listener) } : {}),
  };
}

/** A session from before the store was encrypted stays as it is; one whose key was erased takes nothing more. */
async function appendClear(log: SessionLog, ref: SessionRef, request: AppendRequest): ReturnType<SessionLog["append"]> {
  const [first] = await log.read(ref, { limit: 1 });
  if (first && isSealed(first as Fact)) throw erased(ref);
  return log.append(ref, request);
}

const erased = ({ session }: SessionRef): AgentError =>
  new AgentError("SESSION_CORRUPT", {
    message: `The key of the session \`${session}\` was erased, so its content is lost.`,
    fix: "Delete the session.",
  });
