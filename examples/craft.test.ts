import { createAgent, createSession, execute } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { artifactRoutes, craftTool } from "@loopwright/tools-craft";
import { expect, test } from "vitest";

test("B99: artifacts of a session are read over HTTP, each version, and refused where the session is not visible", async () => {
  const turns = [
    { calls: [{ name: "craft_tool", args: { title: "Poem", content: "Roses are red" } }] },
    { calls: [{ name: "craft_tool", args: { id: "artifact-1", edits: [{ find: "red", replace: "white" }] } }] },
    { text: "Done." },
  ];
  const agent = createAgent({ name: "author", provider: scripted(turns), tools: [craftTool()] });
  const runtime = createRuntime({ agents: [agent], store: memoryStore() });
  const access = { user: "ann", scope: "garden" };
  const session = createSession({ agent, id: "work", store: runtime.store, access });
  await execute(session, "Write a poem.").result();
  await session[Symbol.asyncDispose]();
  const server = createServer({
    runtime,
    authenticate: (request) => ({ user: "ann", scope: request.headers.get("X-Scope") ?? "" }),
    routes: [...artifactRoutes],
  });
  const get = async (path: string, scope = "garden"): Promise<readonly [number, unknown]> => {
    const response = await server.fetch(new Request(`http://localhost/api/artifacts/${path}`, { headers: { "X-Scope": scope } }));
    return [response.status, await response.json()];
  };
  const version = { id: "artifact-1", title: "Poem", kind: "text" };
  expect(await get("work")).toEqual([
    200,
    { artifacts: [{ id: "artifact-1", versions: [13, 15].map((characters, at) => ({ ...version, version: at + 1, characters })) }] },
  ]);
  expect(await get("work/artifact-1")).toEqual([200, { ...version, version: 2, content: "Roses are white" }]);
  expect(await get("work/artifact-1?version=1")).toEqual([200, { ...version, version: 1, content: "Roses are red" }]);
  expect((await get("work/artifact-1?version=3"))[0]).toBe(404);
  expect((await get("work/artifact-2"))[0]).toBe(404);
  expect((await get("work", "elsewhere"))[0]).toBe(404);
  await server.close();
});
