import type { Fact, ObservedRun, Observer } from "@loopwright/core";
import { refKey } from "@loopwright/core/ports";
import { type CalledModel, entriesOf, type RunParties } from "./entries-of.ts";
import type { UsageStore } from "./usage-entry.ts";

export interface UsageObserverOptions {
  readonly usage: UsageStore;
  /** Sessions whose open run is remembered; the one that has been silent for longest is forgotten. Default 10,000. */
  readonly sessionsMax?: number;
}

interface Known extends RunParties, CalledModel {
  readonly runId: string;
}

const unknown = { user: "", agent: "", provider: "", model: "" };

/** Feeds a usage store with what every run spends, in each process that runs sessions. */
export function usageObserver({ usage, sessionsMax = 10_000 }: UsageObserverOptions): Observer {
  /** The open run of each session. */
  const runs = new Map<string, Known>();

  const known = (key: string, runId: string, run: (runId: string) => ObservedRun | undefined): Known => {
    const before = runs.get(key);
    if (before?.runId === runId && before.agent !== "") return before;
    const found = run(runId);
    const now: Known = {
      ...(before?.runId === runId ? before : { runId, ...unknown }),
      ...(found?.access ? { user: found.access.user } : {}),
      ...(found?.agent === undefined ? {} : { agent: found.agent }),
    };
    runs.delete(key);
    runs.set(key, now);
    return now;
  };

  const changedBy = (fact: Fact, before: Known): Known => {
    if (fact.type === "run.started") return { ...before, agent: fact.agent };
    if (fact.type === "input.accepted" && fact.access) return { ...before, user: fact.access.user };
    if (fact.type !== "model.started") return before;
    const { provider, model, keyOwner = "platform" } = fact;
    return { ...before, provider, model, keyOwner };
  };

  return {
    facts(...[ref, facts, , run]) {
      const key = refKey(ref);
      const entries = facts.flatMap((fact) => {
        if (!("runId" in fact) || fact.runId === undefined) return [];
        const parties = changedBy(fact, known(key, fact.runId, run));
        runs.set(key, parties);
        if (fact.type === "run.finished") runs.delete(key);
        return entriesOf(fact, ref, parties);
      });
      if (entries.length > 0) usage.add(entries);
      if (runs.size <= sessionsMax) return;
      const [oldest] = runs.keys();
      if (oldest !== undefined) runs.delete(oldest);
    },
    removed: (ref) => void runs.delete(refKey(ref)),
  };
}
