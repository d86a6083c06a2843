import type { World } from "./simulated-world.ts";

/** Longer than a process takes to read from a store that is back that a session rests. */
const idleMaxMs = 60_000;
const lookMs = 250;

/** Lets time pass until every process has evicted its unused sessions, or has had the time to. */
export async function untilNothingIsIdle({ time, hosts }: World): Promise<void> {
  const isIdle = (): boolean => hosts.some(({ node, loaded }) => node.state !== "dead" && [...loaded].some(({ users }) => users === 0));
  for (const endMs = time.nowMs + idleMaxMs; time.nowMs < endMs && isIdle(); ) await time.pass({ untilMs: time.nowMs + lookMs });
}
