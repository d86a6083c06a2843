import { createAgent, createSession, defineTool, execute } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import type { AgentEvent } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { decodeUnion, encodeUnion, unionDialect } from "../src/index.ts";

const parameters = { type: "object" } as const;
const act = defineTool({
  name: "act",
  description: "Acts step by step.",
  parameters,
  async *execute() {
    yield { stream: "a" };
    return { done: true };
  },
});
const ask = defineTool({ name: "ask", description: "Asks at the client.", parameters });
const spend = defineTool({ name: "spend", description: "Spends.", parameters, approval: "always", execute: () => "spent" });

/** The events of runs with an answer in pieces, thinking, a streaming tool, a retry, a client's tool, an approval and a failure. */
async function manyEvents(): Promise<readonly AgentEvent[]> {
  const provider = scripted([
    { thinking: "Hm.", text: "Let me see.", calls: [{ name: "act" }] },
    { text: "Done." },
    { calls: [{ name: "ask", id: "c1" }, { name: "spend" }] },
    { error: "MODEL_AUTH" },
  ]);
  const session = createSession({ agent: createAgent({ name: "helper", provider, tools: [act, ask, spend] }) });
  const events: AgentEvent[] = [];
  const follow = async (): Promise<void> => {
    for await (const event of execute(session, "Go")) events.push(event);
  };
  await follow();
  await follow();
  for await (const event of execute(session, [{ role: "tool_result", toolCallId: "c1", content: "blue" }])) events.push(event);
  const [approval] = session.pendingApprovals;
  const decided = await session.decide(approval?.callKey ?? "", { decision: "deny" });
  for await (const event of decided.stream()) events.push(event);
  return events;
}

describe("the codec of unions", () => {
  it("A13: writes each event as a case with one record and reads it back as it was", async () => {
    const events = await manyEvents();
    expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(15);
    for (const event of events) {
      const union = JSON.parse(JSON.stringify(encodeUnion(event)));
      expect(Object.keys(union)).toEqual(["Case", "Fields"]);
      expect(union.Case).toMatch(/^[A-Z][A-Za-z]*$/);
      expect(decodeUnion(union)).toEqual(JSON.parse(JSON.stringify(event)));
    }
  });

  it("has this form", () => {
    expect(encodeUnion({ type: "text_delta", lane: 3, n: 1, index: 0, delta: "Hi" })).toEqual({
      Case: "TextDelta",
      Fields: [{ lane: 3, n: 1, index: 0, delta: "Hi" }],
    });
  });

  it.each([
    ["nothing", null],
    ["a text", "TextDelta"],
    ["no case", { Fields: [{}] }],
    ["a case that is no name", { Case: "text delta", Fields: [{}] }],
    ["no record", { Case: "TextDelta", Fields: [] }],
    ["two records", { Case: "TextDelta", Fields: [{}, {}] }],
    ["a list for a record", { Case: "TextDelta", Fields: [[]] }],
  ])("refuses %s", (_, value) => {
    expect(() => decodeUnion(value)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });

  it("is a dialect: every frame names its session, and a slow reader may miss deltas alone", () => {
    const reader = unionDialect.open({ runOf: () => undefined });
    const frames = reader.events("garden", [
      { type: "text_delta", lane: 3, n: 1, index: 0, delta: "Hi" },
      { type: "run_end", status: "completed", reason: "answer", runId: "r1", sessionId: "garden", seq: 4, k: 0, at: 5 },
    ]);
    expect(frames.map(({ event, isSpare = false }) => [event, isSpare])).toEqual([
      ["TextDelta", true],
      ["RunEnd", false],
    ]);
    expect(frames.map(({ data }) => decodeUnion(data))).toMatchObject([{ sessionId: "garden" }, { sessionId: "garden" }]);
    expect(reader.notification({ type: "refresh", data: 1 })).toEqual([
      { event: "Notification", data: { Case: "Notification", Fields: [{ type: "refresh", data: 1 }] } },
    ]);
  });
});
