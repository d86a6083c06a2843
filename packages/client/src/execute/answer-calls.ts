import type { PendingToolCall, Tool, ToolResultMessage } from "@loopwright/core/protocol";
import type { ClientScene } from "../client-scene.ts";
import { type ClientCall, runClientTool } from "./client-tool.ts";

/** What calls are answered with. */
export interface CallAnswers extends Pick<ClientCall, "signal" | "session"> {
  /** Those of this side. */
  readonly tools: readonly Tool[];
}

/** Runs the tools of calls that wait and have one here, each call once. The function resolves to no results where there is nothing to answer. */
export function createCallAnswers(
  scene: ClientScene,
  { tools, signal, session }: CallAnswers,
): (pending: readonly PendingToolCall[] | undefined) => Promise<readonly ToolResultMessage[]> {
  const answered = new Set<string>();
  return async (pending = []) => {
    const owed = pending.flatMap((call) => {
      const tool = tools.find(({ name }) => name === call.toolName);
      return !tool?.execute || signal.aborted || answered.has(call.callKey) ? [] : [{ tool, call, signal, session }];
    });
    for (const { call } of owed) answered.add(call.callKey);
    if (!owed.some(({ tool }) => tool.sequential)) return Promise.all(owed.map((one) => runClientTool(scene, one)));
    const results: ToolResultMessage[] = [];
    for (const one of owed) results.push(await runClientTool(scene, one));
    return results;
  };
}
