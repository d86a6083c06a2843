/*
 * Owns: the checks of a host's promises about the sessions of its process, except those about its end (check-hand-overs).
 *  H1 a session stays loaded while it is used or runs, and a worker loads none that another process holds;
 *  H2 a session without a user is evicted, and with it its subscriptions and its lease.
 */
import { factsOf } from "../world/simulated-store.ts";
import type { World } from "../world/simulated-world.ts";
import { claimsInto, type Finding } from "./finding.ts";
import { readLog } from "./log-model.ts";

/** `isOver`: all sessions have rested for longer than the idle time after which they are evicted. */
export async function checkHosts(
  world: World,
  { findings, isOver }: { readonly findings: Finding[]; readonly isOver: boolean },
): Promise<void> {
  const { record, hosts, store, channel, scope, time, leaseMs } = world;
  for (const { session, message } of record.flaws.slice(0, 3)) findings.push({ invariant: "H1", session, message });
  if (!isOver) return;
  for (const { node, loaded } of hosts) {
    if (node.state === "dead") continue;
    const kept = new Set([...loaded].map(({ ref }) => ref.session));
    for (const { ref, users } of loaded)
      claimsInto(findings, ref.session)(users > 0, "H2", () => `${node.name} keeps it loaded without a user`);
    for (const session of [...store.listensTo(node.name), ...channel.listensTo(node.name)])
      claimsInto(findings, session)(
        kept.has(session) || (await worksBelow(world, session)),
        "H2",
        () => `${node.name} listens for it, and has not loaded it`,
      );
    for (const session of new Set(store.claims.map((claim) => claim.session))) {
      const { lease } = await store.truth.log.head({ scope, session });
      const claimedAtMs = store.claims.findLast((claim) => claim.session === session)?.atMs ?? 0;
      // A claim whose answer came too late has no owner, and its lease expires. A lease in use is renewed.
      const isHeld = lease?.node === node.name && time.nowMs - claimedAtMs > leaseMs;
      claimsInto(findings, session)(!isHeld || kept.has(session), "H2", () => `${node.name} holds it, and has not loaded it`);
    }
  }
}

/** A child that its parent has stopped and not waited for may outlast the rest of the world, for example until the lease of a dead process is over. */
async function worksBelow({ store, scope }: World, session: string): Promise<boolean> {
  const facts = await factsOf(store, { scope, session });
  const isChild = facts.some((fact) => fact.type === "session.opened" && fact.parent !== undefined);
  return isChild && readLog(facts).owed !== undefined;
}
