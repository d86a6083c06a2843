import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createAgent, createSession, execute, type Hooks } from "../src/index.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";

const city = z.object({ name: z.string(), people: z.number().int() });
const lisbon = JSON.stringify({ name: "Lisbon", people: 567_000 });

const asking = (
  texts: readonly string[],
  more: { readonly hooks?: readonly Hooks[]; readonly limits?: { readonly turnsMax: number } } = {},
) => {
  const provider = scripted(texts.map((text) => ({ text })));
  return { provider, agent: createAgent({ name: "atlas", provider, output: city, ...more }) };
};

describe("the output of an agent", () => {
  it("is the last answer, checked and typed, and the vendor gets its JSON Schema", async () => {
    const { agent, provider } = asking([lisbon]);
    const result = await execute(agent, "Where?").result();
    if (result.status !== "completed") throw new Error(result.status);
    expect(result.output.people + 1).toBe(567_001);
    expect(provider.requests[0]?.output).toMatchObject({ name: "answer", schema: { type: "object", required: ["name", "people"] } });
  });

  it("is what the schema makes of the answer", async () => {
    const provider = scripted([{ text: '{"at":"2026-11-23T00:00:00Z"}' }]);
    const at = z.object({ at: z.iso.datetime().transform((text) => text.slice(0, 10)) });
    const schema = z.toJSONSchema(at, { io: "input" }) as { readonly type: string };
    const result = await execute(createAgent({ name: "clock", provider, output: { name: "when", schema, check: at } }), "When?").result();
    expect(result.output).toEqual({ at: "2026-11-23" });
    expect(provider.requests[0]?.output).toEqual({ name: "when", schema });
  });

  it("is the JSON of the answer where there is a JSON Schema alone, checked by its shape", async () => {
    const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const provider = scripted([{ text: '{"name":"Faro"}' }, { text: '{"name":7}' }, { text: "{}" }]);
    const agent = createAgent({ name: "atlas", provider, output: { name: "city", schema } });
    expect((await execute(agent, "Where?").result()).output).toEqual({ name: "Faro" });
    expect((await execute(agent, "Where?").result()).error).toMatchObject({ code: "OUTPUT_INVALID" });
  });

  it("is asked for once more when an answer does not fit, with what is wrong", async () => {
    const { agent, provider } = asking(['{"name":"Lisbon"}', lisbon]);
    const result = await execute(agent, "Where?").result();
    expect(result.output).toEqual({ name: "Lisbon", people: 567_000 });
    const notice = provider.requests[1]?.messages.at(-1);
    expect(notice).toMatchObject({ role: "notice", text: expect.stringMatching(/not in the required form[\s\S]*`people`: /) });
  });

  it.each([
    ["no JSON", "Lisbon, of course."],
    ["no object", '["Lisbon"]'],
    ["another form", '{"name":7,"people":1}'],
    ["nothing", ""],
  ])("fails the run when the second answer is %s, and no third one is asked for", async (_, text) => {
    const { agent, provider } = asking([text, text, lisbon]);
    const session = createSession({ agent });
    const result = await execute(session, "Where?").result();
    expect(result).toMatchObject({ status: "error", error: { code: "OUTPUT_INVALID", retryable: false } });
    expect([provider.requests.length, session.status]).toEqual([2, "error"]);
  });

  it("of a later input may be corrected again", async () => {
    const { agent } = asking(["no", lisbon, "no", lisbon]);
    const session = createSession({ agent });
    await execute(session, "Where?").result();
    expect((await execute(session, "And now?").result()).output).toEqual({ name: "Lisbon", people: 567_000 });
  });

  it("is not corrected beyond the last turn of a run", async () => {
    const { agent, provider } = asking(["no", lisbon], { limits: { turnsMax: 1 } });
    expect((await execute(agent, "Where?").result()).error?.code).toBe("OUTPUT_INVALID");
    expect(provider.requests).toHaveLength(1);
  });

  it("is left to a hook that takes another turn, and checked when one stops", async () => {
    const nudge: Hooks = {
      name: "decide",
      decide: ({ turn }) => (turn === 1 ? { action: "nudge", notice: "As JSON." } : { action: "stop" }),
    };
    const { agent, provider } = asking(["no", lisbon], { hooks: [nudge] });
    expect((await execute(agent, "Where?").result()).output).toEqual({ name: "Lisbon", people: 567_000 });
    expect(provider.requests).toHaveLength(2);
    const stopped = asking(["no", lisbon], { hooks: [{ name: "decide", decide: () => ({ action: "stop" }) }] });
    expect((await execute(stopped.agent, "Where?").result()).error?.code).toBe("OUTPUT_INVALID");
  });

  it("is missing when a limit ends the run before an answer: such a result is an error", async () => {
    const provider = scripted([{ calls: [{ name: "look" }] }]);
    const look = { name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "nothing" };
    const limits = { turnsMax: 1, onLimit: "stop" } as const;
    const result = await execute(createAgent({ name: "atlas", provider, tools: [look], limits, output: city }), "Where?").result();
    expect(result).toMatchObject({ status: "error", error: { code: "OUTPUT_INVALID" }, limit: { which: "turns" } });
  });

  it("is the same for a handle that comes later", async () => {
    const { agent } = asking([lisbon]);
    const store = memoryStore();
    await execute(createSession({ agent, store, id: "one" }), "Where?", { idempotencyKey: "k" }).result();
    const again = await execute(createSession({ agent, store, id: "one" }), "Where?", { idempotencyKey: "k" }).result();
    expect(again.output).toEqual({ name: "Lisbon", people: 567_000 });
  });

  it("that throws or is no schema of an object is refused", async () => {
    const provider = scripted([{ text: "{}" }, { text: "{}" }]);
    const check = { "~standard": { version: 1, vendor: "own", validate: () => Promise.reject(new Error("secret")) } } as const;
    const thrown = await execute(
      createAgent({ name: "atlas", provider, output: { name: "x", schema: { type: "object" }, check } }),
      "?",
    ).result();
    expect(thrown.error).toMatchObject({ code: "OUTPUT_INVALID", message: expect.not.stringContaining("secret") });
    for (const output of [z.string(), { name: "a b", schema: { type: "object" } }, { name: "x", schema: {} }, "text", null, check])
      expect(() => createAgent({ name: "atlas", provider, output: output as never })).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }),
      );
  });
});

describe("execute with an agent", () => {
  it("asks one question in a private session", async () => {
    const agent = createAgent({ name: "helper", provider: scripted([{ text: "42" }, { text: "43" }]) });
    const [first, second] = [execute(agent, "What is 6 * 7?"), execute(agent, "And one more?")];
    expect((await first.result()).text).toBe("42");
    expect((await second.result()).messages).toHaveLength(2);
    expect(first.sessionId).not.toBe(second.sessionId);
  });
});

describe("the output that one input asks for", () => {
  const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

  it("is checked like that of an agent, in the run of this input alone", async () => {
    const provider = scripted([{ text: '{"name":7}' }, { text: '{"name":"Faro"}' }, { text: "By the sea." }]);
    const session = createSession({ agent: createAgent({ name: "atlas", provider }), store: memoryStore() });
    const result = await execute(session, "Where?", { output: { name: "city", schema } }).result();
    expect([result.status, result.output]).toEqual(["completed", { name: "Faro" }]);
    expect(await execute(session, "Where is that?").result()).toMatchObject({ status: "completed", text: "By the sea." });
    expect(provider.requests.map(({ output }) => output?.name)).toEqual(["city", "city", undefined]);
  });

  it.each([
    ["a list", { name: "city", schema: { type: "array" } }, {}],
    ["a name with a blank", { name: "a city", schema }, {}],
    ["a schema beside that of its agent", { name: "city", schema }, { output: city }],
  ])("is refused for %s", (_, output, more) => {
    const agent = createAgent({ name: "atlas", provider: scripted([{ text: lisbon }]), ...more });
    expect(() => execute(createSession({ agent }), "Where?", { output })).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});
