import type { Agent } from "../../agent/agent.ts";
import type { HookContext } from "../../agent/hooks.ts";
import type { HookState, RememberedDecision } from "../../loop/fact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ChildResult, SpawnedChild } from "../../tools/child-agent.ts";
import type { ChildOrigin, ChildRequest } from "../children/awaited-children.ts";
import type { ChildPlace } from "../children/child-facts.ts";
import type { Note } from "../log/note-fact.ts";

/** The context that all user code of an effect gets. */
export type EffectContext = Omit<HookContext, "state" | "addUsage" | "note" | "record" | "child" | "spawn">;

/** What user code may do to its session. */
export interface HookHost {
  /** Records a note of user code; resolves when the log has it. */
  record(note: Note): Promise<void>;
  /** Starts a child of user code, or attaches to the one that was started under the same key. */
  child(place: ChildOrigin, request: ChildRequest): Promise<ChildResult>;
  /** Starts a child in the background, or returns the one that was started under the same key. */
  spawn(place: ChildPlace, request: ChildRequest): Promise<SpawnedChild>;
}

/** The circumstances of a hook call. */
export interface HookDeps {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly context: EffectContext;
  /** The state that the run's hooks have kept so far. */
  readonly state: HookState | undefined;
  readonly session: HookHost;
  /** Decisions that hold for later calls. */
  readonly remembered: () => readonly RememberedDecision[];
}
