import { createAgent, partsOf } from "@loopwright/core";
import { memoryStore, silentLogger } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { a2aRoutes } from "@loopwright/protocol-a2a";
import { agUiRoutes } from "@loopwright/protocol-ag-ui";
import { aiSdkRoutes } from "@loopwright/protocol-ai-sdk";
import { mcpRoutes } from "@loopwright/protocol-mcp";
import { openaiRoutes } from "@loopwright/protocol-openai";
import { createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";

/** A server that answers every protocol, whose model streams one half of an answer, and the other one when it may. */
export interface GatedNode {
  readonly url: string;
  /** How often the model was asked this. */
  callsOf(question: string): number;
  /** Lets the model give the rest of its answer to this question. */
  release(question: string): void;
  close(): Promise<void>;
}

/** The answer of the model, in its two halves. */
export const halves = ["It is ☔ ", "raining."] as const;

export async function gatedNode(): Promise<GatedNode> {
  const calls = new Map<string, number>();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (question: string): PromiseWithResolvers<void> => {
    const gate = gates.get(question) ?? Promise.withResolvers<void>();
    gates.set(question, gate);
    return gate;
  };
  const provider: ModelProvider = {
    name: "gated",
    defaultModel: "gated",
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    async *stream({ messages }) {
      const asked = messages.findLast((message) => message.role === "user");
      const question = partsOf(asked?.content ?? "")
        .map((part) => (part.type === "text" ? part.text : ""))
        .join("");
      calls.set(question, (calls.get(question) ?? 0) + 1);
      yield [{ type: "text", index: 0, delta: halves[0] }];
      await gateOf(question).promise;
      yield [
        { type: "text", index: 0, delta: halves[1] },
        { type: "end", stopReason: "stop" },
      ];
    },
  };
  const runtime = createRuntime({ agents: [createAgent({ name: "helper", provider })], store: memoryStore(), logger: silentLogger });
  const routes = [...openaiRoutes(), ...aiSdkRoutes({ replayMs: 600_000 }), ...agUiRoutes(), ...a2aRoutes(), ...mcpRoutes()];
  const server = createServer({ runtime, routes, limits: { requestsPerMinute: 1_000_000, writesPerMinute: 1_000_000 } });
  const { url, close } = await listen(server, { port: 0 });
  return {
    url,
    callsOf: (question) => calls.get(question) ?? 0,
    release: (question) => gateOf(question).resolve(),
    async close() {
      await close();
      await server.close();
    },
  };
}
