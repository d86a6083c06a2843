import type { HookContext } from "../../agent/hooks.ts";
import type { Failure } from "../../errors.ts";
import type { Fact, FactBody } from "../../loop/fact.ts";
import type { Run, State } from "../../loop/state.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import type { Hub, Lane } from "../live/hub.ts";
import type { Deps } from "../setup/deps.ts";
import type { Patience } from "./patience.ts";

/** An effect that may be recorded, and what to do once it is. */
export interface Prepared {
  readonly bodies: readonly FactBody[];
  /** Given the fact of the first body and the newest state. */
  readonly launch?: (intent: Fact | undefined, now: LaunchState) => void;
}

/** In what an effect is launched. */
export interface LaunchState {
  readonly state: State;
  /** The run is being stopped: the effect is not begun, and its closing fact says so. */
  readonly isStopped: boolean;
}

/** An effect under way. */
export interface Work {
  readonly abort: (graceMs: number) => void;
  /** Another node is to go on with the session: signals the effect, so that it ends soon, or is left to the next owner. */
  readonly handOver: () => void;
  /** `undefined`: it stays open in the log, and the next owner sees to it as after a crash. */
  readonly closing: Promise<FactBody | undefined>;
  /** The closing fact when making the proper one failed: a bug of ours ends the effect, never hangs the run. */
  readonly broken: (failure: Failure) => FactBody;
  readonly lane?: Lane;
}

/** Sees to it that the closing fact of an effect under way is handed in. */
export type Track = (effect: { readonly id: string; readonly runId: string }, work: Work) => void;

/** The tools of the last model call that this process prepared, where a hook changed them. */
export interface ShownTools {
  /** `<runId>.<turn>.<attempt>` */
  call?: string;
  registry?: ToolRegistry;
}

/** What effects are made with. */
export interface EffectsOptions {
  readonly deps: Deps;
  readonly shown: ShownTools;
  readonly builder: RequestBuilder;
  readonly hub: Hub;
  /** The newest adopted state. */
  readonly current: () => State;
  /** Hands a closing fact in; resolves when it is recorded or void. */
  readonly close: (body: FactBody) => Promise<void>;
  /** Told that an effect is over and hands nothing in. */
  readonly onLeft: () => void;
}

/** In what an effect is prepared. */
export interface Scene {
  readonly state: State;
  readonly patience: Patience;
  readonly track: Track;
}

/** What hooks are told of the turn. */
export function contextOf(
  { bound: { agent }, access, sessionId }: Deps,
  { run, turn }: { readonly run: Run; readonly turn: number },
  patience: Patience,
): HookContext {
  const signal = agent.hooks.length > 0 ? patience.signal : neverAborted;
  return { sessionId, runId: run.runId, turn, access: run.access ?? access, agent: agent.name, signal };
}

const neverAborted = new AbortController().signal;
