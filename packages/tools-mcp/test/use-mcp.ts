/** An agent that calls tools of MCP servers as a script names them. */
import { createAgent, createSession, execute, type Hooks, type Tool } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import type { McpTools } from "../src/index.ts";

export interface Asked {
  readonly name: string;
  readonly args?: Record<string, unknown>;
}

export interface Used {
  /** Of each call: what the model read, and how the call ended. */
  readonly results: readonly {
    readonly text: string;
    readonly outcome: string;
    readonly details: unknown;
    readonly parts: readonly string[];
  }[];
  /** Names of the tools that each model call was shown. */
  readonly shown: readonly (readonly string[])[];
  readonly requests: string;
  readonly log: string;
  readonly status: string;
}

export interface UseOptions {
  readonly tools?: readonly Tool[];
  readonly user?: string;
  /** Behind those of the servers. */
  readonly hooks?: readonly Hooks[];
  readonly events?: string[];
}

/** Runs one turn for each call, and one that ends the run. */
export async function useMcp(
  mcp: McpTools,
  calls: readonly Asked[],
  { tools = [], user = "ada", hooks = [], events = [] }: UseOptions = {},
): Promise<Used> {
  const provider = scripted([...calls.map(({ name, args = {} }) => ({ calls: [{ name, args: args as never }] })), { text: "Done." }]);
  const agent = createAgent({ name: "assistant", provider, tools, hooks: [mcp.hooks, ...hooks], limits: { turnsMax: 10_000 } });
  const store = memoryStore();
  const session = createSession({ agent, store, access: { user, scope: "acme" } });
  const stream = execute(session, "Go.");
  for await (const event of stream) events.push(JSON.stringify(event));
  const { status, messages } = await stream.result();
  const results = messages.flatMap((message) => {
    if (message.role !== "tool_result" || typeof message.content === "string") return [];
    const { content, outcome = "ok", details } = message;
    return [
      {
        text: content.map((part) => (part.type === "text" ? part.text : "")).join(""),
        outcome,
        details,
        parts: content.map(({ type }) => type),
      },
    ];
  });
  const shown = provider.requests.map((request) => (request.tools ?? []).map(({ name }) => name));
  return { results, shown, requests: JSON.stringify(provider.requests), log: JSON.stringify(messages) + events.join(""), status };
}
