import type { Message, PendingToolCall, ToolResultMessage } from "@loopwright/core/protocol";
import { isKnownError } from "../client-error.ts";
import { connectAttempts } from "../client-limits.ts";
import type { ClientScene } from "../client-scene.ts";
import { mayPass } from "../send-request.ts";
import type { SessionRequests } from "../session-requests.ts";
import { type AnyTool, runClientTool } from "./client-tool.ts";

export interface CallAnswers {
  readonly sessions: Pick<SessionRequests, "sendResults">;
  readonly sessionId: string;
  readonly messages: readonly Message[];
  /** Those of this side. */
  readonly tools: readonly AnyTool[];
  /** Aborted when the run is: tools are signalled, and nothing more is sent. */
  readonly signal: AbortSignal;
}

/**
 * Answers calls that wait and have a tool here: each tool runs once, whatever becomes of what it says on its way. The function resolves to
 * false where there is nothing to answer. It rejects with what the server refuses.
 */
export function createCallAnswers(scene: ClientScene, answers: CallAnswers): (pending: readonly PendingToolCall[]) => Promise<boolean> {
  const { sessions, sessionId, messages, tools, signal } = answers;
  const results = new Map<string, ToolResultMessage>();
  const sent = new Set<string>();
  let failures = 0;

  async function run(call: PendingToolCall, tool: AnyTool): Promise<void> {
    const session = { id: sessionId, messages: () => messages };
    results.set(call.callKey, await runClientTool(scene, { tool, call, signal, session }));
  }

  /** Where somebody else was faster, or it is too late, the run has gone on by itself. */
  async function send(callKey: string, result: ToolResultMessage): Promise<void> {
    try {
      await sessions.sendResults(sessionId, [result]);
    } catch (error) {
      if (!isKnownError(error)) throw error;
      // The next reading waits until the server is there again.
      if (mayPass(error) && ++failures < connectAttempts) return;
      if (!/^CALL_/.test(error.code)) throw error;
    }
    sent.add(callKey);
  }

  return async (pending) => {
    const ours = pending.flatMap((call) =>
      tools.filter(({ name, execute }) => name === call.toolName && execute).map((tool) => ({ call, tool })),
    );
    const owed = ours.filter(({ call }) => !sent.has(call.callKey));
    if (signal.aborted || owed.length === 0) return false;
    const unanswered = owed.filter(({ call }) => !results.has(call.callKey));
    if (unanswered.some(({ tool }) => tool.sequential)) for (const { call, tool } of unanswered) await run(call, tool);
    else await Promise.all(unanswered.map(({ call, tool }) => run(call, tool)));
    for (const { call } of owed) {
      const result = results.get(call.callKey);
      if (result && !signal.aborted) await send(call.callKey, result);
    }
    return true;
  };
}
