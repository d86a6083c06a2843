import type { SpawnChild, StartChild } from "../../tools/child.ts";
import type { ChildPlace } from "../children/child-facts.ts";
import type { ChildOrigin } from "../children/children.ts";
import type { HookHost } from "./hook-deps.ts";

/** `child` of the user code in this place. `prefix`: keeps its keys apart from those of others. */
export function childIn(session: Pick<HookHost, "child">, place: ChildOrigin, prefix = ""): StartChild {
  const start = (...[key, agent, input, options]: Parameters<StartChild>): Promise<unknown> =>
    session.child(place, { key: `${prefix}${key}`, agent, input, ...options });
  // The value is checked by the `output` of the agent whose type this is.
  return start as StartChild;
}

/** `spawn` of the user code in this place. */
export const spawnIn =
  (session: Pick<HookHost, "spawn">, place: ChildPlace, prefix = ""): SpawnChild =>
  (...[key, agent, input, options]) =>
    session.spawn(place, { key: `${prefix}${key}`, agent, input, ...options });
