import type { Call, State } from "../../loop/state.ts";

/** A lane whose opening fact is in the state and whose closing fact is not. */
export interface OpenLane {
  readonly lane: number;
  /** Absent for the lane of an answer. */
  readonly call?: Call;
}

/** Every open lane: the answer's first, then those of tools in call order. */
export function openLanes({ run }: State): readonly OpenLane[] {
  if (!run) return [];
  const tools = run.calls.flatMap((call) => (call.state === "running" && call.lane !== undefined ? [{ lane: call.lane, call }] : []));
  return run.open ? [{ lane: run.open.lane }, ...tools] : tools;
}
