import { redisChannel } from "@loopwright/channel-redis";
import { createAgent } from "@loopwright/core";
import { type ScriptedTurn, scripted, silentLogger } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { a2aRoutes } from "@loopwright/protocol-a2a";
import { agUiRoutes } from "@loopwright/protocol-ag-ui";
import { aiSdkRoutes } from "@loopwright/protocol-ai-sdk";
import { mcpRoutes } from "@loopwright/protocol-mcp";
import { openaiRoutes } from "@loopwright/protocol-openai";
import { createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import { redisStore } from "@loopwright/store-redis";

/** A node that answers other vendors' clients, on a Redis that nodes share. */
export interface ProtocolNode {
  readonly url: string;
  close(): Promise<void>;
}

/** `turn`: what its model answers to each call. `port`: 0 for any. */
export async function protocolNode(
  redisUrl: string,
  { turn, port }: { readonly turn: ScriptedTurn; readonly port: number },
): Promise<ProtocolNode> {
  const store = redisStore({ url: redisUrl });
  const channel = redisChannel({ url: redisUrl });
  const agents = [createAgent({ name: "helper", provider: scripted(() => turn) })];
  const server = createServer({
    runtime: createRuntime({ agents, store, channel, logger: silentLogger, leaseMs: 5_000 }),
    routes: [...openaiRoutes(), ...aiSdkRoutes({ replayMs: 600_000 }), ...agUiRoutes(), ...a2aRoutes(), ...mcpRoutes()],
  });
  const listening = await listen(server, { port });
  return {
    url: listening.url,
    async close() {
      await listening.close();
      await server.close();
      await channel.close();
      await store.close();
    },
  };
}
