import { createAgent } from "@loopwright/core";
import { createRuntime } from "@loopwright/host";
import { a2aRoutes } from "@loopwright/protocol-a2a";
import { agUiRoutes } from "@loopwright/protocol-ag-ui";
import { aiSdkRoutes } from "@loopwright/protocol-ai-sdk";
import { mcpRoutes } from "@loopwright/protocol-mcp";
import { openaiRoutes } from "@loopwright/protocol-openai";
import { createServer } from "@loopwright/server";
import { listen } from "@loopwright/server/node";
import type { Serve } from "../served.ts";
import { limits, paced } from "./loopwright.ts";

/** Loopwright's server with the routes of every protocol, sessions in memory. */
export const serve: Serve = async () => {
  const agents = [createAgent({ name: "bench", provider: paced })];
  const routes = [...a2aRoutes(), ...mcpRoutes(), ...agUiRoutes(), ...aiSdkRoutes(), ...openaiRoutes()];
  return (await listen(createServer({ runtime: createRuntime({ agents }), routes, limits }), { port: 0 })).url;
};
