import type { Agent } from "../../agent/agent.ts";
import type { HookContext } from "../../agent/hooks.ts";
import type { HookState } from "../../loop/fact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Note } from "../log/note-fact.ts";

/** The context that all user code of an effect gets. */
export type EffectContext = Omit<HookContext, "state" | "addUsage" | "record">;

/** The circumstances of a hook call. */
export interface HookDeps {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly context: EffectContext;
  /** The state that the run's hooks have kept so far. */
  readonly state: HookState | undefined;
  readonly session: { record(note: Note): Promise<void> };
}
