import { readFileSync } from "node:fs";
import { type Agent, agentTool, createAgent, createSession, defineTool, execute, type ToolEvent } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { drawnImages, generateImage } from "@loopwright/tools-image";
import { createKnowledge, knowledgeTools, memoryKnowledgeStore } from "@loopwright/tools-knowledge";
import { inMemoryStore, memoryTools } from "@loopwright/tools-memory";
import { describe, expect, it } from "vitest";

const call = (name: string, args: Record<string, string> = {}) => ({ calls: [{ name, args }] });
const wordsOf = (result: unknown): string => JSON.stringify(result);

/** A run of an agent, and everything that its session has. */
async function ran(agent: Agent, store = memoryStore()) {
  const session = createSession({ agent, store, access: { user: "anne", scope: "garden" } });
  const { text, status } = await execute(session, "Please.").result();
  return { text, status, messages: wordsOf(session.messages) };
}

describe("A58: what the core does not do is one package more, or one value of an agent", () => {
  it("pictures in and out: tools-image", async () => {
    const store = memoryStore();
    const provider = scripted([call("generate_image", { prompt: "A rose" }), { text: "There it is." }]);
    const agent = createAgent({ name: "painter", provider, tools: [generateImage({ generator: drawnImages(), blobs: store.blobs })] });
    expect(await ran(agent, store)).toMatchObject({ status: "completed", messages: expect.stringContaining('"mediaType":"image/png"') });
  });

  it("results of tools that stream, without a package", async () => {
    const count = defineTool({
      name: "count",
      description: "Counts.",
      parameters: { type: "object" },
      async *execute(): AsyncGenerator<ToolEvent, string> {
        for (const delta of ["one ", "two ", "three"]) yield { type: "delta", delta };
        return "counted";
      },
    });
    const session = createSession({
      agent: createAgent({ name: "counter", provider: scripted([call("count"), { text: "Done." }]), tools: [count] }),
    });
    const deltas: string[] = [];
    for await (const event of execute(session, "Count.")) if (event.type === "tool_execution_delta") deltas.push(event.delta);
    expect(deltas.join("")).toBe("one two three");
  });

  it("memory over conversations: tools-memory", async () => {
    const store = inMemoryStore();
    const provider = scripted([
      ...[call("store_memory", { fact: "Anne drinks green tea." }), { text: "Kept." }],
      ...[call("retrieve_memory", { query: "tea" }), { text: "Green tea." }],
    ]);
    const agent = createAgent({ name: "companion", provider, tools: memoryTools({ store }) });
    await ran(agent);
    expect((await ran(agent)).messages).toContain("Anne drinks green tea.");
  });

  it("a knowledge base: tools-knowledge", async () => {
    const knowledge = createKnowledge({ store: memoryKnowledgeStore() });
    await knowledge.add({ scope: "garden" }, { id: "manual", text: "Prune roses in March." });
    const { tools } = knowledgeTools({ knowledge });
    const provider = scripted([call(tools[0]?.name ?? "", { query: "prune roses" }), { text: "In March." }]);
    expect((await ran(createAgent({ name: "librarian", provider, tools }))).messages).toContain("Prune roses in March.");
  });

  it("agents that call agents, without a package", async () => {
    const expert = createAgent({ name: "expert", provider: scripted([{ text: "Roses like sun." }]) });
    const provider = scripted([call("expert", { task: "Roses?" }), { text: "Sun." }]);
    const agent = createAgent({ name: "gardener", provider, tools: [agentTool({ agent: expert })] });
    expect((await ran(agent)).messages).toContain("Roses like sun.");
  });

  it("and none of these packages is known to core", () => {
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(
      readFileSync(new URL("../packages/core/package.json", import.meta.url), "utf8"),
    ) as { readonly dependencies?: object; readonly peerDependencies?: object };
    expect({ ...dependencies, ...peerDependencies }).toEqual({});
  });
});
