import { type ModelRequest, textOf } from "@loopwright/core";
import { type ScriptedTurn, scripted } from "@loopwright/core/memory";
import type { ExecutorTurn, ExecutorUnderTest } from "../../src/executor/executor-kit.ts";

/** All that a request has for a recital. */
function recital({ messages, tools = [] }: ModelRequest): string {
  const lines = messages.map((message) => `${message.role === "tool_result" ? "tool" : message.role}: ${textOf(message)}`);
  return [...lines, ...(tools.length === 0 ? [] : [`tools: ${tools.map(({ name }) => name).join(", ")}`])].join("\n");
}

/** The turn of a script. */
const scriptedTurn = (turn: ExecutorTurn, request: ModelRequest): ScriptedTurn => ({
  ...(turn.recites ? { text: recital(request) } : turn.text === undefined ? {} : { text: turn.text }),
  ...(turn.calls ? { calls: turn.calls } : {}),
  ...(turn.usage ? { usage: turn.usage } : {}),
  ...(turn.end === "failing" ? { error: "MODEL_BAD_REQUEST" as const } : {}),
  ...(turn.end === "never" ? { hang: true } : {}),
});

/** Executors that play their turns in memory. */
export const scriptedExecutor = (): ExecutorUnderTest => ({
  play: (turns) => scripted(turns.map((turn) => (request) => scriptedTurn(turn, request))),
  running: () => 0,
});
