/*
 * Owns: which row of the recovery table a crash belongs to, read from the log at that moment, and what that row demands of the rest of the log.
 */
import type { Fact, FactOf } from "@loopwright/core";
import type { Claim } from "../check/finding.ts";
import { type CallModel, type RunModel, readLog } from "../check/log-model.ts";

/** Rows of the recovery table that a log can show; rows that share a log share a name. */
export type RecoveryRow = "1-2" | "3-5" | "6" | "7-9" | "10-11" | "12-13,16" | "14" | "15" | "17" | "18" | "19-20" | "21" | "23" | "27";

interface Scene {
  readonly run: RunModel | undefined;
  /** Facts after the crash. */
  readonly after: readonly Fact[];
  readonly before: readonly Fact[];
  readonly claim: Claim;
}

/** The row of a crash after these facts. */
function rowOf(before: readonly Fact[]): RecoveryRow {
  const { inputs, runs } = readLog(before);
  const run = openRun(runs);
  if (inputs.length === 0) return "1-2";
  if (!run) return inputs.every(({ runId, inputId }) => hasEnded(runs, runId) || hasEnded(runs, inputId)) ? "27" : "3-5";
  if (run.aborts.length > 0) return "23";
  if (run.modelStarts.length === 0) return "6";
  if (run.modelStarts.length > run.modelEnds.length) return "7-9";
  const turn = Math.max(...run.modelStarts.map((start) => start.turn));
  const calls = [...run.calls.values()].filter((call) => call.turn === turn);
  const open = calls.filter(({ ends }) => ends.length === 0);
  const started = open.filter(({ starts }) => starts.length > 0);
  if (started.length > 0) return open.length < calls.length ? "17" : rowOfStarted(started[0]);
  if (open.some(({ isAsked }) => isAsked)) return "19-20";
  if (before.some((fact) => fact.type === "approval.decided" && open.some(({ callKey }) => callKey === fact.callKey))) return "21";
  return open.some(({ name }) => name.startsWith("asks")) ? "18" : "10-11";
}

function rowOfStarted(call: CallModel | undefined): RecoveryRow {
  const replay = call?.starts[0]?.replay;
  return replay === "idempotent" ? "14" : replay === "pure" ? "15" : "12-13,16";
}

const hasEnded = (runs: ReadonlyMap<string, RunModel>, runId: string): boolean => (runs.get(runId)?.finished.length ?? 0) > 0;

const openRun = (runs: ReadonlyMap<string, RunModel>): RunModel | undefined =>
  [...runs.values()].find(({ started, finished }) => started.length > 0 && finished.length === 0);

/** What the row demands: claims named `R<row>`. */
export function checkRow(before: readonly Fact[], facts: readonly Fact[], claim: Claim): RecoveryRow {
  const row = rowOf(before);
  const scene: Scene = { run: openRun(readLog(before).runs), before, after: facts.slice(before.length), claim };
  checkModelCalls(row, scene);
  checkCalls(row, scene);
  if (row === "23") checkAborted(scene);
  if (row === "3-5" || row === "1-2") {
    const started = new Set(facts.flatMap((fact) => (fact.type === "run.started" ? [fact.runId] : [])));
    claim(started.size > 0, `R${row}`, () => "the input was never run");
  }
  return row;
}

/** An attempt that was cut off is closed as crashed and made again; an answer that is in the log is never asked for again. */
function checkModelCalls(row: RecoveryRow, { run, after, claim }: Scene): void {
  if (!run) return;
  const ended = new Set(run.modelEnds.flatMap((end) => (end.type === "model.finished" ? [end.turn] : [])));
  const again = ofRun(after, run, "model.started").find(({ turn }) => ended.has(turn));
  claim(again === undefined, `R${row}`, () => `turn ${again?.turn} was answered, and was asked for again at ${again?.seq}`);
  if (row !== "7-9") return;
  const cut = run.modelStarts.at(-1);
  const end = [...ofRun(after, run, "model.failed"), ...ofRun(after, run, "model.finished")].find(
    (fact) => fact.turn === cut?.turn && fact.attempt === cut.attempt,
  );
  claim(end !== undefined, "R7-9", () => `attempt ${cut?.attempt} of turn ${cut?.turn} was never closed`);
}

function checkCalls(row: RecoveryRow, { run, after, claim }: Scene): void {
  for (const call of run?.calls.values() ?? []) {
    const { callKey, starts, ends } = call;
    const later = after.filter((fact): fact is FactOf<"tool.started"> => fact.type === "tool.started" && fact.callKey === callKey);
    const end = after.find((fact): fact is FactOf<"tool.finished"> => fact.type === "tool.finished" && fact.callKey === callKey);
    if (ends.length > 0) {
      claim(later.length === 0 && end === undefined, `R${row}`, () => `the call ${callKey} had ended, and was taken up again`);
      continue;
    }
    const [first] = starts;
    if (!first) continue;
    if (first.replay === "once") claim(later.length === 0, `R${row}`, () => `the call ${callKey} of class once was started again`);
    for (const start of later) {
      claim(start.idempotencyKey === first.idempotencyKey, `R${row}`, () => `the call ${callKey} was started again under another key`);
      claim(start.attempt > first.attempt, `R${row}`, () => `the call ${callKey} was started again as attempt ${start.attempt}`);
    }
    claim(end !== undefined, `R${row}`, () => `the call ${callKey} has no result`);
  }
}

function checkAborted({ run, after, claim }: Scene): void {
  if (!run) return;
  const begun = [...ofRun(after, run, "model.started"), ...ofRun(after, run, "tool.started")];
  claim(begun.length === 0, "R23", () => `something was begun for run ${run.runId} after its abort`);
  const end = ofRun(after, run, "run.finished")[0];
  claim(end?.status === "aborted", "R23", () => `run ${run.runId} was aborted and ended as ${end?.status}`);
}

function ofRun<T extends "model.started" | "model.failed" | "model.finished" | "tool.started" | "run.finished">(
  facts: readonly Fact[],
  { runId }: RunModel,
  type: T,
): readonly FactOf<T>[] {
  return facts.filter((fact): fact is FactOf<T> => fact.type === type && "runId" in fact && fact.runId === runId);
}
