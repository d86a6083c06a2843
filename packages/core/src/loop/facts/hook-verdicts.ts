import type { HookState } from "./access.ts";

/** The state with changes: objects member by member, so that hooks of calls beside one another keep both, and other values as a whole. */
export function mergedHookState(state: HookState | undefined, changes: HookState): HookState {
  const merged: { [name: string]: HookState[string] } = { ...state };
  for (const [name, change] of Object.entries(changes)) {
    const kept = merged[name];
    merged[name] = isObject(kept) && isObject(change) ? { ...kept, ...change } : change;
  }
  return merged;
}

/** What the next run of the session begins with: the member `session` of each set of hooks. `undefined`: nothing. */
export function sessionPart(state: HookState | undefined): HookState | undefined {
  const parts = Object.entries(state ?? {}).flatMap(([name, kept]) =>
    isObject(kept) && kept["session"] !== undefined ? [[name, { session: kept["session"] }] as const] : [],
  );
  return parts.length > 0 ? Object.fromEntries(parts) : undefined;
}

const isObject = (value: HookState[string] | undefined): value is Readonly<Record<string, HookState[string]>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
