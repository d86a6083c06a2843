import { describe, expect, it } from "vitest";
import { restore } from "../src/driver/log/spill-large-values.ts";
import { createSimpleTool, defineTool, execute } from "../src/index.ts";
import { world } from "./harness.ts";

const parameters = { type: "object" } as const;
const many = (name: string, count: number): { name: string }[] => Array.from({ length: count }, () => ({ name }));

describe("a turn with more calls than an append takes facts", () => {
  it("answers every unknown tool", async () => {
    const { session, facts } = world([{ calls: many("nobody", 600) }, { text: "ok" }]);
    expect((await execute(session, "hi").result()).text).toBe("ok");
    expect((await facts()).filter(({ type }) => type === "tool.finished")).toHaveLength(600);
  });

  it("runs every tool, also all at once", async () => {
    const tool = defineTool({ name: "work", description: "Works", parameters, execute: () => "done" });
    const { session, facts } = world([{ calls: many("work", 600) }, { text: "ok" }], { tools: [tool], limits: { parallelMax: 600 } });
    expect((await execute(session, "hi").result()).text).toBe("ok");
    expect((await facts()).filter(({ type }) => type === "tool.started")).toHaveLength(600);
  });

  it("takes the results of its client calls in parts", async () => {
    const tool = defineTool({ name: "ask", description: "Asks", parameters });
    const { session } = world([{ calls: many("ask", 300) }, { text: "ok" }], { tools: [tool] });
    const { pendingToolCalls = [] } = await execute(session, "hi").result();
    expect(pendingToolCalls).toHaveLength(300);
    const results = pendingToolCalls.map(({ toolCallId, callKey, toolName }) => ({
      role: "tool_result" as const,
      toolCallId,
      callKey,
      toolName,
      content: "yes",
    }));
    const refused = execute(session, results).result();
    await expect(refused).rejects.toMatchObject({ code: "INPUT_INVALID" });
    for (let from = 0; from < 200; from += 100)
      expect((await execute(session, results.slice(from, from + 100)).result()).status).toBe("awaiting_tool_execution");
    expect((await execute(session, results.slice(200)).result()).text).toBe("ok");
  });
});

describe("what a tool gives back that is large in many small pieces", () => {
  const small = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, n % 10]));
  const details = { big: "b".repeat(40_000), ...small };

  it("is recorded whole, within the limits of the log", async () => {
    const tool = createSimpleTool({ name: "work", description: "Works", parameters }, async () => ({ output: "done", details }));
    const { session, facts, store } = world([{ calls: many("work", 1) }, { text: "ok" }], { tools: [tool] });
    expect((await execute(session, "hi").result()).text).toBe("ok");
    const finished = (await facts()).filter(({ type }) => type === "tool.finished");
    expect(JSON.stringify(finished).length).toBeLessThan(1_000);
    expect(await restore(finished, store.blobs, { scope: "local", session: session.id })).toMatchObject([{ details }]);
  });

  it("is recorded whole where a hundred results that are large together come at once", async () => {
    const tool = defineTool({ name: "ask", description: "Asks", parameters });
    const { session, types } = world([{ calls: many("ask", 100) }, { text: "ok" }], { tools: [tool] });
    const { pendingToolCalls = [] } = await execute(session, "hi").result();
    const results = pendingToolCalls.map(({ toolCallId, callKey, toolName }) => ({
      role: "tool_result" as const,
      ...{ toolCallId, callKey, toolName },
      content: "yes ".repeat(20_000),
    }));
    expect((await execute(session, results).result()).text).toBe("ok");
    expect((await types()).filter((type) => type === "client.answered")).toHaveLength(100);
  });
});
