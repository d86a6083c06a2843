// An assistant that works in the product's own page while the user watches: the server declares the tools, the page runs them (`page.mjs`).
import { readFile } from "node:fs/promises";
import { createServer as createHttpServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join, normalize } from "node:path";
import { createAgent, defineTool, type JsonSchema, type Tool } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { type AgentServer, createServer } from "@loopwright/server";
import { requestListener } from "@loopwright/server/node";
import { createSessionTools } from "@loopwright/tools-registry";
import declared from "./ui-tools.json" with { type: "json" };

/** One half of each pair: what the model reads. A tool without `execute` runs at the client. */
const uiTools: readonly Tool[] = declared.map(({ parameters, replay, ...tool }) =>
  defineTool({ ...tool, parameters: parameters as JsonSchema, replay: replay as "pure" | "idempotent" | "once", timeoutMs: 30_000 }),
);

/** What the product's own server does, on every surface. */
const findCustomer = defineTool({
  name: "find_customer",
  label: "Find a customer",
  description: "Finds a customer by name.",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  replay: "pure",
  execute: ({ name }: { readonly name: string }) => (name === "Ben" ? "Ben lives in Bern." : "There is no such customer."),
});

/** A page that the user watches has the tools that work in it; a side panel has those of the server alone. */
export function createUiControl(provider: ModelProvider): AgentServer {
  const tools = createSessionTools({
    sources: { product: [findCustomer], page: uiTools.map((tool) => ({ tool, surfaces: ["full-page"] })) },
  });
  const agent = createAgent({ name: "clerk", provider, prompt: "You help in a shop.", tools: tools.tools, hooks: [tools.hooks] });
  return createServer({ runtime: createRuntime({ agents: [agent], store: memoryStore() }) });
}

const require = createRequire(import.meta.url);
const client = dirname(require.resolve("@loopwright/client/package.json"));
/** The packages that the page imports, as the browser finds them: a product would bundle them. */
const libraries: { readonly [name: string]: string } = {
  client,
  core: dirname(require.resolve("@loopwright/core/package.json")),
  "eventsource-parser": dirname(dirname(createRequire(join(client, "package.json")).resolve("eventsource-parser"))),
};
const mediaTypes: { readonly [ending: string]: string } = {
  ".html": "text/html",
  ".css": "text/css",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".js": "text/javascript",
};

/** The bytes of a path of the product, or `undefined`. Of the packages it hands out what they publish. */
async function fileAt(path: string): Promise<{ readonly bytes: Uint8Array; readonly type: string } | undefined> {
  const [, , library = "", ...rest] = path.split("/");
  const isLibrary = path.startsWith("/lib/");
  const root = isLibrary ? join(libraries[library] ?? "", "dist") : import.meta.dirname;
  const file = join(root, normalize(`/${isLibrary ? rest.join("/") : path === "/" ? "page.html" : path}`));
  const type = mediaTypes[extname(file)];
  if (type === undefined || (isLibrary && libraries[library] === undefined)) return undefined;
  return readFile(file).then(
    (bytes) => ({ bytes, type }),
    () => undefined,
  );
}

/** The product's own HTTP server: its page, and the assistant below `/api`. */
export function productServer(assistant: AgentServer): Server {
  const agents = requestListener(assistant);
  return createHttpServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://product");
    if (pathname.startsWith("/api/")) return agents(request, response);
    void fileAt(pathname).then((found) => {
      if (found) response.setHeader("Content-Type", `${found.type}; charset=utf-8`).end(found.bytes);
      else response.writeHead(404).end();
    });
  });
}
