// A page and the agent behind it, on one address.
import { fileURLToPath } from "node:url";
import { memoryStore } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { agUiRoutes } from "@loopwright/protocol-ag-ui";
import { aiSdkRoutes } from "@loopwright/protocol-ai-sdk";
import { createServer } from "@loopwright/server";
import { type Listening, listen, staticFiles } from "@loopwright/server/node";
import { build } from "vite";
import { gardener } from "./garden.ts";

/** The pages, by their folders. */
export const pageNames = ["use-chat", "ag-ui", "assistant-ui"] as const;

export type PageName = (typeof pageNames)[number];

/** Bundles a page, as any product does. Gives the folder of its files. */
export async function bundlePage(name: PageName): Promise<string> {
  const outDir = fileURLToPath(new URL(`dist/${name}`, import.meta.url));
  const root = fileURLToPath(new URL(name, import.meta.url));
  await build({
    ...{ root, base: "./", configFile: false, logLevel: "error" },
    // As for users, also where a test bundles it.
    oxc: { jsx: { runtime: "automatic", development: false } },
    define: { "process.env.NODE_ENV": '"production"' },
    build: { outDir, emptyOutDir: true, target: "es2023" },
  });
  return outDir;
}

/** Hands out a bundled page, with the agent below `/api/chat` and `/ag-ui/gardener`. */
export async function servePage(folder: string, provider: ModelProvider, port = 0): Promise<Listening> {
  const server = createServer({
    runtime: createRuntime({ agents: [gardener(provider)], store: memoryStore() }),
    routes: [...aiSdkRoutes(), ...agUiRoutes({ state: true })],
    page: staticFiles(folder),
  });
  const listening = await listen(server, { port });
  return {
    ...listening,
    async close() {
      await server.close();
      await listening.close();
    },
  };
}
