import type { Fact, Observer, SessionRef } from "@loopwright/core";
import { refKey } from "@loopwright/core/ports";
import type { LatencyRecord } from "./latency-record.ts";
import { OpenTurn } from "./open-turn.ts";

export interface TurnObserverOptions {
  /** Called with each turn when it is over: its answer is there, and its calls have their results or its run has ended. */
  readonly onTurn: (record: LatencyRecord) => void;
  /** How long the first bytes of the vendor's answer took: `cacheWatch` knows. */
  readonly firstByteOf?: (ref: SessionRef, runId: string, turn: number) => number | undefined;
  /** Sessions with an open turn that are kept; the one that has been silent for longest is forgotten. Default 10,000. */
  readonly sessionsMax?: number;
}

interface Watched {
  open?: OpenTurn;
  /** The last fact that was seen: a new owner repeats some. */
  seq: number;
}

/** Measures turns. In a process that takes a session over, the facts that are repeated complete the turn that was open. */
export function turnObserver({ onTurn, firstByteOf, sessionsMax = 10_000 }: TurnObserverOptions): Observer {
  /** In the order of their last facts. */
  const sessions = new Map<string, Watched>();

  const close = (ref: SessionRef, watched: Watched): void => {
    const { open } = watched;
    delete watched.open;
    const record = open?.record(ref, firstByteOf?.(ref, open.runId, open.turn));
    if (record) onTurn(record);
  };

  const take = (ref: SessionRef, watched: Watched, fact: Fact): void => {
    const { open } = watched;
    const isNext = fact.type === "model.started" && (open?.runId !== fact.runId || open.turn !== fact.turn);
    if (isNext || (fact.type === "run.finished" && open?.runId === fact.runId)) close(ref, watched);
    if (isNext) watched.open = new OpenTurn(fact);
    else if (open && "runId" in fact && fact.runId === open.runId) open.take(fact);
    if (watched.open?.isOver) close(ref, watched);
  };

  return {
    facts(ref, facts) {
      const key = refKey(ref);
      const watched = sessions.get(key) ?? { seq: 0 };
      sessions.delete(key);
      sessions.set(key, watched);
      for (const fact of facts) {
        if (fact.seq <= watched.seq) continue;
        watched.seq = fact.seq;
        take(ref, watched, fact);
      }
      if (sessions.size <= sessionsMax) return;
      const [oldest] = sessions.keys();
      if (oldest !== undefined) sessions.delete(oldest);
    },
    removed: (ref) => void sessions.delete(refKey(ref)),
  };
}
