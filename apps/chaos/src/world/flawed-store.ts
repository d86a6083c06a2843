import { AgentError, type FactDraft } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import type { NodeFlaw } from "./node-settings.ts";

/** The store with the flaw, if it is one that is planted at the port; other flaws are planted elsewhere, and the store is returned unchanged. */
export function flawedStore(store: SessionStore, flaw: NodeFlaw | undefined): SessionStore {
  const { log } = store;
  if (flaw === "one damaged session fails every sweep") return { ...store, log: { ...log, due: () => Promise.reject(damaged()) } };
  if (flaw === "reports more usage")
    return { ...store, log: { ...log, append: (ref, request) => log.append(ref, { ...request, facts: request.facts.map(spentMore) }) } };
  if (flaw === "fires twice")
    return {
      ...store,
      log: { ...log, append: (ref, request) => log.append(ref, { ...request, facts: request.facts.flatMap(firedTwice) }) },
    };
  if (flaw === "keeps blobs") return { ...store, log: { ...log, remove: (ref) => removeWithoutBlobs(store, ref) } };
  return store;
}

/** Removes the log, and puts its blobs back under the scope. */
async function removeWithoutBlobs({ log, blobs }: SessionStore, ref: SessionRef): Promise<void> {
  const keys = await blobs.list(ref.scope);
  const kept = await Promise.all(keys.map(async (key) => ({ key, blob: await blobs.get(ref.scope, key) })));
  await log.remove(ref);
  for (const { key, blob } of kept) if (blob) await blobs.put(ref.scope, key, { ...blob, ifAbsent: true });
}

/** Adds a token that the child did not spend to the usage at its end. */
const spentMore = (fact: FactDraft): FactDraft =>
  fact.type === "child.finished" && fact.usage ? { ...fact, usage: { ...fact.usage, output: (fact.usage.output ?? 0) + 1 } } : fact;

/** Doubles the input of a schedule, as if a second process fired the same date without having seen the first input. */
function firedTwice(fact: FactDraft): readonly FactDraft[] {
  if (fact.type !== "input.accepted" || fact.origin?.type !== "schedule") return [fact];
  return [fact, { ...fact, inputId: `${fact.inputId}b`, runId: `${fact.runId}b`, idempotencyKey: `${fact.idempotencyKey}.b` }];
}

const damaged = (): AgentError => new AgentError("SESSION_CORRUPT", { message: "One of the sessions is damaged." });
