import type { FactBody } from "@loopwright/core";
import { type State, transcriptOf } from "@loopwright/core/internals";

/** The path up to its last message but two, in place of which requests get a summary. `undefined`: the path is too short. */
export function compactionOfPath(state: State, runId: string): FactBody | undefined {
  const { ids } = transcriptOf(state);
  const [from, to, path] = [ids[0], ids.at(-3), ids.at(-1)];
  if (from === undefined || to === undefined || path === undefined) return undefined;
  return { type: "context.compacted", runId, from, to, path, summary: `${ids.length} messages`, tokensBefore: 900, tokensAfter: 90 };
}

/** A child as its link names it. */
export type LinkedChild = Extract<FactBody, { readonly type: "child.linked" }>;

const childOf = ({ run }: State, session: string) => run?.children?.find((child) => child.session === session);

/** What some children ask, once: a person or a client, while the call of the child rests. */
export function questionOfChild(state: State, { runId, callKey, session, agent }: LinkedChild, random: () => number): FactBody | undefined {
  const child = childOf(state, session);
  if (random() < 0.4 || !child || child.waits || child.answers || callKey === undefined) return undefined;
  const below = `${session}.run1.1.0`;
  const call = { session, agent, toolCallId: "below", callKey: below, toolName: "below", args: { of: session } };
  const waits = [random() < 0.5 ? { ...call, argsDigest: below, reason: "Sure?" } : call];
  return { type: "child.waiting", runId, callKey, session, waits, rests: true };
}

/** An answer to the first question of the child; `undefined`: it asks nothing. */
export function answerToChild(state: State, session: string): FactBody | undefined {
  const { run } = state;
  const child = childOf(state, session);
  const call = child?.waits?.[0];
  if (!run || !child || !call) return undefined;
  const { callKey, argsDigest } = call;
  const place = {
    runId: run.runId,
    callKey,
    child: { session, ...(child.callKey === undefined ? {} : { callKey: child.callKey }) },
  };
  if (argsDigest === undefined) return { type: "client.answered", ...place, outcome: "ok", output: [{ type: "text", text: "below" }] };
  return { type: "approval.decided", ...place, argsDigest, decision: "allow", by: "ann" };
}
