import type { PendingToolCall, ToolResultMessage } from "@loopwright/core/protocol";
import { isAgentError } from "@loopwright/core/protocol";
import type { PageTool, PageToolContext } from "./page-tool.ts";

export interface ToolRunnerOptions {
  readonly tools: readonly PageTool[];
  readonly pickColour: (question: Parameters<PageToolContext["pickColour"]>[0], signal: AbortSignal) => Promise<string | undefined>;
  readonly answer: (results: readonly ToolResultMessage[]) => Promise<unknown>;
  /** Called when an answer could not be delivered. */
  readonly fail: (error: unknown) => void;
  /** Runs `act` if no other page of this browser does so under the same name. */
  readonly alone?: (name: string, act: () => Promise<void>) => Promise<void>;
}

/** Runs calls that wait for this page: each once, and again if its answer could not be delivered. */
export interface ToolRunner {
  /** The calls that wait now: new ones begin, and calls that are no longer pending are aborted. */
  offer(pending: readonly PendingToolCall[]): void;
  close(): void;
}

/** A runner for one open session. */
export function createToolRunner(options: ToolRunnerOptions): ToolRunner {
  const { tools, answer, fail, alone = aloneInBrowser } = options;
  const running = new Map<string, AbortController>();
  const answered = new Set<string>();

  const begin = async (call: PendingToolCall, tool: PageTool): Promise<void> => {
    const abort = new AbortController();
    running.set(call.callKey, abort);
    const act = async (): Promise<void> => {
      const result = await resultOf(call, tool, {
        signal: abort.signal,
        pickColour: (question) => options.pickColour(question, abort.signal),
      });
      if (abort.signal.aborted) return;
      answered.add(call.callKey);
      try {
        await answer([result]);
      } catch (error) {
        // Another client was faster, or the run no longer waits: both are fine.
        if (isAgentError(error, "CALL_ANSWERED") || isAgentError(error, "CALL_UNKNOWN")) return;
        answered.delete(call.callKey);
        fail(error);
      }
    };
    try {
      await (tool.asksPerson ? act() : alone(`loopwright.call.${call.callKey}`, act));
    } finally {
      running.delete(call.callKey);
    }
  };

  return {
    offer(pending) {
      for (const [callKey, abort] of running) {
        if (!pending.some((call) => call.callKey === callKey)) abort.abort();
      }
      for (const call of pending) {
        const tool = tools.find(({ declared }) => declared.name === call.toolName);
        if (tool && !running.has(call.callKey) && !answered.has(call.callKey)) void begin(call, tool);
      }
    },
    close() {
      for (const abort of running.values()) abort.abort();
    },
  };
}

async function resultOf(call: PendingToolCall, tool: PageTool, context: PageToolContext): Promise<ToolResultMessage> {
  const { toolCallId, callKey, toolName } = call;
  const base = { role: "tool_result", toolCallId, callKey, toolName } as const;
  try {
    return { ...base, content: await tool.run(call.args, context) };
  } catch (error) {
    return { ...base, content: error instanceof Error ? error.message : String(error), isError: true };
  }
}

/** Runs `act` in only one of the tabs on a session. `navigator.locks` exists only in a secure context: without it each tab runs it, and the server takes the first answer. */
async function aloneInBrowser(name: string, act: () => Promise<void>): Promise<void> {
  const locks: LockManager | undefined = navigator.locks;
  if (locks === undefined) await act();
  else await locks.request(name, { ifAvailable: true }, (lock) => (lock === null ? undefined : act()));
}
