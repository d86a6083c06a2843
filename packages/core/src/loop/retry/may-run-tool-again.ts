import { policyOfShown } from "../facts/tool-policy.ts";
import type { Call, Run } from "../state.ts";

/**
 * True if a call that was cut off may run again: never for a tool of class `once`, otherwise up to `toolAttemptsMax` attempts. A call with an open child may
 * always run again: it attaches to the child, which limits its own attempts.
 */
export function mayRunToolAgain(run: Run, call: Call): boolean {
  const policy = policyOfShown(run, call.part.name);
  if (policy === undefined || policy.replay === "once") return false;
  if (run.children?.some(({ callKey, isDone, background }) => callKey === call.part.callKey && !isDone && !background)) return true;
  return call.attempt - (call.suspensions ?? 0) < run.limits.toolAttemptsMax;
}
