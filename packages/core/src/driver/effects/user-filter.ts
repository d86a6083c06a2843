import type { Agent } from "../../agent/agent.ts";
import type { HookContext, StreamFilter } from "../../agent/hooks.ts";
import type { AgentError } from "../../errors.ts";
import type { TextFilter } from "../../tools/normalise-output.ts";
import type { Deps } from "../setup/deps.ts";
import { hookFailed } from "../setup/user-code.ts";
import { createTextWindow, type TextWindow } from "./text-window.ts";

export type FilterKind = Parameters<StreamFilter["apply"]>[1]["kind"];

/** All stream filters of an agent as one. */
export interface UserFilter {
  /** The longest of theirs. */
  readonly holdBack: number;
  /** @throws AgentError HOOK_FAILED, reported, when one of them throws or gives no text */
  apply(text: string, kind: FilterKind): string;
}

/** `undefined` where no hook filters. */
export function userFilterOf(agent: Agent, context: HookContext, deps: Pick<Deps, "logger" | "sessionId">): UserFilter | undefined {
  const filters = agent.hooks.flatMap(({ filter }) => filter ?? []);
  if (filters.length === 0) return undefined;
  let broken: AgentError | undefined;
  return {
    holdBack: Math.max(0, ...filters.map(({ holdBack = 0 }) => holdBack)),
    apply(text, kind) {
      if (broken) throw broken;
      try {
        return filters.reduce((said, filter) => textFrom(filter.apply(said, { ...context, kind })), text);
      } catch (error) {
        broken = hookFailed(deps, "The hook `filter`", error);
        throw broken;
      }
    },
  };
}

function textFrom(said: unknown): string {
  if (typeof said === "string") return said;
  throw new TypeError(`The filter gave ${typeof said} in place of text.`);
}

/** The filter as the tools see it. */
export const toolFilterOf = (filter: UserFilter | undefined): TextFilter | undefined =>
  filter && { apply: (text) => filter.apply(text, "tool"), window: () => windowOf(filter, "tool") };

/** A window over one text of this kind. */
export const windowOf = (filter: UserFilter, kind: FilterKind): TextWindow =>
  createTextWindow((text) => filter.apply(text, kind), filter.holdBack);
