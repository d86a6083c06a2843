import type { Fact } from "@loopwright/core";
import { backgroundIn } from "../world/background-in.ts";
import { holdsHalfPair } from "../world/request-flaw.ts";
import type { Claim } from "./finding.ts";
import type { CallModel, LogModel, RunModel } from "./log-model.ts";

/** Checks what holds of every log: I2, I4, I6, I7, I9. `isOver`: no more facts will come. */
export function checkLog(
  facts: readonly Fact[],
  model: LogModel,
  { claim, isOver }: { readonly claim: Claim; readonly isOver: boolean },
): void {
  checkNumbers(facts, claim);
  checkEpochs(facts, claim);
  checkKeys(model, claim);
  for (const fact of facts) claim(!holdsHalfPair(fact), "I6", () => `fact ${fact.seq} (${fact.type}) holds half a surrogate pair`);
  for (const run of model.runs.values()) checkRun(run, facts, { claim, isOver });
}

function checkNumbers(facts: readonly Fact[], claim: Claim): void {
  for (const [at, { seq, type }] of facts.entries()) claim(seq === at + 1, "I2", () => `fact ${at + 1} (${type}) has the number ${seq}`);
}

function checkEpochs(facts: readonly Fact[], claim: Claim): void {
  let highest = 0;
  for (const { epoch, seq, type } of facts) {
    if (epoch === undefined) continue;
    claim(epoch >= highest, "I9", () => `fact ${seq} (${type}) of epoch ${epoch} after epoch ${highest}`);
    claim(epoch <= highest || type === "owner.claimed", "I9", () => `epoch ${epoch} begins with fact ${seq} (${type}) and no claim`);
    highest = Math.max(highest, epoch);
  }
}

/** I9: after a claim no fact is written under an older epoch. */
export function checkFences(
  facts: readonly Fact[],
  claims: readonly { readonly epoch: number; readonly lastSeq: number }[],
  claim: Claim,
): void {
  for (const { epoch: claimed, lastSeq } of claims) {
    const late = facts.find(({ epoch, seq }) => epoch !== undefined && epoch < claimed && seq > lastSeq);
    claim(late === undefined, "I9", () => `fact ${late?.seq} of epoch ${late?.epoch} was written after epoch ${claimed} was claimed`);
  }
}

function checkKeys({ inputs }: LogModel, claim: Claim): void {
  const seen = new Map<string, number>();
  for (const { idempotencyKey, seq } of inputs) {
    if (idempotencyKey === undefined) continue;
    const before = seen.get(idempotencyKey);
    claim(before === undefined, "I1", () => `the key ${idempotencyKey} was accepted at ${before} and at ${seq}`);
    seen.set(idempotencyKey, seq);
  }
}

function checkRun(run: RunModel, facts: readonly Fact[], { claim, isOver }: { readonly claim: Claim; readonly isOver: boolean }): void {
  const { runId, started, finished, aborts, modelStarts, modelEnds, calls } = run;
  claim(started.length <= 1, "I1", () => `run ${runId} was started ${started.length} times`);
  claim(finished.length <= 1, "I8", () => `run ${runId} was finished ${finished.length} times`);
  if (isOver && started.length > 0) claim(finished.length === 1, "I10", () => `run ${runId} was not finished`);
  const end = finished[0]?.seq ?? Number.POSITIVE_INFINITY;
  // A child in the background may get its input after the run that linked it.
  const background = backgroundIn(facts);
  const mayBeLate = (fact: Fact): boolean =>
    fact.type === "input.accepted" || (fact.type === "child.waiting" && background.has(fact.session));
  const late = facts.find((fact) => fact.seq > end && "runId" in fact && fact.runId === runId && !mayBeLate(fact));
  claim(late === undefined, "I4", () => `fact ${late?.seq} (${late?.type}) of run ${runId} after its end`);
  const begun = started[0]?.seq ?? Number.POSITIVE_INFINITY;
  const abort = aborts.find(({ seq }) => seq > begun && seq < end)?.seq;
  if (abort !== undefined) {
    const after = [...modelStarts, ...[...calls.values()].flatMap(({ starts }) => starts)].find(({ seq }) => seq > abort);
    claim(after === undefined, "I8", () => `fact ${after?.seq} (${after?.type}) of run ${runId} after its abort`);
    claim(
      finished.every(({ status }) => status === "aborted"),
      "I8",
      () => `run ${runId} was aborted and ended as ${finished[0]?.status}`,
    );
  }
  checkAttempts(run, claim);
  claim(modelEnds.length <= modelStarts.length, "I7", () => `run ${runId} has more ends of model calls than starts`);
  for (const call of calls.values()) checkCall(call, run, claim);
}

/** Codes of attempts that ended with their process: they are not failures of the model. */
const cutOff: ReadonlySet<string> = new Set(["CRASHED", "HANDED_OVER"]);

/** Each attempt once, in order, and no more failures than are allowed. */
function checkAttempts({ runId, started, modelStarts, modelEnds }: RunModel, claim: Claim): void {
  const seen = new Set<string>();
  for (const { turn, attempt, seq } of modelStarts) {
    claim(!seen.has(`${turn}.${attempt}`), "I7", () => `attempt ${attempt} of turn ${turn} of run ${runId} begins again at ${seq}`);
    seen.add(`${turn}.${attempt}`);
  }
  const finished = modelEnds.filter(({ type }) => type === "model.finished");
  const turns = new Set(finished.map(({ turn }) => turn));
  claim(turns.size === finished.length, "I7", () => `a turn of run ${runId} has two answers`);
  const most = started[0]?.limits.attemptsMax ?? Number.POSITIVE_INFINITY;
  const failures = new Map<number, number>();
  for (const end of modelEnds) {
    if (end.type === "model.failed" && !cutOff.has(end.failure.code)) failures.set(end.turn, (failures.get(end.turn) ?? 0) + 1);
  }
  for (const [turn, count] of failures)
    claim(count <= most, "I7", () => `turn ${turn} of run ${runId} failed ${count} times, ${most} are allowed`);
}

function checkCall({ callKey, starts, ends, turn }: CallModel, run: RunModel, claim: Claim): void {
  claim(ends.length <= 1, "I4", () => `the call ${callKey} was closed ${ends.length} times`);
  const attempts = starts.map(({ attempt }) => attempt);
  claim(new Set(attempts).size === attempts.length, "I4", () => `the call ${callKey} has an attempt twice: ${attempts.join()}`);
  const isOnce = starts.some(({ replay }) => replay === "once");
  claim(!isOnce || starts.length <= 1, "I5", () => `the call ${callKey} of class once was started ${starts.length} times`);
  const keys = new Set(starts.map(({ idempotencyKey }) => idempotencyKey));
  claim(keys.size <= 1, "I5", () => `the call ${callKey} has ${keys.size} idempotency keys`);
  const end = ends[0]?.seq ?? Number.POSITIVE_INFINITY;
  claim(
    starts.every(({ seq }) => seq < end),
    "I4",
    () => `the call ${callKey} was started after its end`,
  );
  const isAnswered = run.modelStarts.some((start) => start.turn > turn) || run.finished.length > 0;
  claim(!isAnswered || ends.length === 1, "I4", () => `the run continued without a result of the call ${callKey}`);
}
