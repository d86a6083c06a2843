import { type AgentSettings, createAgent, createSession, type ExecuteResult, execute, type Observer } from "@loopwright/core";
import { type ManualClock, manualClock, memoryStore, seededIds } from "@loopwright/core/memory";
import type { ModelProvider, SessionStore } from "@loopwright/core/ports";

/** How long a call takes on the clock: until its first piece, and from there to its end. */
export interface CallTime {
  readonly firstMs: number;
  readonly restMs: number;
}

/** The same provider, whose calls let time pass. */
export function timed(provider: ModelProvider, clock: ManualClock, timeOf: (call: number) => CallTime): ModelProvider {
  let calls = 0;
  return {
    ...provider,
    async *stream(request, io) {
      const { firstMs, restMs } = timeOf(calls++);
      clock.advance(firstMs);
      let isFirst = true;
      for await (const chunks of provider.stream(request, io)) {
        if (!isFirst && chunks.some(({ type }) => type === "end")) clock.advance(restMs);
        isFirst = false;
        yield chunks;
      }
    },
  };
}

export interface Observed {
  readonly clock: ManualClock;
  readonly store: SessionStore;
  run(session: string, input?: string, user?: string): Promise<ExecuteResult>;
}

/** Runs of one agent, watched by observers. */
export function observed(
  settings: Partial<AgentSettings> & { readonly provider: ModelProvider },
  observers: readonly Observer[],
  clock: ManualClock = manualClock(),
): Observed {
  const store = memoryStore({ clock });
  const agent = createAgent({ name: "helper", ...settings });
  let seed = 0;
  return {
    clock,
    store,
    run: (id, input = "Hi", user = "anne") =>
      execute(
        createSession({ agent, id, store, clock, ids: seededIds(++seed), observers, access: { scope: "team", user } }),
        input,
      ).result(),
  };
}
