import type { Agent } from "../../agent/agent.ts";
import type { HookPoint } from "../../loop/fact.ts";

/** The counts of each list of hooks, which all sessions of an agent share. */
const countsByHooks = new WeakMap<Agent["hooks"], Map<string, number>>();

/** Counts one verdict of a hook. */
export function countVerdict(hooks: Agent["hooks"], { hook, point, action }: { hook: string; point: HookPoint; action: string }): void {
  const counts = countsByHooks.get(hooks) ?? new Map<string, number>();
  countsByHooks.set(hooks, counts);
  const key = `${hook}/${point}/${action}`;
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/**
 * The number of verdicts of an agent's hooks in this process, by `<hook>/<point>/<action>`. It includes verdicts that changed nothing
 * (`allow`, `unchanged`), which are not in the log.
 */
export function hookCounts({ hooks }: Pick<Agent, "hooks">): ReadonlyMap<string, number> {
  return countsByHooks.get(hooks) ?? new Map();
}
