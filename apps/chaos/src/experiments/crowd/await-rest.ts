import type { SessionStore } from "@loopwright/core/ports";
import type { World } from "../../world/world.ts";
import type { Place } from "./crowd.ts";

/** I10: so long after the last fault everything rests. */
const restMs = 60_000;
/** Consecutive `idle` answers, each of a random node: a node that was cut off may not have read yet what another node has accepted. */
const idleAnswers = 10;

/** I10: the sessions that do not come to rest in time, by the answers of the nodes. */
export async function awaitRest<Seat extends Pick<Place, "id" | "tenant">>(
  world: World,
  places: readonly Seat[],
): Promise<readonly Seat[]> {
  const until = performance.now() + restMs;
  let open = places;
  const inARow = new Map<Seat, number>();
  while (open.length > 0 && performance.now() < until) {
    const rests = await Promise.all(open.map((place) => rested(world, place)));
    for (const [index, place] of open.entries()) inARow.set(place, rests[index] ? (inARow.get(place) ?? 0) + 1 : 0);
    open = open.filter((place) => (inARow.get(place) ?? 0) < idleAnswers);
    if (open.length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return open;
}

async function rested(world: World, { id, tenant: { headers } }: Pick<Place, "id" | "tenant">): Promise<boolean> {
  try {
    const url = `${world.pick(Math.random)}/api/sessions/${id}`;
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(5_000) });
    const { status } = (await response.json()) as { readonly status?: string };
    return status === "idle";
  } catch {
    return false;
  }
}

/** How the log of a session ends that should rest and does not. */
export async function notifyTail(store: SessionStore, { id, tenant: { scope } }: Pick<Place, "id" | "tenant">): Promise<string> {
  const ref = { scope, session: id };
  const facts = await store.log.read(ref);
  const { lease, epoch } = await store.log.head(ref);
  const tail = facts.slice(-6).map((fact) => `${fact.seq} ${fact.type}${"runId" in fact ? ` ${fact.runId.slice(-4)}` : ""}`);
  return `I10: session ${id} does not rest: ${tail.join(", ")}; epoch ${epoch}, ${lease ? `held by ${lease.node}` : "held by no node"}`;
}
