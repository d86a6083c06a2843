import { describe, expect, it } from "vitest";
import { defineTool, execute, type ToolResultMessage } from "../src/index.ts";
import { calm, deferred, eventsOf, ofType, world } from "./harness.ts";

const client = defineTool({ name: "pick", description: "Asks the person.", parameters: { type: "object" } });
let ran = 0;
const server = defineTool({ name: "local", description: "Runs here.", parameters: { type: "object" }, execute: () => String(++ran) });
const answer = (toolCallId: string, content: string): ToolResultMessage => ({ role: "tool_result", toolCallId, content });

describe("a client tool", () => {
  it("D14, D15: suspends the run, and its result continues it", async () => {
    const { session, provider } = world([{ calls: [{ name: "pick", id: "c1" }] }, { text: "thanks" }], { tools: [client] });
    const events = await eventsOf(execute(session, "go"));
    expect(ofType(events, "awaiting_tool_execution")).toEqual([
      expect.objectContaining({ toolCalls: [expect.objectContaining({ toolCallId: "c1", toolName: "pick" })] }),
    ]);
    expect(ofType(events, "tool_execution_start")).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      type: "execute_complete",
      status: "awaiting_tool_execution",
      pendingToolCalls: [{ toolCallId: "c1" }],
    });
    expect(session.status).toBe("awaiting_tool_execution");
    expect(provider.requests).toHaveLength(1);
    const result = await execute(session, [answer("c1", "blue")]).result();
    expect(result).toMatchObject({ status: "completed", text: "thanks" });
    expect(result.messages.map(({ role }) => role)).toEqual(["tool_result", "assistant"]);
    expect(provider.requests[1]?.messages.at(-1)).toMatchObject({ toolCallId: "c1", content: [{ type: "text", text: "blue" }] });
  });

  it("D16, D18: beside a server tool lets that one run once, and both results go together in call order", async () => {
    ran = 0;
    const { session, provider } = world(
      [
        {
          calls: [
            { name: "pick", id: "c1" },
            { name: "local", id: "c2" },
          ],
        },
        { text: "both" },
      ],
      { tools: [client, server] },
    );
    await execute(session, "go").result();
    expect(ran).toBe(1);
    await execute(session, [answer("c1", "blue")]).result();
    expect(ran).toBe(1);
    expect(provider.requests[1]?.messages.slice(-2).map((message) => "toolCallId" in message && message.toolCallId)).toEqual(["c1", "c2"]);
  });

  it("D17: answered in part still waits for the rest", async () => {
    const { session } = world(
      [
        {
          calls: [
            { name: "pick", id: "a" },
            { name: "pick", id: "b" },
          ],
        },
        { text: "done" },
      ],
      { tools: [client] },
    );
    await execute(session, "go").result();
    const partly = await execute(session, [answer("a", "1")]).result();
    expect(partly).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [{ toolCallId: "b" }] });
    expect((await execute(session, [answer("b", "2")]).result()).text).toBe("done");
  });

  it("may suspend again and again", async () => {
    const { session } = world([{ calls: [{ name: "pick", id: "a" }] }, { calls: [{ name: "pick", id: "b" }] }, { text: "done" }], {
      tools: [client],
    });
    await execute(session, "go").result();
    expect((await execute(session, [answer("a", "1")]).result()).status).toBe("awaiting_tool_execution");
    expect((await execute(session, [answer("b", "2")]).result()).text).toBe("done");
  });

  it("D17: takes an equal answer again, and refuses a different, a double and a forged one without a change", async () => {
    const { session, types } = world(
      [
        {
          calls: [
            { name: "pick", id: "a" },
            { name: "pick", id: "b" },
          ],
        },
        { text: "done" },
      ],
      { tools: [client] },
    );
    await execute(session, "go").result();
    await execute(session, [answer("a", "1")]).result();
    const before = await types();
    expect((await execute(session, [answer("a", "1")]).result()).status).toBe("awaiting_tool_execution");
    await expect(execute(session, [answer("a", "2")]).result()).rejects.toMatchObject({ code: "CALL_ANSWERED" });
    await expect(execute(session, [answer("zz", "2")]).result()).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
    await expect(execute(session, [answer("b", "1"), answer("b", "1")]).result()).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(execute(session, [answer("b", "1"), answer("zz", "1")]).result()).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
    const facts = (await types()).filter((type) => type !== "owner.claimed");
    expect(facts).toEqual(before.filter((type) => type !== "owner.claimed"));
  });

  it("refuses an answer after the session was closed with SESSION_CLOSED, and accepts the repetition of one that it has", async () => {
    const { session, again } = world(
      [
        {
          calls: [
            { name: "pick", id: "a" },
            { name: "pick", id: "b" },
          ],
        },
      ],
      { tools: [client] },
    );
    await execute(session, "go").result();
    await session.submit([answer("a", "1")]);
    await session.end();
    for (const handle of [session, again({ drives: false })]) {
      for (const late of [[answer("b", "1")], [answer("a", "1"), answer("b", "1")], [answer("zz", "1")]])
        await expect(handle.submit(late)).rejects.toMatchObject({ code: "SESSION_CLOSED" });
      expect(await handle.submit([answer("a", "1")])).toMatchObject({ replayed: true });
      await expect(handle.submit([answer("a", "2")])).rejects.toMatchObject({ code: "CALL_ANSWERED" });
    }
  });

  it("waits without a process: another handle answers days later", async () => {
    const { session, again, clock } = world([{ calls: [{ name: "pick", id: "a" }] }, { text: "done" }], { tools: [client] });
    await execute(session, "go").result();
    await session[Symbol.asyncDispose]();
    clock.advance(3 * 86_400_000);
    const later = again();
    await later.ready();
    expect(later.pendingToolCalls).toMatchObject([{ toolCallId: "a" }]);
    expect((await execute(later, [answer("a", "1")]).result()).text).toBe("done");
  });

  it("D53: with a deadline continues with a timeout that the model sees, and a late answer is refused", async () => {
    const quick = defineTool({ name: "pick", description: "Asks the person.", parameters: { type: "object" }, timeoutMs: 60_000 });
    const { session, clock, provider } = world([{ calls: [{ name: "pick", id: "a" }] }, { text: "too late" }], { tools: [quick] });
    const events = await eventsOf(execute(session, "go"));
    expect(ofType(events, "awaiting_tool_execution")[0]?.toolCalls[0]?.deadline).toBeGreaterThan(0);
    clock.advance(60_001);
    await calm();
    expect(provider.requests).toHaveLength(2);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("No answer came before the deadline");
    await expect(execute(session, [answer("a", "1")]).result()).rejects.toMatchObject({ code: "CALL_ANSWERED" });
  });

  it("D53: that no process waited for is too late all the same, on any handle, which is recorded when the session is read", async () => {
    const quick = defineTool({ name: "pick", description: "Asks the person.", parameters: { type: "object" }, timeoutMs: 60_000 });
    const { session, again, clock, provider, types } = world([{ calls: [{ name: "pick", id: "a" }] }, { text: "too late" }], {
      tools: [quick],
    });
    await execute(session, "go").result();
    await session[Symbol.asyncDispose]();
    clock.advance(60_001);
    for (const drives of [false, true])
      await expect(again({ drives }).submit([answer("a", "1")])).rejects.toMatchObject({ code: "CALL_ANSWERED" });
    const worker = again();
    worker.follow({ events: () => {} });
    await calm();
    clock.advance(1);
    await calm();
    expect(worker.messages.at(-1)).toMatchObject({ content: [{ type: "text", text: "too late" }] });
    expect([provider.requests.length, (await types()).filter((type) => type === "tool.finished").length]).toEqual([2, 1]);
  });

  it("D16, D17: is answered in parts by handles that never owned the session, while a server tool of the turn still runs", async () => {
    const gate = deferred<string>();
    const slow = defineTool({ name: "slow", description: "Is slow.", parameters: { type: "object" }, execute: () => gate.promise });
    const calls = [
      { name: "pick", id: "a" },
      { name: "slow", id: "b" },
      { name: "pick", id: "c" },
    ];
    const { session, again, provider } = world([{ calls }, { text: "done" }], { tools: [client, slow] });
    const stream = execute(session, "go");
    await calm();
    await again({ drives: false }).submit([answer("c", "3")]);
    const other = again({ drives: false });
    await other.submit([answer("a", "1")]);
    await expect(other.submit([answer("b", "forged")])).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
    await calm();
    expect(provider.requests).toHaveLength(1);
    gate.resolve("2");
    expect((await stream.result()).text).toBe("done");
    const results = provider.requests[1]?.messages.slice(-3).map((message) => "content" in message && message.content);
    expect(results).toEqual(["1", "2", "3"].map((text) => [{ type: "text", text }]));
  });

  it("of an aborted run gets an aborted result", async () => {
    const { session } = world([{ calls: [{ name: "pick", id: "a" }] }, { text: "next" }], { tools: [client] });
    await execute(session, "go").result();
    expect(await session.abort()).toBe(true);
    await calm();
    expect((await execute(session, "something else").result()).text).toBe("next");
    expect(session.messages.some((message) => message.role === "tool_result" && message.outcome === "aborted")).toBe(true);
  });

  it("with an executor runs at the client if its visibility is `client`", async () => {
    const marked = defineTool({
      name: "pick",
      description: "Marked.",
      parameters: { type: "object" },
      visibility: "client",
      execute: () => "never here",
    });
    const { session } = world([{ calls: [{ name: "pick", id: "a" }] }], { tools: [marked] });
    expect((await execute(session, "go").result()).status).toBe("awaiting_tool_execution");
  });
});
