/*
 * Owns: the context that the hooks of one effect get, and the verdicts, the state and the usage that they leave.
 * Does not own: the meaning of a verdict (each point), the counts of verdicts (hook-counts).
 * Created only if there is a hook to call.
 */
import type { HookContext, Hooks, HookVerdict } from "../../agent/hooks.ts";
import type { Hooked, HookPoint, HookState, Spending, Verdict } from "../../loop/fact.ts";
import { mergedHookState } from "../../loop/facts/hook-verdicts.ts";
import { findJsonFlaw, type JsonObject } from "../../message/json.ts";
import { jsonBytes } from "../../message/json-bytes.ts";
import { cutText } from "../../tools/cut-text.ts";
import { toolLimits } from "../../tools/tool-limits.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { childrenIn } from "./child-functions-for-user-code.ts";
import { countVerdict } from "./hook-counts.ts";
import type { EffectContext, HookDeps } from "./hook-deps.ts";
import { andThen, type SyncOrAsync } from "./sync-or-async.ts";
import { SpentAccount } from "./usage-reported-by-user-code.ts";

/** A verdict for the record. Its action names a change, or is `allow` or `unchanged`. */
export interface Noted {
  readonly action: string;
  readonly reason?: string | undefined;
  readonly callKey?: string | undefined;
}

const unchanging: ReadonlySet<string> = new Set(["allow", "unchanged"]);
const noState: JsonObject = {};

/** What the hooks add to the fact that they were called for. */
export type HookTrace = Hooked & Pick<Spending, "expenses">;

export class HookRunner {
  readonly #setup: HookDeps;
  readonly #point: HookPoint;
  readonly #spent = new SpentAccount();
  readonly #verdicts: Verdict[] = [];
  #set: HookState | undefined;
  #asked: Hooks | undefined;

  constructor(setup: HookDeps, point: HookPoint) {
    this.#setup = setup;
    this.#point = point;
  }

  /** The context of the effect, without the members that differ between hooks. */
  get effectContext(): EffectContext {
    return this.#setup.context;
  }

  /** Decisions that hold for later calls. */
  remembered(): ReturnType<HookDeps["remembered"]> {
    return this.#setup.remembered();
  }

  /** The context of one hook, with the state of that hook. `callKey`: the call that the hook decides about. */
  context(hooks: Hooks, callKey?: string): HookContext {
    const { context, session } = this.#setup;
    this.#asked = hooks;
    const addUsage: HookContext["addUsage"] = (spent) => {
      if (!this.#spent.add(spent))
        context.logger.log("warn", `The hook \`${hooks.name}\`: its usage was ignored, because it has no count of tokens.`);
    };
    return {
      ...context,
      state: this.#stateOf(hooks),
      addUsage,
      note: (action, reason) => this.#noteOnce(hooks, { action, reason, callKey }),
      record: (kind, data) => session.record({ kind, data, runId: context.runId }),
      ...childrenIn(session, { runId: context.runId }, `${hooks.name}/`),
    };
  }

  /** The name, in error messages, of the hook that was called last. `otherwise`: the name if none was called yet. */
  place(point: string = this.#point, otherwise: string = hookPlace(point)): string {
    return this.#asked ? hookPlace(point, this.#asked) : otherwise;
  }

  #stateOf({ name }: Hooks): JsonObject {
    return (this.#merged(this.#set)[name] as JsonObject | undefined) ?? noState;
  }

  #merged(set: HookState | undefined): HookState {
    return set ? mergedHookState(this.#setup.state, set) : (this.#setup.state ?? {});
  }

  /** Keeps the state that the verdict sets. @throws TypeError when the state is not JSON or is too large */
  take(hooks: Hooks, verdict: HookVerdict | undefined): void {
    if (!verdict?.state) return;
    const flaw = findJsonFlaw(verdict.state);
    if (flaw) throw new TypeError(`The state that the hook set is no JSON: ${flaw}.`);
    const set = mergedHookState(this.#set, { [hooks.name]: verdict.state });
    const bytes = jsonBytes(this.#merged(set));
    const { hookStateBytes } = driverLimits;
    if (bytes > hookStateBytes)
      throw new TypeError(`The state of the run's hooks would take ${bytes} bytes; at most ${hookStateBytes} are kept.`);
    this.#set = set;
  }

  /** Keeps a verdict in addition to the returned one, once if it is repeated. @throws as `checkedNote` */
  #noteOnce(hooks: Hooks, noted: Noted): void {
    const { action, reason, callKey } = checkedNote(noted);
    const isKnown = this.#verdicts.some(
      (one) => one.hook === hooks.name && one.action === action && one.reason === reason && one.callKey === callKey,
    );
    if (!isKnown) this.note(hooks, { action, reason, callKey });
  }

  /** Counts the verdict of the hook, and keeps it if it changed something. */
  note(hooks: Hooks | string, { action, reason, callKey }: Noted, point: HookPoint = this.#point): void {
    const { agent } = this.#setup;
    const hook = typeof hooks === "string" ? hooks : hooks.name;
    countVerdict(agent.hooks, { hook, point, action });
    if (unchanging.has(action)) return;
    const why = reason === undefined ? {} : { reason: cutText(reason, toolLimits.errorTextMax) };
    this.#verdicts.push({ hook, point, action, ...why, ...(callKey === undefined ? {} : { callKey }) });
  }

  /** What is recorded with the fact; synchronous if no price table is called. */
  trace(): SyncOrAsync<HookTrace> {
    const { agent, clock, context } = this.#setup;
    const pricing = { prices: agent.prices, logger: context.logger, sessionId: context.sessionId };
    return andThen(this.#spent.expenses(pricing, clock.now()), (expenses) => ({
      ...(this.#verdicts.length > 0 ? { verdicts: this.#verdicts } : {}),
      ...(this.#set ? { hookState: this.#set } : {}),
      ...(expenses.length > 0 ? { expenses } : {}),
    }));
  }
}

const actionMax = 64;

/** Checks a verdict that a hook notes, and cuts its reason. @throws TypeError when the action is not a short word, or is `allow` or `unchanged` */
export function checkedNote({ action, reason, callKey }: Noted): Noted {
  const isWord = typeof action === "string" && action !== "" && action.length <= actionMax && !unchanging.has(action);
  if (!isWord || !(reason === undefined || typeof reason === "string"))
    throw new TypeError(
      "A noted verdict needs an action of 1 to 64 characters that is not `allow` or `unchanged`, and may have a text as its reason.",
    );
  return { action, callKey, reason: reason === undefined ? undefined : cutText(reason, toolLimits.errorTextMax) };
}

/** The name of a hook in error messages. */
export const hookPlace = (point: string, hooks?: Hooks): string => `The hook \`${point}\`${hooks ? ` of \`${hooks.name}\`` : ""}`;
