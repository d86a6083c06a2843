import type { AcceptedSubmission, ToolResultMessage } from "@loopwright/core";
import { plainOf, underKey } from "../http/kept-key.ts";
import type { Call } from "../http/route.ts";

/** Results of a session, and how they are submitted. */
export interface KeyedResults {
  readonly sessionId: string;
  readonly results: readonly ToolResultMessage[];
  readonly submit: () => Promise<AcceptedSubmission>;
}

/**
 * Submits results under the key of their request; a repeat is answered the same and does nothing. The log remembers the key of what was recorded
 * under it. Where nothing was, because the calls had these very results, the answer is kept with the key: by the time of a repeat another call
 * may have the vendor's id. @throws AgentError KEY_REUSED, and what `submit` throws
 */
export function resultsUnderKey(call: Call, { sessionId, results, submit }: KeyedResults): Promise<AcceptedSubmission> {
  return underKey(call, { purpose: `results/${sessionId}`, content: plainOf(results) }, async ({ note, keep }) => {
    if (note !== undefined) return note as unknown as AcceptedSubmission;
    const accepted = await submit();
    if (accepted.replayed) await keep(plainOf(accepted));
    return accepted;
  });
}
