import { failureOf } from "../../errors.ts";
import type { BodyOf, FactBody, WaitingCall } from "../../loop/fact.ts";
import { endsKeyed } from "../../loop/fold-calls.ts";
import type { State } from "../../loop/state.ts";
import type { ChildResult } from "../../tools/child-agent.ts";

/** The call, or the run, that a child belongs to. */
export interface ChildPlace {
  readonly runId: string;
  /** Absent: a hook starts the child. */
  readonly callKey?: string;
}

/** The fact of the end of a child; none if the run does not wait for the child any more. */
export function endFactsOf(state: State, place: ChildPlace, result: ChildResult): readonly FactBody[] {
  const ended = bodyOf(place, result);
  return endsKeyed(state, { ...ended, seq: 0, at: 0, v: 2 }) ? [ended] : [];
}

type ChildEnd = Pick<ChildResult, "session" | "status" | "usage" | "cost" | "toolCallCount" | "error">;

/** The fact of the end of a child, without its answer, which is in the log of the child. */
export function bodyOf(place: ChildPlace, { session, status, usage, cost, toolCallCount, error }: ChildEnd): BodyOf<"child.finished"> {
  const outcome = status === "completed" ? "ok" : status === "failed" ? "error" : "aborted";
  const spent = { ...(usage ? { usage } : {}), ...(cost ? { cost } : {}), ...(toolCallCount > 0 ? { toolCallCount } : {}) };
  const failure = error ? { failure: failureOf(error) } : {};
  return { type: "child.finished", ...place, session, outcome, output: [], ...failure, ...spent };
}

export interface ChildReport {
  readonly id: string;
  readonly waits: readonly WaitingCall[];
  readonly rests: boolean;
}

/** The fact of what the child waits for; none if the log has it. A report is ignored if an answer to one of its calls is on the way to the child. */
export function waitingOf(state: State, place: ChildPlace, { id, waits, rests: isResting }: ChildReport): readonly FactBody[] {
  const { run } = state;
  const child = run?.children?.find(({ session }) => session === id);
  if (!run || !child || child.isDone || waits.some(({ callKey }) => child.answers?.some((answer) => answer.callKey === callKey))) return [];
  const call = run.calls.find(({ part }) => part.callKey === place.callKey);
  const isAlone = run.children?.every((other) => other === child || other.isDone || other.callKey !== place.callKey);
  const leaves = isResting && isAlone === true && call?.state === "running";
  if (!leaves && JSON.stringify(child.waits ?? []) === JSON.stringify(waits)) return [];
  return [{ type: "child.waiting", ...place, session: id, waits, ...(leaves ? { rests: true } : {}) }];
}
