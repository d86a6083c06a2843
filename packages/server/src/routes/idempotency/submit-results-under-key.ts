import type { AcceptedSubmission, ToolResultMessage } from "@loopwright/core";
import type { RequestContext } from "../../request/route.ts";
import { type KeyedContent, plainOf, runUnderKey } from "./replay-stored-answer.ts";

/** Results for a session, with the other content of the request. */
export interface KeyedResults {
  readonly sessionId: string;
  readonly results: readonly ToolResultMessage[];
  /** Options, mode and context. They have no effect, but the same key with other values means another request. */
  readonly chosen: object;
}

/** The content under the key of results, equal on every route that takes results. */
export function keyedResults({ sessionId, results, chosen }: KeyedResults): KeyedContent {
  return { purpose: `results/${sessionId}`, content: plainOf({ ...chosen, results }), session: sessionId };
}

/**
 * Submits results under the key of their request; a repetition gets the same answer and does nothing. The log has the key of the recorded results. If
 * nothing was recorded, because the calls already had these results, the answer is kept with the key: at a repetition, another call may have the same id
 * of the vendor. @throws AgentError KEY_REUSED, and the errors of `submit`
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
