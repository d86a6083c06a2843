import { describe, expect, it } from "vitest";
import { createAgent, createSession, type DeclaredTool, defineTool, execute, factVersion, readOpening, systemText } from "../src/index.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";
import { calm, world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };
const parameters = { type: "object", properties: { colour: { type: "string" } } } as const;
const choose: DeclaredTool = { name: "choose", description: "Lets the person choose.", parameters, label: "Choose", timeoutMs: 60_000 };
const callsIt = [{ calls: [{ name: "choose", id: "c" }] }, { text: "Blue it is." }, { text: "more" }];

describe("client tools and a prompt that come with a session", () => {
  it("are shown to the model in place of the agent's prompt and beside its tools", async () => {
    const own = defineTool({ name: "own", description: "Is the agent's.", parameters, execute: () => "done" });
    const { session, provider } = world(callsIt, { tools: [own], prompt: "Be kind.", session: { tools: [choose], prompt: "Be brief." } });
    const { status, pendingToolCalls = [] } = await execute(session, "hi").result();
    expect(status).toBe("awaiting_tool_execution");
    expect(pendingToolCalls).toMatchObject([{ toolName: "choose", deadline: expect.any(Number) }]);
    const [request] = provider.requests;
    expect(systemText(request?.system)).toBe("Be brief.");
    expect(request?.tools?.map(({ name }) => name)).toEqual(["own", "choose"]);
    expect(request?.tools?.[1]).toEqual({ name: "choose", description: choose.description, parameters });
  });

  it("are in the opening of the log, from which a restored session reads them", async () => {
    const { session, store, agent, clock, provider } = world(callsIt, { session: { tools: [choose], prompt: "Be brief." } });
    await session.submit("hi");
    await calm();
    await session[Symbol.asyncDispose]();
    const opening = await readOpening(store, ref);
    expect(opening).toMatchObject({ agent: "tester", tools: [choose], prompt: "Be brief." });
    const { tools = [], prompt = "" } = opening ?? {};
    const restored = createSession({ agent, store, clock, id: "s1", tools, prompt });
    const result = await execute(restored, [{ role: "tool_result", toolCallId: "c", content: "blue" }]).result();
    expect(result).toMatchObject({ status: "completed", text: "Blue it is." });
    expect(systemText(provider.requests[1]?.system)).toBe("Be brief.");
    expect(provider.requests[1]?.tools).toEqual(provider.requests[0]?.tools);
  });

  it("leave the agent as it was for its other sessions", async () => {
    const { session, again, provider } = world([{ text: "one" }, { text: "two" }], { session: { tools: [choose], prompt: "Be brief." } });
    await execute(session, "hi").result();
    await execute(again({ id: "s2", tools: [] }), "hi").result();
    expect(provider.requests[1]?.tools).toBeUndefined();
  });

  it("that have the name of another are refused", () => {
    const own = defineTool({ name: "choose", description: "Is the agent's.", parameters, execute: () => "done" });
    const agent = createAgent({ name: "a", provider: scripted([]), tools: [own] });
    const bare = createAgent({ name: "a", provider: scripted([]) });
    const refused = expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("choose") });
    expect(() => createSession({ agent, tools: [choose] })).toThrow(refused);
    expect(() => createSession({ agent: bare, tools: [choose, choose] })).toThrow(refused);
  });

  it.each<[string, object]>([
    ["a name no vendor takes", { name: "no such.tool!" }],
    ["no description", { description: " " }],
    ["no schema", { parameters: undefined }],
    ["a schema that is no object", { parameters: { type: "string" } }],
    ["a schema that nests too deeply", { parameters: { type: "object", properties: nested(80) } }],
    ["a schema that is no JSON", { parameters: { type: "object", check: () => true } }],
    ["a deadline out of range", { timeoutMs: -1 }],
  ])("with %s are refused", (_, flaw) => {
    const agent = createAgent({ name: "a", provider: scripted([]) });
    const tools = [{ ...choose, ...flaw }];
    expect(() => createSession({ agent, tools })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  it("with a prompt that is no text are refused", () => {
    const agent = createAgent({ name: "a", provider: scripted([]) });
    const prompt = (() => "text") as never;
    expect(() => createSession({ agent, prompt })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  it("bring data alone: what else came with them never runs and is not kept", async () => {
    let ran = false;
    const more = {
      ...choose,
      execute: () => {
        ran = true;
        return "mine";
      },
      replay: "pure",
    };
    const { session, store } = world(callsIt, { session: { tools: [more] } });
    expect((await execute(session, "hi").result()).status).toBe("awaiting_tool_execution");
    expect(ran).toBe(false);
    expect((await readOpening(store, ref))?.tools).toEqual([choose]);
  });

  it("may be large: they spill into the blob store and come back whole", async () => {
    const words = "word ".repeat(20_000);
    const large = Array.from({ length: 6 }, (_, i) => ({ ...choose, name: `choose_${i}`, description: `${i} ${words}` }));
    const store = memoryStore();
    const prompt = `Mind this: ${words}`;
    const agent = createAgent({ name: "a", provider: scripted([{ text: "ok" }]) });
    const session = createSession({ agent, store, id: "s1", tools: large, prompt });
    expect((await execute(session, "hi").result()).text).toBe("ok");
    const stored = (await store.log.read(ref)).find(({ type }) => type === "session.opened");
    expect(JSON.stringify(stored).length).toBeLessThan(64 * 1024);
    expect(await readOpening(store, ref)).toMatchObject({ tools: large, prompt });
    const restored = await createSession({ agent, store, id: "s1", tools: large, prompt }).ready();
    expect(restored.messages).toHaveLength(2);
  });
});

describe("the opening of a session", () => {
  it("of which nothing is in the log is not there", async () => {
    const { session, store } = world([]);
    expect(await readOpening(store, ref)).toBeUndefined();
    expect(await session.open()).toBe(true);
    expect(await session.open()).toBe(false);
    expect(await readOpening(store, ref)).toMatchObject({ type: "session.opened", agent: "tester", participants: ["local", "tester"] });
    await store.log.remove(ref);
    expect(await readOpening(store, ref)).toBeUndefined();
  });

  it("is found behind the claims of owners", async () => {
    const { store } = world([]);
    const claim = { type: "owner.claimed", node: "n", leaseMs: 1, at: 1, v: factVersion } as const;
    const opened = { type: "session.opened", agent: "tester", at: 1, v: factVersion } as const;
    await store.log.append(ref, { expectedSeq: 0, batchId: "b", facts: [claim, claim, claim, claim, opened] });
    expect(await readOpening(store, ref)).toMatchObject(opened);
  });

  it("is not written by an input that is refused, and nothing else is either", async () => {
    const { session, store, facts } = world([]);
    const results = [{ role: "tool_result", toolCallId: "nobody", content: "x" }] as const;
    await expect(session.submit(results)).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
    await calm();
    expect(await facts()).toEqual([]);
    expect((await store.log.head(ref)).lease).toBeUndefined();
    expect(await session.open()).toBe(true);
  });
});

function nested(depth: number): object {
  return depth === 0 ? {} : { properties: nested(depth - 1) };
}
