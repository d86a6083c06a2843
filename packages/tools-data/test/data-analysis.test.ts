import { createAgent, createSession, execute, type UserMessage } from "@loopwright/core";
import { memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import type { ModelRequest, SessionStore } from "@loopwright/core/ports";
import { runTool } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { dataAnalysisTool, dataAnalyst } from "../src/index.ts";

const units = Array.from({ length: 3_000 }, (_, at) => (at * 7_919) % 1_000);
const csv = `region,units\n${units.map((value, at) => `${at % 2 === 0 ? "North" : "South"},${value}`).join("\n")}\n`;
const north = units.filter((_, at) => at % 2 === 0).reduce((sum, value) => sum + value, 0);
const sql = "SELECT sum(units) AS total FROM sales WHERE region = 'North'";

async function attached(store: SessionStore, text: string, question = "How many units in the North?"): Promise<UserMessage> {
  const bytes = new TextEncoder().encode(csv);
  await store.blobs.put("local", text, { bytes, mediaType: "text/csv" });
  const file = { type: "file", mediaType: "text/csv", name: "sales.csv", source: { blob: text, sizeBytes: bytes.length } } as const;
  return { role: "user", content: [{ type: "text", text: question }, file] };
}

/** An answer that repeats the last result. */
const repeats = ({ messages }: ModelRequest): ScriptedTurn => ({ text: `Found: ${JSON.stringify(messages.at(-1))}` });

describe("a data analyst (B103)", () => {
  it("computes with all of an attached table, also in a later run and in another process, and shows the query", async () => {
    const store = memoryStore();
    const provider = scripted([
      { calls: [{ name: "query_tables", args: { sql } }] },
      repeats,
      { calls: [{ name: "run_snippet", args: { code: "tables.sales.length" } }] },
      repeats,
    ] as readonly ScriptedTurn[]);
    const agent = dataAnalyst({ provider, store });
    const session = createSession({ agent, store, id: "a" });
    const first = await execute(session, await attached(store, "table")).result();
    expect(first.text).toContain(`| ${north} |`);
    expect(first.text).toContain(`Query: ${sql}`);
    await session[Symbol.asyncDispose]();
    const later = await execute(createSession({ agent, store, id: "a" }), "And how many rows?").result();
    expect(later.text).toContain("Value: 3000");
  });

  it("is asked by the tool of an orchestrator, whose child has the file until both are erased, and sees little of its bytes", async () => {
    const store = memoryStore();
    const analyst = scripted([{ calls: [{ name: "query_tables", args: { sql } }] }, repeats] as readonly ScriptedTurn[]);
    const tool = dataAnalysisTool({ provider: analyst, store });
    const main = scripted([
      { calls: [{ name: "data_analysis_tool", args: { question: "Units of the North?" } }] },
      repeats,
    ] as readonly ScriptedTurn[]);
    const session = createSession({ agent: createAgent({ name: "main", provider: main, tools: [tool] }), store, id: "a" });
    const { text } = await execute(session, await attached(store, "table")).result();
    expect(text).toContain(String(north));
    const [asked] = analyst.requests;
    expect(JSON.stringify(asked?.messages[0])).toContain("Units of the North?");
    const [, file] = asked?.messages[0]?.role === "user" ? asked.messages[0].content : [];
    const shown = typeof file === "object" && file.type === "file" ? atob(file.source.data ?? "") : "";
    expect(shown).toContain(`Only the first 1000 of ${csv.length} bytes`);
    const children = await store.index.list("local", { parent: "a" });
    expect(children).toHaveLength(1);
    await store.log.remove({ scope: "local", session: "a" });
    expect(await store.blobs.list("local")).toEqual(["table"]);
    for (const { id } of children) await store.log.remove({ scope: "local", session: id });
    expect(await store.blobs.list("local")).toEqual([]);
  });

  it("without an attached table is an error that the model reads, and starts no child", async () => {
    const tool = dataAnalysisTool({ provider: scripted([]), store: memoryStore() });
    const { text } = await runTool(tool, { question: "How many?" });
    expect(text).toContain("The conversation has no tables.");
  });
});
