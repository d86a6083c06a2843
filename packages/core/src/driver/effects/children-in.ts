import type { SpawnChild, StartChild } from "../../tools/child.ts";
import type { ChildOrigin } from "../children/awaited-children.ts";
import type { HookHost } from "./hook-deps.ts";

/** `child` and `spawn` of the user code in this place. `prefix`: keeps its keys apart from those of others. */
export function childrenIn(
  session: Pick<HookHost, "child" | "spawn">,
  { publish, ...place }: ChildOrigin,
  prefix = "",
): { readonly child: StartChild; readonly spawn: SpawnChild } {
  const origin: ChildOrigin = publish ? { ...place, publish } : place;
  const start = (...[key, agent, input, options]: Parameters<StartChild>): Promise<unknown> =>
    session.child(origin, { key: `${prefix}${key}`, agent, input, ...options });
  return {
    // The value is checked by the `output` of the agent whose type this is.
    child: start as StartChild,
    spawn: (...[key, agent, input, options]) => session.spawn(place, { key: `${prefix}${key}`, agent, input, ...options }),
  };
}
