import { expect, it } from "vitest";
import { chatbotCollection, createKnowledge, knowledgeRoutes, memoryKnowledgeStore, sessionCollection } from "../src/index.ts";

it("A63: the knowledge base of a scope is listed in pages, without that of another scope, of chatbots and of sessions", async () => {
  const knowledge = createKnowledge({ store: memoryKnowledgeStore() });
  for (const id of ["b", "a", "c"]) await knowledge.add({ scope: "garden" }, { id, title: `Title ${id}`, text: "Roses." });
  await knowledge.add({ scope: "kitchen" }, { id: "soup", text: "Soup." });
  for (const collection of [chatbotCollection("pilot"), sessionCollection("s1")])
    await knowledge.add({ scope: "garden", collection }, { id: "hidden", text: "Hidden." });
  const [route] = knowledgeRoutes(knowledge);
  const list = async (scope: string, query = ""): Promise<unknown> =>
    (await route?.handle({ principal: { scope }, query: new URLSearchParams(query) }))?.json();
  const shown = (id: string) => ({ id, title: `Title ${id}`, kind: "text", passageCount: 1 });
  expect(await list("garden")).toEqual({ documents: ["a", "b", "c"].map(shown) });
  expect(await list("garden", "limit=2")).toEqual({ documents: ["a", "b"].map(shown), next: "b" });
  expect(await list("garden", "limit=2&after=b")).toEqual({ documents: [shown("c")] });
  expect(await list("kitchen")).toMatchObject({ documents: [{ id: "soup" }] });
  expect(await list("attic")).toEqual({ documents: [] });
  for (const limit of ["0", "101", "1.5", "x", ""])
    await expect(list("garden", `limit=${limit}`)).rejects.toMatchObject({ code: "INPUT_INVALID" });
});
