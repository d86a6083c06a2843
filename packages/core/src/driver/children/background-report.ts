import { backgroundChild, reportKey } from "../../loop/children/background-children.ts";
import type { FactBody } from "../../loop/fact.ts";
import type { BackgroundChild, State } from "../../loop/state.ts";
import type { ChildResult } from "../../tools/child-agent.ts";
import { bodyOf } from "./child-facts.ts";

interface Report {
  readonly session: string;
  readonly result: ChildResult;
  /** New ids, for the input and its run. */
  readonly inputId: string;
  readonly runId: string;
  /** True if the parent is being stopped: a run that the report starts is aborted at once. */
  readonly isStopped: boolean;
}

/** The facts that record that a child has ended: its report as an input, and its end. Empty if the log has them. The report joins the open run or starts one. */
export function reportOf(state: State, { session, result, inputId, runId, isStopped }: Report): readonly FactBody[] {
  const child = backgroundChild(state, session);
  if (!child) return [];
  const { run } = state;
  const joined = run && !run.abort && !run.failure ? run.runId : undefined;
  const { access, labels, runId: startedIn, callKey } = child;
  const origin = { type: "session", session, runId: startedIn, ...(callKey === undefined ? {} : { callKey }) } as const;
  return [
    {
      type: "input.accepted",
      inputId,
      runId: joined ?? runId,
      mode: joined === undefined ? "enqueue" : "steer",
      message: { role: "user", content: textOf(child, result) },
      idempotencyKey: reportKey(session),
      ...(access ? { access } : {}),
      ...(labels ? { labels } : {}),
      origin,
    },
    bodyOf({ runId: joined ?? runId }, result),
    ...(isStopped && joined === undefined ? [{ type: "abort.requested", runId, reason: "parent" } as const] : []),
  ];
}

function textOf({ agent, session }: BackgroundChild, { status, text, error, limit }: ChildResult): string {
  const who = `The agent \`${agent}\`, which you started in the background (session \`${session}\`),`;
  if (status === "aborted") return `${who} was stopped.`;
  if (status === "failed") return `${who} has failed with ${error.code}: ${error.message}`;
  return `${who} has ended${limit ? `, because its limit of \`${limit.which}\` was reached` : ""}. Its report:\n\n${text}`;
}
