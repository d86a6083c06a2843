import { policyOfShown } from "../facts/tool-policy.ts";
import type { Call, Run } from "../state.ts";

/**
 * True if a call that was cut off may run again: not for a tool of class `once`, and as often as `toolAttemptsMax` permits. A call that has a child attaches to it however often its process has died: what the child does has attempts of its own.
 */
export function mayRunToolAgain(run: Run, call: Call): boolean {
  const policy = policyOfShown(run, call.part.name);
  if (policy === undefined || policy.replay === "once") return false;
  if (run.children?.some(({ callKey, isDone, background }) => callKey === call.part.callKey && !isDone && !background)) return true;
  return call.attempt - (call.suspensions ?? 0) < run.limits.toolAttemptsMax;
}
