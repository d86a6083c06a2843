import type { Agent } from "../../agent/agent.ts";
import type { HookContext } from "../../agent/hooks.ts";
import type { HookState } from "../../loop/fact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Note } from "../log/note-fact.ts";

/** What all user code of an effect gets as its context. */
export type EffectContext = Omit<HookContext, "state" | "addUsage" | "record">;

/** Where the hooks of an agent are asked from. */
export interface HookDeps {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly context: EffectContext;
  /** What the run's hooks have kept so far. */
  readonly state: HookState | undefined;
  readonly session: { record(note: Note): Promise<void> };
}
