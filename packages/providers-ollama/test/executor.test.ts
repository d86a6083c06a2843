import type { ServerResponse } from "node:http";
import { type Asked, loopbackServer } from "@loopwright/provider-kit/testing";
import { type ExecutorTurn, type ExecutorUnderTest, executorKit, runKit } from "@loopwright/testing";
import { describe, it, onTestFinished } from "vitest";
import { ollama } from "../src/index.ts";

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

function recital({ messages, tools = [] }: Sent): string {
  const lines = messages.map(({ role, content }) => `${role}: ${content}`);
  return [...lines, ...(tools.length === 0 ? [] : [`tools: ${tools.map((tool) => tool.function.name).join(", ")}`])].join("\n");
}

/** Plays a turn as the server of Ollama would. */
function play(turn: ExecutorTurn, { body }: Asked, response: ServerResponse): void {
  const line = (value: object): void => void response.write(`${JSON.stringify({ model: "m", done: false, ...value })}\n`);
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  const content = turn.recites ? recital(body as unknown as Sent) : (turn.text ?? "");
  const calls = (turn.calls ?? []).map(({ name, args }) => ({ function: { name, arguments: args } }));
  line({ message: { role: "assistant", content, ...(calls.length === 0 ? {} : { tool_calls: calls }) } });
  if (turn.end === "never") return;
  // A fault of the request is for good; a server that breaks would be asked again.
  if (turn.end === "failing") response.end(`${JSON.stringify({ error: "the input length exceeds the context length" })}\n`);
  else {
    const usage = turn.usage ? { prompt_eval_count: turn.usage.input, eval_count: turn.usage.output } : {};
    line({ message: { role: "assistant", content: "" }, done: true, done_reason: "stop", ...usage });
    response.end();
  }
}

async function make(): Promise<ExecutorUnderTest> {
  let turns: readonly ExecutorTurn[] = [];
  let asked = 0;
  let running = 0;
  const server = await loopbackServer((response, request) => {
    running++;
    response.once("close", () => {
      running--;
    });
    play(turns[asked++] ?? {}, request, response);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return {
    play: (script) => {
      turns = script;
      return ollama({ baseURL: server.origin, model: "m", capabilities: { tools: true } });
    },
    running: () => running,
    patienceMs: 60_000,
  };
}

describe("C29: the loop over a model keeps every promise of an executor", () => runKit(it, executorKit, { make }));
