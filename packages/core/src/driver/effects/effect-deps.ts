import type { Failure } from "../../errors.ts";
import type { Fact, FactBody, RememberedDecision } from "../../loop/fact.ts";
import type { BackgroundChild, KeyedChild, Run, State } from "../../loop/state.ts";
import type { RequestBuilder } from "../../prompt/request-builder.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import type { ChildPlace } from "../children/child-facts.ts";
import type { EventHub, Lane } from "../live/event-hub.ts";
import { rememberedIn } from "../setup/inherited-decisions.ts";
import type { Deps } from "../setup/session-deps.ts";
import type { EffectContext, HookDeps, HookHost } from "./hook-deps.ts";
import type { UserCodeTimeout } from "./user-code-timeout.ts";

/** The facts that record an effect, and the launch that follows. */
export interface Prepared {
  readonly bodies: readonly FactBody[];
  /** Called with the fact of the last body and the newest state. */
  readonly launch?: (intent: Fact | undefined, now: LaunchState) => void;
}

/** The circumstances of a launch. */
export interface LaunchState {
  readonly state: State;
  /** True if the run is being stopped: the effect does not start, and its closing fact has the outcome `aborted`. */
  readonly isStopped: boolean;
}

/** A running effect. */
export interface Work {
  readonly abort: (graceMs: number) => void;
  /** Signals a hand-over to the effect, which ends soon or is left to the next owner. */
  readonly handOver: () => void;
  /** `undefined`: the effect stays open in the log, and the next owner treats it as after a crash. */
  readonly closing: Promise<FactBody | undefined>;
  /** The closing fact if computing the normal one has failed, so that a bug in core ends the effect and does not hang the run. */
  readonly broken: (failure: Failure) => FactBody;
  readonly lane?: Lane;
  /** True if the state no longer needs the effect although the run continues: the effect is dropped without a closing fact. */
  readonly isLeft?: (state: State) => boolean;
}

/** Puts the closing fact of a running effect into the inbox when the effect ends. */
export type Track = (effect: { readonly id: string; readonly runId: string }, work: Work) => void;

/** The tools of the last model call that this process prepared. */
export interface ShownTools {
  /** `<runId>.<turn>.<attempt>` */
  call?: string;
  registry?: ToolRegistry;
}

/** The dependencies of effects. */
export interface EffectDeps {
  readonly deps: Deps;
  readonly shown: ShownTools;
  readonly builder: RequestBuilder;
  readonly hub: EventHub;
  readonly session: EffectHost;
}

/** The parts of the session that a running effect uses. */
export interface EffectHost extends HookHost {
  /** The newest adopted state. */
  readonly state: State;
  /** Records a closing fact; resolves when the log has the fact, or the fact is void. */
  close(body: FactBody): Promise<void>;
  /** Stops a child of the run that is being stopped; resolves with its end. */
  stopChild(place: ChildPlace, child: KeyedChild): Promise<FactBody>;
  /** Starts a child in the background; resolves with the fact of the start, or `undefined` if the child did not start (`BackgroundChildren.begin`). */
  startChild(child: BackgroundChild): Promise<FactBody | undefined>;
  /** Records the facts that follow from the state; resolves when the log has them. */
  offer(bodies: (state: State) => readonly FactBody[]): Promise<readonly Fact[]>;
  /** Called when an effect has ended without a closing fact. */
  effectLeft(): void;
}

/** The circumstances of a preparation. */
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

/** The dependencies of calls of the run's hooks. */
export function askingOf({ deps, session }: EffectDeps, context: EffectContext, run: Pick<Run, "hookState">): HookDeps {
  const remembered = (): readonly RememberedDecision[] => rememberedIn(deps, session.state);
  return { agent: deps.bound.agent, clock: deps.clock, context, state: run.hookState, session, remembered };
}

const neverAborted = new AbortController().signal;
