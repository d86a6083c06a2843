import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextEngine } from "@loopwright/context";
import { createAgent, createSession, defineTool, execute } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { markdownMemory, memoryFileTools, rememberBeforeCompaction } from "@loopwright/tools-memory/node";
import { expect, it, onTestFinished } from "vitest";

it("C53, C55: what a conversation found is in the memory of the day before it is compacted, and another conversation finds it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-memory-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const memory = markdownMemory({ folder });
  const engine = contextEngine();
  const look = defineTool({
    name: "look_up",
    description: "Looks something up.",
    parameters: { type: "object" },
    replay: "pure",
    execute: () => `The lighthouse was built in 1873. ${"It has a long history. ".repeat(100)}`,
  });
  const compacting = scripted(
    [
      { calls: [{ name: "look_up", args: {} }] },
      { text: "It was built in 1873." },
      ...Array.from({ length: 12 }, (_, place) => ({ text: `Answer ${place}: ${"words ".repeat(300)}` })),
    ],
    { capabilities: { contextTokens: 4_000 } },
  );
  const agent = createAgent({ name: "keeper", provider: compacting, tools: [look], context: rememberBeforeCompaction(engine, memory) });
  const store = memoryStore();
  const first = createSession({ agent, store });
  await execute(first, "When was the lighthouse built?").result();
  for (let turn = 0; turn < 12; turn++) await execute(first, `Next question ${turn}, please.`).result();

  const facts = await store.log.read({ scope: "local", session: first.id });
  const compactions = facts.filter((fact) => fact.type === "context.compacted");
  expect(compactions.length).toBeGreaterThan(0);
  for (const { tokensBefore = 0, tokensAfter = 0 } of compactions) expect(tokensAfter).toBeLessThan(tokensBefore);
  // The originals stay in the log.
  expect(facts.some((fact) => fact.type === "tool.finished" && JSON.stringify(fact).includes("1873"))).toBe(true);
  const [day = ""] = await readdir(join(folder, "local", "local"));
  const text = await readFile(join(folder, "local", "local", day), "utf8");
  expect(text).toContain("> look_up: The lighthouse was built in 1873.");
  expect(text.split("look_up: The lighthouse")).toHaveLength(2);

  const asking = scripted([{ calls: [{ name: "memory_search", args: { query: "lighthouse built" } }] }, { text: "In 1873." }]);
  const second = createSession({ agent: createAgent({ name: "guide", provider: asking, tools: memoryFileTools(memory) }), store });
  expect((await execute(second, "How old is the lighthouse?").result()).text).toBe("In 1873.");
  expect(JSON.stringify(asking.requests.at(-1)?.messages)).toContain("The lighthouse was built in 1873.");
});
