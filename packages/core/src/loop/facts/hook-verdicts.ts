import type { Json } from "../../message/json.ts";

/** The point at which a hook is called. */
export type HookPoint = "accept" | "prepare" | "filter" | "decide" | "parse" | "gate" | "review" | "run";

/** A change by a hook. A verdict without a change is not recorded. */
export interface Verdict {
  /** Name of the set of hooks. */
  readonly hook: string;
  readonly point: HookPoint;
  /** The action: `deny`, `edit`, `replace`, ... */
  readonly action: string;
  readonly reason?: string;
  /** The call, if the fact concerns several calls. */
  readonly callKey?: string;
}

/** The small state that hooks keep for a run, by the name of the set of hooks. */
export interface HookState {
  readonly [hook: string]: Json;
}

/** The state with the changes. Objects are merged by member, so changes by hooks of parallel calls are all kept; other values are replaced. */
export function mergedHookState(state: HookState | undefined, changes: HookState): HookState {
  const merged: { [name: string]: HookState[string] } = { ...state };
  for (const [name, change] of Object.entries(changes)) {
    const kept = merged[name];
    merged[name] = isObject(kept) && isObject(change) ? { ...kept, ...change } : change;
  }
  return merged;
}

/** The state that the next run of the session begins with: the member `session` of each set of hooks. `undefined`: nothing. */
export function sessionPart(state: HookState | undefined): HookState | undefined {
  const parts = Object.entries(state ?? {}).flatMap(([name, kept]) =>
    isObject(kept) && kept["session"] !== undefined ? [[name, { session: kept["session"] }] as const] : [],
  );
  return parts.length > 0 ? Object.fromEntries(parts) : undefined;
}

const isObject = (value: HookState[string] | undefined): value is Readonly<Record<string, HookState[string]>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
