import type { Agent } from "../../agent/agent.ts";
import type { FilterContext, FilterKind, Hooks } from "../../agent/hooks.ts";
import { AgentError } from "../../errors.ts";
import type { TextFilter } from "../../tools/normalise-output.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import type { Deps } from "../setup/session-deps.ts";
import { hookFailed } from "../setup/user-code-errors.ts";
import { createTextWindow, type HoldBack } from "./filtered-text-window.ts";
import type { EffectContext } from "./hook-deps.ts";
import { hookPlace } from "./hook-runner.ts";
import { andThen, type SyncOrAsync } from "./sync-or-async.ts";

/** All stream filters of an agent, applied one after another. */
export interface UserFilter {
  /** The largest `holdBack` of the filters; a function if any filter has a function. */
  readonly holdBack: HoldBack;
  /**
   * The filtered text. It throws or rejects if a filter throws or returns no string (HOOK_FAILED, or the AgentError that the filter threw), and if a
   * filter takes too long (HOOK_TIMEOUT). Every later call then throws the same error.
   */
  apply(text: string, kind: FilterKind, tool?: string): SyncOrAsync<string>;
}

/** The context of the filters: the context of the effect, with the call that the effect belongs to, if any. */
type FilterPlace = EffectContext & Pick<FilterContext, "tool" | "callKey">;

type FilterDeps = Pick<Deps, "logger" | "sessionId" | "clock">;

/** True if a hook requires that no part of an answer is shown before `decide` has seen the whole answer. */
export const holdsTurns = ({ hooks }: Agent): boolean => hooks.some(({ filter }) => filter?.holdTurn);

/** The combined filter of the agent; `undefined` if no hook has a filter. */
export function userFilterOf(agent: Agent, context: FilterPlace, deps: FilterDeps): UserFilter | undefined {
  const filters = agent.hooks.filter(({ filter }) => filter?.apply);
  return filters.length === 0 ? undefined : new HookFilter(filters, context, deps);
}

class HookFilter implements UserFilter {
  readonly #filters: readonly Hooks[];
  readonly #context: FilterPlace;
  readonly #deps: FilterDeps;
  readonly holdBack: HoldBack;
  #broken: AgentError | undefined;
  #asked: Hooks | undefined;

  constructor(filters: readonly Hooks[], context: FilterPlace, deps: FilterDeps) {
    this.#filters = filters;
    this.#context = context;
    this.#deps = deps;
    this.holdBack = this.#holdBack();
  }

  #holdBack(): HoldBack {
    const given = this.#filters.map((hooks) => ({ hooks, holdBack: hooks.filter?.holdBack ?? 0 }));
    const least = Math.max(0, ...given.map(({ holdBack }) => (typeof holdBack === "number" ? holdBack : 0)));
    const asked = given.filter(({ holdBack }) => typeof holdBack === "function");
    if (asked.length === 0) return least;
    return (text) => {
      if (this.#broken) throw this.#broken;
      try {
        return Math.max(
          least,
          ...asked.map(({ hooks, holdBack }) => {
            this.#asked = hooks;
            return lengthFrom(typeof holdBack === "function" ? holdBack.call(hooks.filter, text) : holdBack);
          }),
        );
      } catch (error) {
        return this.#fail(error);
      }
    };
  }

  apply(text: string, kind: FilterKind, tool?: string): SyncOrAsync<string> {
    if (this.#broken) throw this.#broken;
    try {
      const context = { ...this.#context, ...(tool === undefined ? {} : { tool }), kind };
      let filtered: SyncOrAsync<string> = text;
      for (const hooks of this.#filters)
        filtered = andThen(filtered, (before) => {
          this.#asked = hooks;
          return andThen(asGiven(hooks.filter?.apply?.(before, context)), (shown) => textFrom(shown));
        });
      return filtered instanceof Promise ? this.#inTime(filtered).catch((error: unknown) => this.#fail(error)) : filtered;
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): never {
    this.#broken = hookFailed(this.#deps, hookPlace("filter", this.#asked), error);
    throw this.#broken;
  }

  async #inTime(filtered: Promise<string>): Promise<string> {
    let cancel = (): void => {};
    const { filterMs } = driverLimits;
    const tooLong = new Promise<never>((_, reject) => {
      cancel = this.#deps.clock.after(filterMs, () => reject(filterTimeout(this.#asked, filterMs)));
    });
    try {
      return await Promise.race([filtered, tooLong]);
    } finally {
      cancel();
    }
  }
}

/** Converts a thenable to a native promise; other values are returned unchanged. */
const asGiven = (shown: unknown): unknown =>
  typeof shown === "object" && shown !== null && "then" in shown ? Promise.resolve(shown) : shown;

function textFrom(filtered: unknown): string {
  if (typeof filtered === "string") return filtered;
  throw new TypeError(`The filter returned a value of type ${typeof filtered} instead of a string.`);
}

function lengthFrom(held: unknown): number {
  if (typeof held === "number" && held >= 0) return held;
  throw new TypeError("The `holdBack` of the filter returned no count of characters.");
}

const filterTimeout = (hooks: Hooks | undefined, timeoutMs: number): AgentError =>
  new AgentError("HOOK_TIMEOUT", {
    message: `${hookPlace("filter", hooks)} did not answer within ${timeoutMs} ms.`,
    details: { timeoutMs },
  });

/** The filter for the output of tools. */
export const toolFilterOf = (filter: UserFilter | undefined): TextFilter | undefined =>
  filter && { apply: (text) => filter.apply(text, "tool"), window: () => createTextWindow(filter.holdBack) };
