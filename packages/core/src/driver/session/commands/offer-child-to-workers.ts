import { driverLimits } from "../../setup/driver-limits.ts";
import type { ChildInput } from "../../setup/session-deps.ts";
import { type CommandContext, recordInput } from "./submit-input.ts";

/**
 * Records the input of a child and leaves its run to the workers for a second, so that a free worker claims it. After that, or at once if the offer
 * failed or the input was in the log already, it runs in the process of its parent. Resolves with the id of the run.
 */
export async function offerChild(context: CommandContext, [input, options]: ChildInput, offer: () => Promise<boolean>): Promise<string> {
  const { driver } = context;
  driver.deferClaim(driverLimits.offeredMs);
  const { runId, replayed } = await recordInput(context, { input, options, needsOwner: false });
  if (replayed || !(await offer())) driver.deferClaim(0);
  return runId;
}
