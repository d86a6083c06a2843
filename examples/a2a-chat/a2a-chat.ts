// A page over an agent that speaks A2A: the page knows three kinds of events, and the proxy everything else.
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { chatProxy } from "@loopwright/agents-a2a";
import { createAgent, defineTool } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { a2aRoutes } from "@loopwright/protocol-a2a";
import { createServer } from "@loopwright/server";
import { type Listenable, listen } from "@loopwright/server/node";

const readSensor = defineTool({
  name: "read_sensor",
  label: "Read a sensor",
  description: "Reads how wet a bed is.",
  parameters: { type: "object", properties: { bed: { type: "string" } }, required: ["bed"] },
  execute: ({ bed }: { readonly bed: string }) => `${bed}: 18 %`,
});
const waterBed = defineTool({
  name: "water_bed",
  label: "Water a bed",
  description: "Waters a bed.",
  parameters: { type: "object", properties: { bed: { type: "string" } }, required: ["bed"] },
  approval: "It takes 40 litres of the rain water.",
  execute: ({ bed }: { readonly bed: string }) => `${bed}: 40 litres`,
});

const files = new Map([
  ["/", "page.html"],
  ["/page.css", "page.css"],
  ["/page.mjs", "page.mjs"],
]);
const mediaTypes = new Map([
  [".html", "text/html"],
  [".css", "text/css"],
  [".mjs", "text/javascript"],
]);

/** The product's own page, and the way from it to the agent. */
function product(proxy: (request: Request) => Promise<Response>): Listenable {
  return {
    ...{ hasAuthentication: false, basePath: "" },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/chat") return proxy(request);
      const file = files.get(pathname);
      if (file === undefined) return new Response(null, { status: 404 });
      const type = `${mediaTypes.get(extname(file))}; charset=utf-8`;
      return new Response(await readFile(join(import.meta.dirname, file)), { headers: { "Content-Type": type } });
    },
  };
}

/** An opened example. */
export interface A2aChat {
  /** Of the page. */
  readonly url: string;
  close(): Promise<void>;
}

/** The agent and the page, each on a port of its own. */
export async function openA2aChat(provider: ModelProvider, { port = 0 }: { readonly port?: number } = {}): Promise<A2aChat> {
  const gardener = createAgent({ name: "gardener", provider, prompt: "You look after a garden.", tools: [readSensor, waterBed] });
  const server = createServer({ runtime: createRuntime({ agents: [gardener], store: memoryStore() }), routes: a2aRoutes() });
  const agent = await listen(server, { port: 0 });
  // Here another server of Loopwright; elsewhere any agent that speaks A2A.
  const page = await listen(product(chatProxy({ card: `${agent.url}/.well-known/agent-card.json` })), { port });
  return {
    url: `${page.url}/`,
    async close() {
      await page.close();
      await agent.close();
      await server.close();
    },
  };
}
