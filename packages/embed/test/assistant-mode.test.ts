import { createAgent, defineTool } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer, type ExtensionRoute } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { type AssistantMode, embedOptions } from "../src/index.ts";

const routes: readonly ExtensionRoute[] = [
  { method: "GET", path: "/api/ai/providers", id: "listProviders", handle: () => Response.json({ providers: [] }) },
];

/** A deployment of this mode, with a tool of the server and one that runs in the browser. */
function deployed(assistantMode: AssistantMode | undefined) {
  const provider = scripted(Array.from({ length: 10 }, () => ({ text: "Done." })));
  const parameters = { type: "object" } as const;
  const tools = [
    defineTool({ name: "search", description: "Searches.", parameters, execute: () => "found" }),
    defineTool({ name: "click_button", description: "Clicks.", parameters, visibility: "client" }),
  ];
  const mode = assistantMode === undefined ? {} : { assistantMode };
  const { agents, ...options } = embedOptions({
    agents: [createAgent({ name: "helper", provider, tools })],
    assistantRoutes: routes,
    ...mode,
  });
  const server = createServer({ runtime: createRuntime({ agents, store: memoryStore() }), ...options });
  const send = (path: string, json?: unknown): Promise<Response> => {
    const headers = { "Content-Type": "application/json" };
    const init = json === undefined ? {} : { method: "POST", headers, body: JSON.stringify(json) };
    return server.fetch(new Request(`http://localhost${path}`, init), { remoteAddress: "127.0.0.1" });
  };
  let count = 0;
  /** What became of an input of this surface: its status or, where it ran, the tools that the model was shown. */
  const ask = async (surface: string | undefined): Promise<unknown> => {
    const before = provider.requests.length;
    const named = surface === undefined ? {} : { options: { surface } };
    const response = await send("/api/agent/execute", {
      sessionId: `s${++count}`,
      context: {},
      agent: "helper",
      input: "Hello.",
      ...named,
    });
    await response.text();
    if (response.status >= 300) return response.status;
    return (provider.requests[before]?.tools ?? []).map(({ name }) => name);
  };
  const has = async (path: string): Promise<boolean> => {
    const { paths } = (await (await send("/openapi.json")).json()) as { readonly paths: object };
    return Object.hasOwn(paths, path) && (await send(path)).status === 200;
  };
  return { ask, has, close: () => server.close() };
}

const server = ["search"];
const both = ["search", "click_button"];

describe("the assistant mode of a deployment", () => {
  it.each([
    { mode: "none", hasSettings: false, plain: 404, sidePanel: 400, fullPage: 400 },
    { mode: "side-panel", hasSettings: true, plain: server, sidePanel: server, fullPage: 400 },
    { mode: "full-page", hasSettings: true, plain: server, sidePanel: server, fullPage: both },
  ] as const)("A61: $mode decides routes, settings and tools of the browser together", async ({ mode, ...wanted }) => {
    const { ask, has, close } = deployed(mode);
    expect({
      hasSettings: await has("/api/ai/providers"),
      plain: await ask(undefined),
      sidePanel: await ask("side-panel"),
      fullPage: await ask("full-page"),
    }).toEqual(wanted);
    expect(await has("/api/modules")).toBe(true);
    await close();
  });

  it("A61: is not asked about where none is set", async () => {
    const { ask, has, close } = deployed(undefined);
    expect([await has("/api/ai/providers"), await ask(undefined), await ask("terminal")]).toEqual([true, both, both]);
    await close();
  });
});
