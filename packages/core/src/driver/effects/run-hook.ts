/*
 * Owns: the calls of the hooks when a run begins and ends. Does not own: the facts of beginning and end (effects, the loop).
 */
import type { Agent } from "../../agent/agent.ts";
import type { HookContext, RunEnd } from "../../agent/hooks.ts";
import { hookFailed, type Reports } from "../setup/user-code-errors.ts";
import type { HookDeps } from "./hook-deps.ts";
import { HookRunner, type HookTrace, hookPlace } from "./hook-runner.ts";

/** True if a hook is called when a run begins. */
export const startsRuns = ({ hooks }: Agent): boolean => hooks.some(({ run }) => run?.start);
/** True if a hook is called when a run ends. */
export const endsRuns = ({ hooks }: Agent): boolean => hooks.some(({ run }) => run?.end);

/** Calls the hooks when a run begins. Resolves with what they add to the fact of the beginning; rejects with the error of a hook. */
export async function runStartHooks(asking: HookDeps, reports: Reports): Promise<HookTrace> {
  const asks = new HookRunner(asking, "run");
  try {
    for (const hooks of asking.agent.hooks) {
      if (!hooks.run?.start) continue;
      const verdict = (await hooks.run.start(asks.context(hooks))) ?? undefined;
      asks.take(hooks, verdict);
      asks.note(hooks, { action: verdict?.state ? "state" : "unchanged", reason: verdict?.reason });
    }
    return await asks.trace();
  } catch (error) {
    throw hookFailed(reports, asks.place("run.start"), error);
  }
}

/** Calls the hooks with the result of the run. Their errors are reported and change nothing. */
export async function runEndHooks(asking: HookDeps, result: RunEnd, reports: Reports): Promise<void> {
  const asks = new HookRunner(asking, "run");
  for (const hooks of asking.agent.hooks) {
    try {
      await hooks.run?.end?.({ ...asks.context(hooks), result } satisfies HookContext & { readonly result: RunEnd });
    } catch (error) {
      hookFailed(reports, hookPlace("run.end", hooks), error);
    }
  }
}
