import { AgentError, type FactDraft } from "@loopwright/core";
import type { SessionRef, SessionStore } from "@loopwright/core/ports";
import type { NodeFlaw } from "./node-settings.ts";

/** The same store with a flaw that is planted at its port; flaws that lie elsewhere leave it as it is. */
export function flawedStore(store: SessionStore, flaw: NodeFlaw | undefined): SessionStore {
  const { log } = store;
  if (flaw === "damage stops the sweeps") return { ...store, log: { ...log, due: () => Promise.reject(damaged()) } };
  if (flaw === "reports more")
    return { ...store, log: { ...log, append: (ref, request) => log.append(ref, { ...request, facts: request.facts.map(spentMore) }) } };
  if (flaw === "fires twice")
    return {
      ...store,
      log: { ...log, append: (ref, request) => log.append(ref, { ...request, facts: request.facts.flatMap(firedTwice) }) },
    };
  if (flaw === "keeps blobs") return { ...store, log: { ...log, remove: (ref) => removeWithoutBlobs(store, ref) } };
  return store;
}

/** The log goes, and its blobs stay as those of the scope. */
async function removeWithoutBlobs({ log, blobs }: SessionStore, ref: SessionRef): Promise<void> {
  const keys = await blobs.list(ref.scope);
  const kept = await Promise.all(keys.map(async (key) => ({ key, blob: await blobs.get(ref.scope, key) })));
  await log.remove(ref);
  for (const { key, blob } of kept) if (blob) await blobs.put(ref.scope, key, { ...blob, ifAbsent: true });
}

/** The end of a child with a token that it did not spend. */
const spentMore = (fact: FactDraft): FactDraft =>
  fact.type === "child.finished" && fact.usage ? { ...fact, usage: { ...fact.usage, output: (fact.usage.output ?? 0) + 1 } } : fact;

/** The input of a schedule and another one of the same date, as a process would give it that has not seen the first. */
function firedTwice(fact: FactDraft): readonly FactDraft[] {
  if (fact.type !== "input.accepted" || fact.origin?.type !== "schedule") return [fact];
  return [fact, { ...fact, inputId: `${fact.inputId}b`, runId: `${fact.runId}b`, idempotencyKey: `${fact.idempotencyKey}.b` }];
}

const damaged = (): AgentError => new AgentError("SESSION_CORRUPT", { message: "One of the sessions is damaged." });
