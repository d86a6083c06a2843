import type { Hooks } from "@loopwright/core";

/** A tool of a run begins or has ended. */
export interface ToolPhase {
  readonly phase: "tool_start" | "tool_end";
  readonly sessionId: string;
  readonly runId: string;
  readonly callKey: string;
  readonly tool: string;
  readonly outcome?: "ok" | "error";
}

/** Calls `onPhase` with each tool that begins and ends. */
export function progressHooks(onPhase: (phase: ToolPhase) => void): Hooks {
  return {
    name: "progress",
    gate({ sessionId, runId, call }) {
      onPhase({ phase: "tool_start", sessionId, runId, callKey: call.callKey, tool: call.name });
    },
    review({ sessionId, runId, call, outcome }) {
      onPhase({ phase: "tool_end", sessionId, runId, callKey: call.callKey, tool: call.name, outcome });
    },
  };
}
