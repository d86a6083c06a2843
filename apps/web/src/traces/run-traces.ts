/*
 * Owns: the traces of the runs of one session: what was watched, and what is asked for because it happened before the page came.
 * Invariants
 *  T1 an event counts once, whether it was watched, asked for, or both;
 *  T2 a run that was watched from its beginning is not asked for.
 */
import type { FollowedEvent } from "@loopwright/client";
import { compareCursors, type DurableEvent } from "@loopwright/core/protocol";
import { createWatched, type Watched } from "../app/watched.ts";
import { type RunTrace, traceOf } from "./trace-of.ts";

/** The durable events of a run so far. */
export type LoadRun = (runId: string, signal: AbortSignal) => Promise<readonly DurableEvent[]>;

/** By run; a run without anything to show is not in it. */
export interface RunTraces extends Watched<ReadonlyMap<string, RunTrace>> {
  /** More events of the session, as they come. */
  take(events: readonly FollowedEvent[]): void;
  /** Asks for what happened in a run before it was watched. A failure is forgotten: the next one that wants it asks again. */
  want(runId: string): void;
  close(): void;
}

/** What was seen of a run. */
interface Seen {
  readonly events: Map<string, DurableEvent>;
  state: "part" | "asked" | "whole";
}

const kept = new Set(["verdict", "context_compacted", "message_end", "agent_start", "agent_end", "run_start", "run_end"]);

/** The traces of a session's runs. */
export function runTraces(load: LoadRun): RunTraces {
  const { read, subscribe, put } = createWatched<ReadonlyMap<string, RunTrace>>(new Map());
  const runs = new Map<string, Seen>();
  const leaving = new AbortController();
  const seenOf = (runId: string): Seen => {
    const known = runs.get(runId) ?? { events: new Map(), state: "part" };
    runs.set(runId, known);
    return known;
  };
  const add = (runId: string, events: readonly DurableEvent[]): void => {
    const seen = seenOf(runId);
    for (const event of events) if (kept.has(event.type)) seen.events.set(`${event.seq}.${event.k}`, event);
    const trace = traceOf([...seen.events.values()].sort(compareCursors));
    if (trace) put(new Map([...read(), [runId, trace]]));
  };
  const ask = (runId: string): void => {
    const seen = seenOf(runId);
    if (seen.state !== "part" || leaving.signal.aborted) return;
    seen.state = "asked";
    load(runId, leaving.signal).then(
      (events) => {
        seen.state = "whole";
        add(runId, events);
      },
      () => {
        seen.state = "part";
      },
    );
  };
  return {
    read,
    subscribe,
    want: ask,
    take(events) {
      const fresh = new Map<string, DurableEvent[]>();
      for (const event of events) {
        if (event.type === "session_snapshot") {
          // Events may lie between what was watched and the snapshot.
          const asked = [...runs].filter(([, { state }]) => state === "whole").map(([runId]) => runId);
          for (const runId of asked) seenOf(runId).state = "part";
          for (const runId of asked) ask(runId);
        } else if ("seq" in event && event.runId !== undefined && kept.has(event.type)) {
          if (event.type === "run_start" && seenOf(event.runId).state === "part") seenOf(event.runId).state = "whole";
          fresh.set(event.runId, [...(fresh.get(event.runId) ?? []), event]);
        }
      }
      for (const [runId, list] of fresh) add(runId, list);
    },
    close: () => leaving.abort(),
  };
}
