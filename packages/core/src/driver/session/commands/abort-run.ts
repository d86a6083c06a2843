import type { FactBody } from "../../../loop/fact.ts";
import type { State } from "../../../loop/state.ts";
import type { AgentSession } from "../../../protocol/execute.ts";
import { sessionHeld } from "../../../stores/session-held-error.ts";
import { runOfKey } from "./accept-input.ts";
import { recordCommand } from "./record-command.ts";
import type { CommandContext } from "./submit-input.ts";

/** Records the abort of a run; false if there is no run to abort. */
export async function abortRun(
  context: CommandContext,
  reason: string,
  { by = context.deps.access.user, runId, inputKey, erases }: NonNullable<Parameters<AgentSession["abort"]>[1]>,
): Promise<boolean> {
  let isAborting = false;
  const bodies = (state: State): readonly FactBody[] => {
    const { run, inputs, hold } = state;
    if (erases && hold) throw sessionHeld(context.deps.sessionId, hold);
    const runs = run ? [run, ...inputs] : inputs;
    const meant = inputKey === undefined ? runId : (runOfKey(state, inputKey) ?? "");
    const target = meant === undefined ? runs[0] : runs.find((one) => one.runId === meant);
    isAborting = target !== undefined && !target.abort;
    return target && isAborting ? [{ type: "abort.requested", runId: target.runId, reason, by }] : [];
  };
  await recordCommand(context, bodies, true);
  if (isAborting && context.deps.drives) context.driveUntilIdle();
  return isAborting;
}
