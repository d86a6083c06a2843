/*
 * Owns: what becomes of a session when the process that runs it hands over.
 *  H3 a process does nothing after its hand-over has ended;
 *  H4 without faults a hand-over takes half a second, not the time of a lease: unfinished work has another owner by then, if there is one;
 *  H5 an effect that succeeds soon after its abort signal is in the log.
 */
import type { Fact } from "@loopwright/core";
import type { HandOver } from "../world/host-record.ts";
import { hookSlowestMs } from "../world/node-agent.ts";
import type { SimulatedHost } from "../world/simulated-host.ts";
import type { World } from "../world/simulated-world.ts";
import type { Claim } from "./finding.ts";
import { type LogModel, readLog } from "./log-model.ts";

export interface HandOverScene {
  readonly world: World;
  readonly session: string;
  readonly facts: readonly Fact[];
  readonly model: LogModel;
  readonly claim: Claim;
}

/** Requests of a process that runs something, or means to. A batch that was under way is asked for until it is known to be written, and then hinted at. */
const deeds: ReadonlySet<string> = new Set(["claim", "renew", "model-call", "tool-start", "due", "set-due"]);
/** The half second that effects have to end, how often it is looked, and the way to the store. */
const handOverMs = 700;
/** The way of a hint to its worker, and of the worker to a claim. */
const takeOverMs = 300;
/** An effect may end so long after the signal and be recorded, its hooks included; it is signalled within so long after the time to rest is over. */
const [graceMs, signalMs] = [400 - hookSlowestMs, 60];

export function checkHandOvers(scene: HandOverScene): void {
  const { world, claim } = scene;
  for (const handOver of world.record.handOvers) {
    const { node, endedAtMs, askedAtEnd, isCalm, beganAtMs, withinMs } = handOver;
    if (endedAtMs === undefined) {
      const openMs = world.time.nowMs - beganAtMs - withinMs;
      claim(!isCalm || openMs <= handOverMs, "H4", () => `${node} did not end its hand-over within ${Math.round(openMs)} ms`);
      continue;
    }
    const asked = world.everyHost.find((host) => host.node.name === node)?.node.asked.slice(askedAtEnd) ?? [];
    const deed = asked.find((kind) => deeds.has(kind));
    claim(deed === undefined, "H3", () => `${node} asks for ${deed} after its hand-over`);
    if (!isCalm) continue;
    const tookMs = endedAtMs - beganAtMs - withinMs;
    claim(tookMs <= handOverMs, "H4", () => `${node} took ${Math.round(tookMs)} ms longer to hand over than what runs was given`);
    checkNextOwner(scene, { ...handOver, endedAtMs });
    checkEnded(scene, handOver);
  }
}

function checkNextOwner(
  { world, session, facts, claim }: HandOverScene,
  { node, open, endedAtMs }: HandOver & { readonly endedAtMs: number },
): void {
  const { store, scope } = world;
  const claims = store.claims.filter((one) => one.session === session);
  const last = claims.findLast(({ atMs }) => atMs <= endedAtMs);
  if (last?.node !== node || !open.has(session)) return;
  const known = facts.filter(({ seq }) => store.writtenAtMs({ scope, session }, seq) <= endedAtMs);
  const wait = known.findLast((fact) => fact.type === "wait.scheduled");
  const isWaiting = wait !== undefined && wait.until > (known.at(-1)?.at ?? 0);
  const { owed, awaitsReport } = readLog(known);
  if (owed === undefined || awaitsReport || isWaiting) return;
  const bounds = world.everyHost.map((host) => ({ host, boundMs: takeOverMs + pauseOf(world, host) }));
  const free = bounds.filter(({ host, boundMs }) => isFree(world, host, { fromMs: endedAtMs, toMs: endedAtMs + boundMs }));
  const withinMs = Math.min(...free.map(({ boundMs }) => boundMs));
  if (free.length === 0) return;
  const next = claims.find(({ atMs }) => atMs > last.atMs);
  const afterMs = (next?.atMs ?? Number.POSITIVE_INFINITY) - endedAtMs;
  claim(afterMs <= withinMs, "H4", () => `the session that ${node} handed over had no owner for ${Math.round(afterMs)} ms`);
}

/** The longest pause between two sweeps. Without a queue it polls: more slowly while it finds nothing, where its log does not report appends. */
function pauseOf({ hosting, hasQueue }: World, { store }: SimulatedHost): number {
  if (hasQueue) return 0;
  return (store.log.subscribe ? hosting.pollMs : hosting.sweepMs) ?? 0;
}

/** Whether it may take any session all the time. */
function isFree(
  { record, hosting }: World,
  { node, role }: SimulatedHost,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): boolean {
  const leaves = record.handOvers.some((handOver) => handOver.node === node.name && handOver.beganAtMs < toMs);
  const lives = node.bornAtMs <= fromMs && (node.diedAtMs ?? Number.POSITIVE_INFINITY) > toMs;
  return role !== "server" && lives && !leaves && (hosting.workerSessions ?? 0) > 1;
}

function checkEnded({ world, session, model, claim }: HandOverScene, { node, beganAtMs, withinMs }: HandOver): void {
  const signalledAtMs = beganAtMs + withinMs + signalMs;
  for (const { callKey, attempt, notifiedAtMs, outcome, ...start } of world.witness.tools) {
    if (start.session !== session || start.node !== node || start.atMs > beganAtMs || outcome !== "ok") continue;
    if (notifiedAtMs === undefined || notifiedAtMs < beganAtMs || notifiedAtMs > signalledAtMs + graceMs) continue;
    const run = [...model.runs.values()].find(({ calls }) => calls.has(callKey));
    const call = run?.calls.get(callKey);
    if (!run || !call || run.aborts.length > 0) continue;
    const [end] = call.ends;
    const isAgain = call.starts.some((later) => later.attempt > attempt);
    const isKept = end?.type !== "tool.finished" || (end.outcome !== "interrupted" && end.outcome !== "expired");
    claim(isKept && !isAgain, "H5", () => `the call ${callKey} ended well while ${node} handed over, and its result is not in the log`);
  }
}
