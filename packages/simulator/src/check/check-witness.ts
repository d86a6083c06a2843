import type { Fact, FactOf } from "@loopwright/core";
import type { World } from "../world/simulated-world.ts";
import type { ToolStart } from "../world/witness.ts";
import { checkFences } from "./check-log.ts";
import type { Claim } from "./finding.ts";
import type { LogModel } from "./log-model.ts";

export interface WitnessScene {
  readonly world: World;
  readonly session: string;
  readonly facts: readonly Fact[];
  readonly model: LogModel;
  readonly claim: Claim;
  /** How long a connection of a run may stay open after the run's abort is in the log. */
  readonly abortMs: number;
}

/** Compares the witnessed side effects with the log: I5, I6, I7, I8, and that no process acts for a session that it has lost. */
export function checkWitness(scene: WitnessScene): void {
  const { world, session, model, claim } = scene;
  const starts = world.witness.tools.filter((start) => start.session === session);
  const byCall = Map.groupBy(starts, ({ callKey }) => callKey);
  for (const run of model.runs.values())
    for (const call of run.calls.values()) checkTool(call.starts, byCall.get(call.callKey) ?? [], { ...scene, end: call.ends[0] });
  const known = new Set([...model.runs.values()].flatMap(({ calls }) => [...calls.keys()]));
  for (const { callKey } of starts) claim(known.has(callKey), "I5", () => `the tool of ${callKey} ran, and no message asks for it`);
  checkModels(scene);
  checkAborts(scene);
  checkTakeOvers(scene);
}

interface ToolScene extends WitnessScene {
  readonly end: FactOf<"tool.finished"> | FactOf<"client.answered"> | undefined;
}

function checkTool(intents: readonly FactOf<"tool.started">[], seen: readonly ToolStart[], scene: ToolScene): void {
  const { world, session, claim, end } = scene;
  const ref = { scope: world.scope, session };
  for (const start of seen) {
    const intent = intents.find(({ attempt }) => attempt === start.attempt);
    claim(intent !== undefined, "I5", () => `attempt ${start.attempt} of ${start.callKey} ran without an intent in the log`);
    if (!intent) continue;
    const writtenAtMs = world.store.writtenAtMs(ref, intent.seq);
    claim(writtenAtMs <= start.atMs, "I5", () => `${start.callKey} ran at ${start.atMs}, before its intent was in the log`);
    checkOwner(scene, { node: start.node, epoch: intent.epoch ?? 0, atMs: start.atMs, what: `the tool of ${start.callKey}` });
  }
  const perAttempt = new Set(seen.map(({ attempt }) => attempt));
  claim(perAttempt.size === seen.length, "I5", () => `an attempt of ${seen[0]?.callKey} ran twice`);
  if (intents.some(({ replay }) => replay === "once")) {
    claim(seen.length <= 1, "I5", () => `${seen[0]?.callKey} of class once ran ${seen.length} times`);
  }
  if (end?.type !== "tool.finished" || end.outcome !== "ok") return;
  const done = seen.filter(({ outcome }) => outcome === "ok");
  claim(done.length > 0, "I5", () => `the log records that ${end.callKey} was done, and no witness saw it`);
}

/** A process begins no effect after another process has claimed the session. */
function checkOwner(
  { world, session, claim }: WitnessScene,
  { node, epoch, atMs, what }: { readonly node: string; readonly epoch: number; readonly atMs: number; readonly what: string },
): void {
  const newer = world.store.claims.find((one) => one.session === session && one.epoch > epoch && one.node !== node && one.atMs < atMs);
  claim(newer === undefined, "I9", () => `${node} began ${what} in epoch ${epoch}, after ${newer?.node} had claimed epoch ${newer?.epoch}`);
}

function checkModels(scene: WitnessScene): void {
  const { world, session, facts, claim } = scene;
  const calls = world.witness.models.filter((call) => call.session === session);
  const starts = facts.filter((fact) => fact.type === "model.started");
  claim(calls.length <= starts.length, "I7", () => `${calls.length} model calls, and ${starts.length} in the log`);
  for (const { flaw, atMs } of calls) claim(flaw === undefined, "I6", () => `a vendor would refuse the request at ${atMs}: ${flaw}`);
  const ref = { scope: world.scope, session };
  const free = new Set(starts);
  for (const call of calls) {
    // The intent of the effect: the newest fact of that attempt that was in the log at that moment.
    const intent = starts.findLast(
      (fact) => free.has(fact) && fact.attempt === call.attempt && world.store.writtenAtMs(ref, fact.seq) <= call.atMs,
    );
    claim(intent !== undefined, "I7", () => `a model call at ${call.atMs} without an intent in the log`);
    if (!intent) continue;
    free.delete(intent);
    checkOwner(scene, { node: call.node, epoch: intent.epoch ?? 0, atMs: call.atMs, what: `the model call of fact ${intent.seq}` });
  }
}

/** How long an owner that has lost its lease in time may take to close what it has open. */
const closingMs = 300;

/** I9: an owner that was replaced writes nothing after the claim and closes its open effects, unless its process is paused. */
function checkTakeOvers({ world, session, facts, claim }: WitnessScene): void {
  const claims = world.store.claims.filter((one) => one.session === session);
  checkFences(facts, claims, claim);
  for (const claimed of claims) {
    for (const call of world.witness.models) {
      if (call.session !== session || call.node === claimed.node || call.atMs > claimed.atMs) continue;
      const openMs = (call.closedAtMs ?? world.time.nowMs) - claimed.atMs;
      const wasPaused = pausedUntilMs(world, call.node) > claimed.atMs;
      claim(
        wasPaused || openMs <= closingMs,
        "I9",
        () => `${call.node} had a connection open ${Math.round(openMs)} ms after ${claimed.node} claimed`,
      );
    }
  }
}

/** When the process last resumed after a pause; 0 without a pause. */
function pausedUntilMs({ everyHost }: World, name: string): number {
  return everyHost.find(({ node }) => node.name === name)?.node.lastPause?.toMs ?? 0;
}

/** I8: an aborted run has no open connection after the grace period. */
function checkAborts({ world, session, model, claim, abortMs }: WitnessScene): void {
  const ref = { scope: world.scope, session };
  for (const { aborts, started, runId } of model.runs.values()) {
    const abort = aborts.find(({ seq }) => seq > (started[0]?.seq ?? Number.POSITIVE_INFINITY));
    if (!abort) continue;
    const abortedAtMs = world.store.writtenAtMs(ref, abort.seq);
    for (const call of world.witness.models) {
      if (call.session !== session || call.atMs > abortedAtMs) continue;
      const wasPaused = pausedUntilMs(world, call.node) > abortedAtMs;
      const openMs = (call.closedAtMs ?? world.time.nowMs) - abortedAtMs;
      claim(
        wasPaused || openMs <= abortMs,
        "I8",
        () => `a connection of run ${runId} was open for ${Math.round(openMs)} ms after its abort`,
      );
    }
  }
}
