import type { SpawnChild, StartChild } from "../../tools/child-agent.ts";
import type { ChildOrigin } from "../children/awaited-children.ts";
import type { HookHost } from "./hook-deps.ts";

/** The functions `child` and `spawn` for the user code of one call or run. `prefix`: keeps its keys apart from those of other user code. */
export function childrenIn(
  session: Pick<HookHost, "child" | "spawn">,
  { publish, ...place }: ChildOrigin,
  prefix = "",
): { readonly child: StartChild; readonly spawn: SpawnChild } {
  const origin: ChildOrigin = publish ? { ...place, publish } : place;
  const start = (...[key, agent, input, options]: Parameters<StartChild>): Promise<unknown> =>
    session.child(origin, { key: `${prefix}${key}`, agent, input, ...options });
  return {
    // The cast is safe: the `output` of the child's agent has checked the value.
    child: start as StartChild,
    spawn: (...[key, agent, input, options]) => session.spawn(place, { key: `${prefix}${key}`, agent, input, ...options }),
  };
}
