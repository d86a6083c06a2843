import type { Failure } from "../../errors.ts";
import type { Fact, FactBody } from "../../loop/fact.ts";
import type { Run, State } from "../../loop/state.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import type { Hub, Lane } from "../live/hub.ts";
import type { Note } from "../log/note-fact.ts";
import type { Deps } from "../setup/deps.ts";
import type { EffectContext, HookDeps } from "./hook-deps.ts";
import type { UserCodeTimeout } from "./user-code-timeout.ts";

/** An effect that may be recorded, and what to do once it is. */
export interface Prepared {
  readonly bodies: readonly FactBody[];
  /** Given the fact of the first body and the newest state. */
  readonly launch?: (intent: Fact | undefined, now: LaunchState) => void;
}

/** In what an effect is launched. */
export interface LaunchState {
  readonly state: State;
  /** The run is being stopped: the effect is not begun, and its closing fact has the outcome `aborted`. */
  readonly isStopped: boolean;
}

/** An effect under way. */
export interface Work {
  readonly abort: (graceMs: number) => void;
  /** Another node is to continue the session: signals the effect, so that it ends soon, or is left to the next owner. */
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
export interface EffectDeps {
  readonly deps: Deps;
  readonly shown: ShownTools;
  readonly builder: RequestBuilder;
  readonly hub: Hub;
  readonly session: EffectHost;
}

/** What an effect under way needs of its session. */
export interface EffectHost {
  /** The newest adopted state. */
  readonly state: State;
  /** Records a closing fact; resolves when the log has it, or it is void. */
  close(body: FactBody): Promise<void>;
  /** Records a note of user code; resolves when the log has it. */
  record(note: Note): Promise<void>;
  /** An effect has ended without a closing fact. */
  effectLeft(): void;
}

/** In what an effect is prepared. */
export interface PreparationDeps {
  readonly state: State;
  readonly timeout: UserCodeTimeout;
  readonly track: Track;
}

/** The context of the hooks of a turn. */
export function contextOf(
  { bound: { agent }, access, sessionId, logger }: Deps,
  { run, turn }: { readonly run: Pick<Run, "runId" | "access" | "labels">; readonly turn: number },
  timeout: UserCodeTimeout,
): EffectContext {
  const asksUser = agent.hooks.length > 0 || agent.tools.some(({ approval }) => typeof approval === "function");
  const signal = asksUser ? timeout.signal : neverAborted;
  const { resources } = agent;
  const labels = run.labels ?? {};
  return { sessionId, runId: run.runId, turn, access: run.access ?? access, labels, agent: agent.name, signal, logger, resources };
}

/** From where the hooks of the run are asked. */
export function askingOf({ deps, session }: EffectDeps, context: EffectContext, run: Pick<Run, "hookState">): HookDeps {
  return { agent: deps.bound.agent, clock: deps.clock, context, state: run.hookState, session };
}

const neverAborted = new AbortController().signal;
