import type { SessionSummary, WaitingReason } from "@loopwright/core/ports";
import { padTo } from "./terminal/lines.ts";
import { oneLine } from "./terminal/neutralise.ts";

/** One session on one line: id, last change, how it stands, messages, title. */
export function summaryLine(summary: SessionSummary): string {
  const changed = new Date(summary.updatedAt).toISOString().slice(0, 16).replace("T", " ");
  const count = `${summary.messageCount} message${summary.messageCount === 1 ? "" : "s"}`;
  const state =
    summary.status === "idle" && summary.lastRun && summary.lastRun.status !== "completed" ? summary.lastRun.status : summary.status;
  const waits = waitsText(summary);
  const tail = [oneLine(summary.title ?? "", 60), ...(waits === undefined ? [] : [`(${waits})`])].join("  ");
  return `${summary.id}  ${changed}  ${padTo(state, 8)}  ${padTo(count, 12)}  ${tail}`.trimEnd();
}

const waitsFor: { readonly [Reason in WaitingReason]: string } = {
  client_tools: "an answer",
  approvals: "approval",
  children: "another agent",
};

/** For what a session waits, where it does. */
function waitsText({ waitsFor: reasons = [] }: Pick<SessionSummary, "waitsFor">): string | undefined {
  return reasons.length === 0 ? undefined : `waits for ${reasons.map((reason) => waitsFor[reason]).join(" and for ")}`;
}
