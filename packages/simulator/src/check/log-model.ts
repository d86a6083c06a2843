/*
 * Owns: a naive model of a log, written independently of core's fold: an error is missed only if both have the same error.
 */
import type { Fact, FactOf } from "@loopwright/core";
import { backgroundIn } from "../world/background-in.ts";

export interface CallModel {
  readonly callKey: string;
  readonly name: string;
  readonly turn: number;
  readonly starts: readonly FactOf<"tool.started">[];
  /** Facts that close it: `tool.finished` or `client.answered`. */
  readonly ends: readonly (FactOf<"tool.finished"> | FactOf<"client.answered">)[];
  readonly isAsked: boolean;
}

export interface RunModel {
  readonly runId: string;
  readonly started: readonly FactOf<"run.started">[];
  readonly finished: readonly FactOf<"run.finished">[];
  readonly aborts: readonly FactOf<"abort.requested">[];
  readonly modelStarts: readonly FactOf<"model.started">[];
  readonly modelEnds: readonly (FactOf<"model.finished"> | FactOf<"model.failed">)[];
  readonly calls: ReadonlyMap<string, CallModel>;
}

export interface LogModel {
  readonly inputs: readonly FactOf<"input.accepted">[];
  readonly runs: ReadonlyMap<string, RunModel>;
  readonly isClosed: boolean;
  /** Why an owner still has work to do; `undefined` when the session rests or waits for people or clients only. */
  readonly owed: string | undefined;
  /** All that is owed is the report of a child in the background: there is nothing to do for an owner before that child has ended. */
  readonly awaitsReport: boolean;
  /** Calls that wait for a client or a decision. */
  readonly waiting: readonly string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? U[] : T[K] };
type OpenCall = Mutable<CallModel>;
type OpenRun = Omit<Mutable<RunModel>, "calls"> & { readonly calls: Map<string, OpenCall> };

export function readLog(facts: readonly Fact[]): LogModel {
  const runs = new Map<string, OpenRun>();
  const inputs = facts.filter((fact) => fact.type === "input.accepted");
  const runOf = (runId: string): OpenRun => {
    const known = runs.get(runId);
    if (known) return known;
    const fresh: OpenRun = { runId, started: [], finished: [], aborts: [], modelStarts: [], modelEnds: [], calls: new Map() };
    runs.set(runId, fresh);
    return fresh;
  };
  for (const fact of facts) if (isOfRun(fact)) take(runOf(fact.runId), fact);
  const isClosed = facts.some(({ type }) => type === "session.closed");
  const open = [...runs.values()].filter(({ started, finished }) => started.length > 0 && finished.length === 0);
  const waiting = open.flatMap(({ calls }) => [...calls.values()].filter(isWaiting).map(({ callKey }) => callKey));
  const work = whatIsOwed(inputs, runs, open);
  const report = open.length > 0 ? undefined : owedReport(facts);
  const owed = isClosed ? undefined : (work ?? report);
  return { inputs, runs, isClosed, owed, awaitsReport: owed !== undefined && work === undefined, waiting };
}

type RunFact = Extract<Fact, { readonly runId: string }>;

const isOfRun = (fact: Fact): fact is RunFact => fact.type !== "input.accepted" && "runId" in fact && fact.runId !== undefined;

function take(run: OpenRun, fact: RunFact): void {
  switch (fact.type) {
    case "run.started":
      run.started.push(fact);
      return;
    case "run.finished":
      run.finished.push(fact);
      return;
    case "abort.requested":
      run.aborts.push(fact);
      return;
    case "model.started":
      run.modelStarts.push(fact);
      return;
    case "model.finished":
      run.modelEnds.push(fact);
      for (const part of fact.message.content) {
        if (part.type !== "tool_call") continue;
        const { callKey, name } = part;
        if (!run.calls.has(callKey)) run.calls.set(callKey, { callKey, name, turn: fact.turn, starts: [], ends: [], isAsked: false });
      }
      return;
    case "model.failed":
      run.modelEnds.push(fact);
      return;
    case "tool.started":
      run.calls.get(fact.callKey)?.starts.push(fact);
      return;
    case "tool.finished":
    case "client.answered":
      run.calls.get(fact.callKey)?.ends.push(fact);
      return;
    case "client.requested":
      for (const callKey of fact.callKeys) setAsked(run, callKey, true);
      return;
    case "approval.requested":
      setAsked(run, fact.callKey, true);
      return;
    case "approval.decided":
      setAsked(run, fact.callKey, false);
      return;
    default:
      return;
  }
}

function setAsked(run: OpenRun, callKey: string, isAsked: boolean): void {
  const call = run.calls.get(callKey);
  if (call) call.isAsked = isAsked;
}

const isWaiting = ({ ends, isAsked }: OpenCall): boolean => ends.length === 0 && isAsked;

/** A run of its own has ended, or a model call of the run that it joined has seen it. */
function isAnswered(input: FactOf<"input.accepted">, runs: ReadonlyMap<string, OpenRun>): boolean {
  const hasEnded = (runId: string): boolean => (runs.get(runId)?.finished.length ?? 0) > 0;
  if (input.mode !== "steer") return hasEnded(input.runId);
  const hasJoined = runs.get(input.runId)?.modelStarts.some(({ seq }) => seq > input.seq) ?? false;
  return hasEnded(input.inputId) || (hasJoined && hasEnded(input.runId));
}

function owedReport(facts: readonly Fact[]): string | undefined {
  const ended = new Set(facts.flatMap((fact) => (fact.type === "child.finished" ? fact.session : [])));
  const open = [...backgroundIn(facts)].find((session) => !ended.has(session));
  return open === undefined ? undefined : `the child ${open} in the background has no report`;
}

function whatIsOwed(
  inputs: readonly FactOf<"input.accepted">[],
  runs: ReadonlyMap<string, OpenRun>,
  open: readonly OpenRun[],
): string | undefined {
  for (const run of open) {
    const unsettled = [...run.calls.values()].filter(({ ends }) => ends.length === 0);
    const isUnderWay = run.modelStarts.length > run.modelEnds.length;
    const waitsOnly = unsettled.length > 0 && unsettled.every(isWaiting) && run.aborts.length === 0 && !isUnderWay;
    if (!waitsOnly) return `run ${run.runId} is open`;
  }
  if (open.length > 0) return undefined;
  for (const input of inputs) {
    if (!isAnswered(input, runs)) return `input ${input.inputId} has no run`;
  }
  return undefined;
}
