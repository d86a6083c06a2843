import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError, type Message, type SessionSnapshot } from "@loopwright/core/protocol";
import type { AgUiMessage } from "./ag-ui-event.ts";
import { type ShownMessage, shownMessages, withThoseBelow } from "./ag-ui-messages.ts";
import type { AgentRecord } from "./subagents.ts";
import { tokensOf } from "./token-usage.ts";

/** What the session of an agent below a run has; `undefined` where it is gone, or may not be read. `above`: the sessions of the agents above it. */
export async function agentRecord(
  client: LoopwrightClient,
  session: string,
  above: readonly string[] = [],
): Promise<AgentRecord | undefined> {
  const snapshot = await found(client, session);
  if (!snapshot) return undefined;
  const path = shownMessages(snapshot, session).filter(({ message }) => message.role !== "user");
  const below = await recordsBelow(client, path, [...above, session]);
  const messages = withThoseBelow(
    path.map((one) => ({
      shown: one.shown.map((message) => ({ ...message, subagentRunId: session })),
      below: below.get(one)?.messages ?? [],
    })),
  );
  const usage = [...path.flatMap(usageOf), ...[...below.values()].flatMap((record) => record.usage)];
  const { status, failure, reason = "" } = snapshot.lastRun ?? {};
  if (failure) return { messages, usage, failure: { message: failure.message, code: failure.code } };
  return status === "aborted"
    ? { messages, usage, failure: { message: `It was stopped: ${reason}.`, code: "ABORTED" } }
    : { messages, usage };
}

/** The messages of a thread and those of the agents below it. */
export async function threadWithAgents(client: LoopwrightClient, session: SessionSnapshot): Promise<readonly AgUiMessage[]> {
  const path = shownMessages(session);
  const below = await recordsBelow(client, path, [session.sessionId]);
  return withThoseBelow(path.map((one) => ({ shown: one.shown, below: below.get(one)?.messages ?? [] })));
}

async function recordsBelow(
  client: LoopwrightClient,
  path: readonly ShownMessage[],
  above: readonly string[],
): Promise<ReadonlyMap<ShownMessage, AgentRecord>> {
  const records = new Map<ShownMessage, AgentRecord>();
  for (const one of path) {
    const session = agentBehind(one.message);
    // The details of a result are those of its tool: they may name any session.
    const record = session === undefined || above.includes(session) ? undefined : await agentRecord(client, session, above);
    if (record) records.set(one, record);
  }
  return records;
}

/** The session of the agent that gave a result: `agentTool` names it in the details. */
function agentBehind(message: Message): string | undefined {
  if (message.role !== "tool_result") return undefined;
  const { details } = message;
  if (typeof details !== "object" || details === null || Array.isArray(details)) return undefined;
  const { agent, session, background } = details as { readonly agent?: unknown; readonly session?: unknown; readonly background?: unknown };
  return typeof agent === "string" && typeof session === "string" && background !== true ? session : undefined;
}

function usageOf({ message, shown }: ShownMessage): AgentRecord["usage"] {
  const answer = shown.at(-1);
  if (message.role !== "assistant" || !message.usage || !answer) return [];
  const { provider, model, usage } = message;
  const named = { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) };
  return [{ messageId: answer.id, ...named, ...tokensOf(usage) }];
}

async function found(client: LoopwrightClient, session: string): Promise<SessionSnapshot | undefined> {
  try {
    return await client.sessions.get(session);
  } catch (error) {
    if (isAgentError(error, "SESSION_NOT_FOUND") || isAgentError(error, "FORBIDDEN")) return undefined;
    throw error;
  }
}
