import { expect, it } from "vitest";
import {
  chatbotCollection,
  createKnowledge,
  type KnowledgeRoutesOptions,
  knowledgeRoutes,
  memoryKnowledgeStore,
  sessionCollection,
} from "../src/index.ts";

/** Asks a route of a knowledge base, as a user of a scope. */
function deployed(options: KnowledgeRoutesOptions = {}) {
  const knowledge = createKnowledge({ store: memoryKnowledgeStore() });
  const routes = knowledgeRoutes(knowledge, options);
  const ask = async (
    method: "GET" | "POST" | "DELETE",
    scope: string,
    { query = "", text = "", type = "text/plain", user = "anne" }: { query?: string; text?: string; type?: string; user?: string } = {},
  ): Promise<unknown> => {
    const request = new Request("http://localhost/api/knowledge", { headers: { "Content-Type": type } });
    const body = new TextEncoder().encode(text);
    const context = { principal: { user, scope }, query: new URLSearchParams(query), request, body, signal: AbortSignal.timeout(10_000) };
    return (await routes.find((route) => route.method === method)?.handle(context))?.json();
  };
  return { knowledge, routes, ask };
}

it("A63: the knowledge base of a scope is listed in pages, without that of another scope, of chatbots and of sessions", async () => {
  const { knowledge, ask } = deployed();
  for (const id of ["b", "a", "c"]) await knowledge.add({ scope: "garden" }, { id, title: `Title ${id}`, text: "Roses." });
  await knowledge.add({ scope: "kitchen" }, { id: "soup", text: "Soup." });
  for (const collection of [chatbotCollection("pilot"), sessionCollection("s1")])
    await knowledge.add({ scope: "garden", collection }, { id: "hidden", text: "Hidden." });
  const list = (scope: string, query = ""): Promise<unknown> => ask("GET", scope, { query });
  const shown = (id: string) => ({ id, title: `Title ${id}`, kind: "text", passageCount: 1 });
  expect(await list("garden")).toEqual({ documents: ["a", "b", "c"].map(shown) });
  expect(await list("garden", "limit=2")).toEqual({ documents: ["a", "b"].map(shown), next: "b" });
  expect(await list("garden", "limit=2&after=b")).toEqual({ documents: [shown("c")] });
  expect(await list("kitchen")).toMatchObject({ documents: [{ id: "soup" }] });
  expect(await list("attic")).toEqual({ documents: [] });
  for (const limit of ["0", "101", "1.5", "x", ""])
    await expect(list("garden", `limit=${limit}`)).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

it("A63: documents are added and removed in the caller's scope alone, by those that may, and nowhere without a rule", async () => {
  expect(deployed().routes.map(({ id }) => id)).toEqual(["listKnowledge"]);
  const { ask, knowledge } = deployed({ mayChange: ({ user }) => user === "anne" });
  const added = await ask("POST", "garden", {
    query: "id=roses.md",
    text: "# Roses\n\nThey need sun.",
    type: "text/markdown; charset=utf-8",
  });
  expect(added).toEqual({ id: "roses.md", title: "Roses", kind: "file", passageCount: 1 });
  expect(await ask("POST", "garden", { query: "id=roses.md&title=All%20of%20roses", text: "Shade, too." })).toMatchObject({
    title: "All of roses",
  });
  expect((await knowledge.search({ scope: "garden", collections: ["shared"] }, "sun")).passages).toEqual([]);
  expect(await ask("DELETE", "kitchen", { query: "id=roses.md" })).toEqual({ removed: false });
  for (const method of ["POST", "DELETE"] as const)
    await expect(ask(method, "garden", { query: "id=roses.md", text: "x", user: "ben" })).rejects.toMatchObject({ code: "FORBIDDEN" });
  await expect(ask("POST", "garden", { text: "x" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(ask("POST", "garden", { query: "id=a", text: "x", type: "image/png" })).rejects.toMatchObject({
    code: "MEDIA_TYPE_UNSUPPORTED",
  });
  expect(await ask("DELETE", "garden", { query: "id=roses.md" })).toEqual({ removed: true });
  expect(await ask("GET", "garden")).toEqual({ documents: [] });
});
