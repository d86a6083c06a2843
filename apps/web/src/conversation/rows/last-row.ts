import type { SessionView, ViewEnd, ViewMessage } from "@loopwright/client";
import type { AnswerRow, EndRow, WorkRow } from "./conversation-row.ts";
import { answerKey } from "./message-rows.ts";

export type LastRow = AnswerRow | WorkRow | EndRow;

/** What stands below the messages: at most one row. */
export function lastRow(view: SessionView): LastRow | undefined {
  const { answer, run, lastRun, path } = view;
  const tip = path.at(-1);
  if (answer) {
    return {
      kind: "answer",
      key: answerKey(answer.runId, answer.parent),
      isContinued: tip?.runId === answer.runId && tip.message.role !== "user",
    };
  }
  if (run) {
    const isContinued = tip?.runId === run.runId && tip.message.role !== "user";
    return hasVisibleWork(view) ? undefined : { kind: "work", key: `work/${run.runId}`, isContinued };
  }
  // A message of the user without an answer stands for its run, too.
  return lastRun && tip && tip.runId === lastRun.runId && isWorthShowing(lastRun, tip)
    ? { kind: "end", key: `end/${lastRun.runId}` }
    : undefined;
}

function isWorthShowing({ status, reason }: ViewEnd, { message }: ViewMessage): boolean {
  if (status === "completed") return reason === "limit";
  // A partial answer bears its own mark.
  return status === "failed" || message.role !== "assistant" || message.stopReason !== "aborted";
}

/** True while a call runs or waits: its card shows it. */
function hasVisibleWork({ calls, run, path }: SessionView): boolean {
  if (run?.retry || run?.aborting !== undefined) return false;
  const tip = path.at(-1);
  if (tip === undefined || tip.message.role === "user") return false;
  for (const call of calls.values()) if (call.state !== "done") return true;
  return false;
}
