import type { WaitingResult } from "@loopwright/core/protocol";

/** What a caller reads of a run that waits for others: it cannot answer them. */
export function waitNote({ pendingApprovals, pendingToolCalls }: WaitingResult, session: string): string {
  const waits = [
    ...pendingApprovals.map(({ toolName }) => `the approval of \`${toolName}\``),
    ...pendingToolCalls.map(({ toolName }) => `the result of \`${toolName}\``),
  ];
  return `[The run waits for ${waits.join(", ")} in the session ${session}.]`;
}
