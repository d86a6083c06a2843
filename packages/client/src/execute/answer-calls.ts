import type { AgentEvent, PendingToolCall, Tool, ToolResultMessage } from "@loopwright/core/protocol";
import type { ClientContext } from "../client-context.ts";
import { type ClientCall, runClientTool } from "./client-tool.ts";

/** What calls are answered with. */
export interface CallAnswersOptions extends Pick<ClientCall, "signal" | "session"> {
  /** Those of this side. */
  readonly tools: readonly Tool[];
}

export interface CallAnswers {
  /** Has to see every event: the time of a call is counted from the one that asks for it. */
  see(event: AgentEvent): void;
  /** Runs the tools of calls that wait and have one here, each call once. Resolves to no results where there is nothing to answer. */
  answer(pending: readonly PendingToolCall[] | undefined): Promise<readonly ToolResultMessage[]>;
}

export function createCallAnswers(client: ClientContext, { tools, signal, session }: CallAnswersOptions): CallAnswers {
  const answered = new Set<string>();
  const times = new Map<string, number>();
  return {
    see(event) {
      if (event.type !== "awaiting_tool_execution") return;
      // Both dates are of the server's clock. The clock of this machine may be minutes off, and the server decides what came too late.
      for (const { callKey, deadline } of event.toolCalls) if (deadline !== undefined) times.set(callKey, Math.max(0, deadline - event.at));
    },
    async answer(pending = []) {
      const owed = pending.flatMap((call) => {
        const tool = tools.find(({ name }) => name === call.toolName);
        if (!tool?.execute || signal.aborted || answered.has(call.callKey)) return [];
        return [{ tool, call, timeMs: times.get(call.callKey), signal, session }];
      });
      for (const { call } of owed) answered.add(call.callKey);
      if (!owed.some(({ tool }) => tool.sequential)) return Promise.all(owed.map((one) => runClientTool(client, one)));
      const results: ToolResultMessage[] = [];
      for (const one of owed) results.push(await runClientTool(client, one));
      return results;
    },
  };
}
