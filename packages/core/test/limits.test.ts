import { describe, expect, it } from "vitest";
import { defineTool, execute } from "../src/index.ts";
import { eventsOf, ofType, world } from "./harness.ts";

let ran = 0;
const again = defineTool({ name: "again", description: "Runs.", parameters: { type: "object" }, execute: () => String(++ran) });
const free = defineTool({ name: "free", description: "Is free.", parameters: { type: "object" }, counts: false, execute: () => "free" });
/** Calls its tool as long as it has one. */
const always = (request: { readonly tools?: readonly unknown[] }) =>
  request.tools ? { text: "more", calls: [{ name: "again" }] } : { text: "final" };

describe("M10: the turn limit", () => {
  it("is ten by default: the tenth call goes without tools and with a notice, and must answer", async () => {
    const { session, provider } = world(always as never, { tools: [again] });
    const result = await execute(session, "go").result();
    expect(provider.requests).toHaveLength(10);
    expect(provider.requests.map(({ tools }) => tools !== undefined)).toEqual([...Array(9).fill(true), false]);
    expect(provider.requests[9]?.messages.at(-1)).toMatchObject({ role: "notice", text: expect.stringContaining("limit of 10 turns") });
    expect(result).toMatchObject({ status: "completed", text: "final", limit: { which: "turns", value: 10 } });
  });

  it("holds for any number", async () => {
    for (const turnsMax of [1, 2, 3]) {
      const { session, provider } = world(always as never, { tools: [again], limits: { turnsMax } });
      await execute(session, "go").result();
      expect(provider.requests).toHaveLength(turnsMax);
    }
  });

  it("is an error that names the number and keeps the transcript, where asked for", async () => {
    const { session, provider } = world(always as never, { tools: [again], limits: { turnsMax: 3, onLimit: "error" } });
    const result = await execute(session, "go").result();
    expect(provider.requests).toHaveLength(3);
    expect(result.error).toMatchObject({ code: "LIMIT_REACHED", message: expect.stringContaining("3") });
    expect(result.messages.filter(({ role }) => role === "assistant")).toHaveLength(3);
    expect(session.messages.at(-1)?.role).toBe("tool_result");
  });

  it("with `stop` only ends the run, and another execution continues", async () => {
    const { session, provider } = world(always as never, { tools: [again], limits: { turnsMax: 2, onLimit: "stop" } });
    expect(await execute(session, "go").result()).toMatchObject({ status: "completed", limit: { which: "turns", value: 2 } });
    await execute(session, "go on").result();
    expect(provider.requests).toHaveLength(4);
  });

  it("is not met by a run that ends before it", async () => {
    const { session } = world([{ text: "hi" }], { tools: [again], limits: { turnsMax: 2 } });
    expect((await execute(session, "go").result()).limit).toBeUndefined();
  });
});

describe("M10: the limit of tool calls", () => {
  it("lets that many calls run, refuses the rest of the batch, and asks once more without tools", async () => {
    ran = 0;
    const calls = [{ name: "again" }, { name: "again" }, { name: "again" }];
    const { session, provider } = world([{ calls }, { text: "final" }], { tools: [again], limits: { toolCallsMax: 2 } });
    const events = await eventsOf(execute(session, "go"));
    expect(ran).toBe(2);
    expect(ofType(events, "limit_reached")[0]).toMatchObject({ which: "toolCalls", value: 2 });
    expect(provider.requests[1]?.tools).toBeUndefined();
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("Not run: the limit");
  });

  it("does not count tools that do not count", async () => {
    const { session } = world([{ calls: [{ name: "free" }, { name: "free" }, { name: "again" }] }, { text: "final" }], {
      tools: [again, free],
      limits: { toolCallsMax: 2 },
    });
    expect((await execute(session, "go").result()).limit).toBeUndefined();
  });
});
