import type { AcceptedSubmission, ToolResultMessage } from "@loopwright/core";
import type { RequestContext } from "../../request/route.ts";
import { type KeyedContent, plainOf, runUnderKey } from "./replay-stored-answer.ts";

/** Results of a session, and what came with them. */
export interface KeyedResults {
  readonly sessionId: string;
  readonly results: readonly ToolResultMessage[];
  /** Options, mode and context: they change nothing, but the same key with others means another request. */
  readonly chosen: object;
}

/** What the key of results came with, the same on every route that takes some. */
export function keyedResults({ sessionId, results, chosen }: KeyedResults): KeyedContent {
  return { purpose: `results/${sessionId}`, content: plainOf({ ...chosen, results }), session: sessionId };
}

/**
 * Submits results under the key of their request; a repeat is answered the same and does nothing. The log remembers the key of what was recorded
 * under it. Where nothing was, because the calls had these very results, the answer is kept with the key: by the time of a repeat another call
 * may have the vendor's id. @throws AgentError KEY_REUSED, and what `submit` throws
 */
export function resultsUnderKey(
  context: RequestContext,
  keyed: KeyedResults,
  submit: () => Promise<AcceptedSubmission>,
): Promise<AcceptedSubmission> {
  return runUnderKey(context, keyedResults(keyed), async ({ note, keep }) => {
    if (note !== undefined) return note as unknown as AcceptedSubmission;
    const accepted = await submit();
    if (accepted.replayed) await keep(plainOf(accepted));
    return accepted;
  });
}
