import { canonicalJson } from "../message/canonical-json.ts";
import type { FactOf, RememberedDecision } from "./fact.ts";
import type { State } from "./state.ts";

/** Adds the decision to those that hold for later calls. It replaces an earlier decision about the same calls. */
export function withRemembered(state: State, { callKey, decision, remember, by, at }: FactOf<"approval.decided">): State {
  if (!remember) return state;
  const { toolName, pattern } = remember;
  const others = (state.remembered ?? []).filter((one) => one.callKey !== callKey && !isAboutSame(one, remember));
  return { ...state, remembered: [...others, { callKey, toolName, decision, pattern, ...(by === undefined ? {} : { by }), at }] };
}

/** The state without the entries of these calls. */
export function withoutRemembered(state: State, callKeys: readonly string[]): State {
  const { remembered = [], ...rest } = state;
  const left = remembered.filter(({ callKey }) => !callKeys.includes(callKey));
  return left.length > 0 ? { ...rest, remembered: left } : rest;
}

const isAboutSame = (
  one: Pick<RememberedDecision, "toolName" | "pattern">,
  other: Pick<RememberedDecision, "toolName" | "pattern">,
): boolean => one.toolName === other.toolName && canonicalJson(one.pattern) === canonicalJson(other.pattern);
