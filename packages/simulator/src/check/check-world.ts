import { callsOf, createSession, type DurableEvent, type Message, readHistory } from "@loopwright/core";
import type { SimulatedClient } from "../people/simulated-client.ts";
import { factsOf } from "../world/simulated-store.ts";
import type { World } from "../world/simulated-world.ts";
import { checkAcknowledged } from "./check-acknowledged.ts";
import { checkDeadlines } from "./check-deadlines.ts";
import { checkHandOvers } from "./check-hand-overs.ts";
import { checkHosts } from "./check-hosts.ts";
import { checkLog } from "./check-log.ts";
import { checkOpening } from "./check-opening.ts";
import { checkRecording } from "./check-recordings.ts";
import { checkRuns } from "./check-runs.ts";
import { checkSchedules } from "./check-schedules.ts";
import { checkTree } from "./check-tree.ts";
import { checkWitness } from "./check-witness.ts";
import { claimsInto, type Finding } from "./finding.ts";
import { readLog } from "./log-model.ts";

export interface WorldToCheck {
  readonly world: World;
  readonly clients: readonly SimulatedClient[];
  readonly options: { readonly calm: boolean; readonly leaseMs: number };
  /** True if the world rests, so that everything must be complete. */
  readonly isOver: boolean;
}

/** The time beyond the lease of an unreachable owner for the grace period of an abort and for the store. */
const abortGraceMs = 16_000;
const calmAbortMs = 1_000;

/** All failures of a world: compares the logs, the events and acknowledgements of clients, and the records of the world. */
export async function checkWorld({ world, clients, options, isOver }: WorldToCheck): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const abortMs = options.calm ? calmAbortMs : options.leaseMs + abortGraceMs;
  for (const session of new Set(clients.map((client) => client.session))) {
    const ref = { scope: world.scope, session };
    const facts = await factsOf(world.store, ref);
    const model = readLog(facts);
    const claim = claimsInto(findings, session);
    checkLog(facts, model, { claim, isOver });
    checkOpening({ world, session, facts, model, claim });
    const hasTrueClocks = world.everyHost.every(({ node }) => node.hasTrueClock);
    if (hasTrueClocks) checkDeadlines(facts, claim);
    checkSchedules(facts, { claim, hasTrueClocks });
    checkWitness({ world, session, facts, model, claim, abortMs });
    const notified: DurableEvent[] = [];
    for await (const events of readHistory(world.store.truth, ref)) notified.push(...events);
    for (const client of clients) {
      if (client.session !== session) continue;
      checkAcknowledged(client, { facts, model, claim });
      if (isOver) checkRecording(client, notified, claim);
    }
    if (isOver) await checkStates(world, session, { findings, notified });
    checkHandOvers({ world, session, facts, model, claim });
    await checkTree({ world, session, facts, findings, isOver });
  }
  await checkHosts(world, { findings, isOver });
  return findings;
}

/** The first result that is not in the order of the calls of its message. */
function resultDisorder(messages: readonly Message[]): string | undefined {
  let owed: readonly string[] = [];
  for (const message of messages) {
    if (message.role === "assistant") owed = callsOf(message).map(({ callKey }) => callKey);
    if (message.role !== "tool_result") continue;
    const [next, ...rest] = owed;
    if (message.callKey !== next) return `the result of ${message.callKey} where that of ${next} belongs`;
    owed = rest;
  }
  return undefined;
}

/** I15: all handles that have read the whole log have the same state, however they got it. */
async function checkStates(
  world: World,
  session: string,
  { findings, notified }: { readonly findings: Finding[]; readonly notified: readonly DurableEvent[] },
): Promise<void> {
  const claim = claimsInto(findings, session);
  const access = { user: "checker", scope: world.scope };
  const fresh = await createSession({ agent: world.agent, id: session, store: world.store.truth, access, drives: false }).ready();
  const should = JSON.stringify(fresh.snapshot());
  const disorder = resultDisorder(fresh.messages);
  claim(disorder === undefined, "I4", () => `the transcript has ${disorder}`);
  await checkRuns(fresh, notified, claim);
  for (const { node, loaded } of world.hosts) {
    if (node.state === "dead") continue;
    for (const { session: handle } of loaded) {
      if (handle.id !== session || handle.lastSeq !== fresh.lastSeq) continue;
      claim(JSON.stringify(handle.snapshot()) === should, "I15", () => `${node.name} has another state than the log gives`);
    }
  }
}
