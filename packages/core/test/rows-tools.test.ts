import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createSimpleTool, defineTool, execute, type Hooks, jsonSchemaOf, type Tool } from "../src/index.ts";
import type { Logger } from "../src/ports/index.ts";
import { type AgentParts, eventsOf, ofType, world } from "./harness.ts";

const object = { type: "object" } as const;
const tool = (name: string, execute: Tool["execute"], more: Partial<Tool> = {}): Tool =>
  defineTool({ name, description: `Is ${name}.`, parameters: object, ...(execute ? { execute } : {}), ...more });

/** One turn with these calls, then an answer. */
async function turnOf(calls: readonly object[], options: AgentParts & { readonly logger?: Logger }) {
  const { logger, ...agent } = options;
  const made = world([{ calls, usage: { input: 10 } }, { text: "done" }] as never, {
    ...agent,
    ...(logger ? { session: { logger } } : {}),
  });
  const events = await eventsOf(execute(made.session, "go"));
  const published = (made.provider.requests[1]?.messages ?? []).filter((message) => message.role === "tool_result");
  return { ...made, events, published, texts: published.map(({ content }) => JSON.stringify(content)) };
}

describe("a call", () => {
  it("B07: is asked whether it may, then checked, then judged, then recorded as started, and only then run", async () => {
    const order: string[] = [];
    const parameters = z.object({
      n: z.number().transform((n) => {
        order.push("arguments");
        return n;
      }),
    });
    const spied: Tool = {
      ...tool("spied", () => order.push("execute")),
      parameters,
      enabled: () => order.push("enabled") > 0,
    } as Tool;
    const hooks: Hooks = { name: "gate", gate: () => void order.push("gate"), review: () => void order.push("review") };
    const { session, store } = world([{ calls: [{ name: "spied", args: { n: 1 } }] }, { text: "ok" }], { tools: [spied], hooks: [hooks] });
    const { append } = store.log;
    store.log.append = (ref, request) => {
      if (request.facts.some(({ type }) => type === "tool.started")) order.push("recorded");
      return append.call(store.log, ref, request);
    };
    await execute(session, "go").result();
    expect(order).toEqual(["enabled", "arguments", "gate", "recorded", "execute", "review"]);
  });

  it.each([
    ["B08: to a tool that is not enabled", { name: "off" }, "TOOL_NOT_ENABLED"],
    ["B67: to a tool that does not exist", { name: "nowhere" }, "TOOL_UNKNOWN"],
    ["B90: with arguments that are no JSON", { name: "strict", argsText: '{"a":' }, "TOOL_ARGUMENTS"],
    ["B07: with arguments that do not fit", { name: "strict", args: { a: "x" } }, "TOOL_ARGUMENTS"],
  ])("%s is answered with its code without running, and the run continues", async (_, call, code) => {
    let ran = 0;
    const strict = defineTool({ name: "strict", description: "Is strict.", parameters: z.object({ a: z.number() }), execute: () => ++ran });
    const tools = [tool("off", () => ++ran, { enabled: () => false }), strict];
    const { texts, session, facts } = await turnOf([call], { tools });
    expect(texts[0]).toContain(`"${code}: `);
    expect((await facts()).find(({ type }) => type === "tool.finished")).toMatchObject({ failure: { code } });
    expect(ran).toBe(0);
    expect(session.status).toBe("completed");
    expect(session.totalUsage).toEqual({ input: 10 });
  });

  it("B67: to unknown tools again and again ends at the turn limit, and every attempt is paid for", async () => {
    const script = (request: { readonly tools?: readonly unknown[] }) =>
      request.tools ? { calls: [{ name: "nowhere" }], usage: { input: 1 } } : { text: "sorry", usage: { input: 1 } };
    const { session, provider } = world(script as never, { tools: [tool("good", () => "fine")], limits: { turnsMax: 4 } });
    expect(await execute(session, "go").result()).toMatchObject({ text: "sorry", usage: { input: 4 } });
    expect(provider.requests).toHaveLength(4);
  });

  it("B96: that is bad spoils no other of its batch", async () => {
    const { published } = await turnOf([{ name: "good" }, { name: "nowhere" }, { name: "good", argsText: "{" }, { name: "good" }], {
      tools: [tool("good", () => "fine")],
    });
    expect(published.map(({ outcome }) => outcome)).toEqual(["ok", "error", "error", "ok"]);
  });

  it("B70: that fails with a long text shows 2,000 characters of it, beside the results of the others", async () => {
    const throws = tool("throws", () => {
      throw new Error("x".repeat(5_000));
    });
    const { published, texts } = await turnOf([{ name: "throws" }, { name: "good" }], { tools: [throws, tool("good", () => "fine")] });
    expect(published.map(({ outcome }) => outcome)).toEqual(["error", "ok"]);
    expect(texts[0]?.length).toBeLessThan(2_100);
  });

  it("B70: that fails is in the list of failed tools that the next decision reads, is stored cut, and ends no run", async () => {
    const failed: (readonly string[])[] = [];
    const hooks: Hooks = {
      name: "failed",
      decide({ messages }) {
        const answerAt = messages.findLastIndex(({ role }) => role === "assistant");
        const results = messages.slice(answerAt + 1).flatMap((one) => (one.role === "tool_result" && one.outcome === "error" ? [one] : []));
        failed.push(results.flatMap(({ toolName }) => toolName ?? []));
        return undefined;
      },
    };
    const throws = (name: string): Tool =>
      tool(name, () => {
        throw new Error(`${name} ${"x".repeat(5_000)}`);
      });
    const tools = [throws("one"), tool("good", () => "fine"), throws("two")];
    const { facts, session, events } = await turnOf([{ name: "one" }, { name: "good" }, { name: "two" }], { tools, hooks: [hooks] });
    expect(failed).toEqual([[], ["one", "two"]]);
    const finished = (await facts()).flatMap((fact) => (fact.type === "tool.finished" ? [fact] : []));
    expect(finished.map(({ outcome }) => outcome).sort()).toEqual(["error", "error", "ok"]);
    for (const fact of finished) expect(JSON.stringify(fact).length).toBeLessThan(3_000);
    expect(ofType(events, "run_end")).toMatchObject([{ status: "completed" }]);
    expect(session.status).toBe("completed");
  });

  it("that a gate denies with a long reason shows 2,000 characters of it", async () => {
    const hooks: Hooks = { name: "gate", gate: () => ({ action: "deny", reason: "y".repeat(5_000) }) };
    const { texts } = await turnOf([{ name: "good" }], { tools: [tool("good", () => "fine")], hooks: [hooks] });
    expect(texts[0]?.length).toBeLessThan(2_100);
  });

  it("B97: whose result cannot be formatted leaves the others stored, and the error shows", async () => {
    const hooks: Hooks = {
      name: "review",
      review({ call }) {
        if (call.id === "c2") throw new Error("formatter broke");
        return undefined;
      },
    };
    const calls = ["c1", "c2", "c3"].map((id) => ({ name: "good", id }));
    const { published, texts, facts, session } = await turnOf(calls, { tools: [tool("good", () => "fine")], hooks: [hooks] });
    expect(published.map(({ outcome }) => outcome)).toEqual(["ok", "error", "ok"]);
    expect(texts[1]).toContain("HOOK_FAILED: The hook `review` of `review` failed.");
    const stored = (await facts()).flatMap((fact) => (fact.type === "tool.finished" ? [fact.outcome] : []));
    expect(stored.sort()).toEqual(["error", "ok", "ok"]);
    expect(session.status).toBe("completed");
  });

  it.each([
    ["no JSON", '{"a": tru', "ok"],
    ["no object", "[1]", "ok"],
    ["a forbidden key", '{"__proto__": {}}', "error"],
  ])("to a tool that asked for defaults with %s as arguments (%s) ends as %s", async (_, argsText, outcome) => {
    const seen: unknown[] = [];
    const lenient = tool("lenient", (args) => seen.push(args), { onBadArguments: "defaults" });
    const { published } = await turnOf([{ name: "lenient", argsText }], { tools: [lenient] });
    expect(published[0]?.outcome).toBe(outcome);
    expect(seen).toEqual(outcome === "ok" ? [{}] : []);
  });

  it("to a tool that asked for defaults is still refused when it was cut off, or when its schema wants more", async () => {
    const parameters = z.object({ a: z.number() });
    const strict = defineTool({ name: "strict", description: "Needs a.", parameters, onBadArguments: "defaults", execute: ({ a }) => a });
    expect((await turnOf([{ name: "strict", argsText: "nonsense" }], { tools: [strict] })).texts[0]).toContain("`a`");
    const cut = world([{ calls: [{ name: "free", argsText: '{"a' }], stopReason: "length" }, { text: "ok" }], {
      tools: [tool("free", () => "ran", { onBadArguments: "defaults" })],
    });
    await execute(cut.session, "go").result();
    expect(JSON.stringify(cut.provider.requests[1]?.messages)).toContain("cut off");
  });
});

describe("a tool", () => {
  it("D28: shows its label where it has one", async () => {
    const tools = [tool("plain", () => "a"), tool("named", () => "b", { label: "A fine name" })];
    const { events } = await turnOf([{ name: "plain" }, { name: "named" }], { tools });
    expect(ofType(events, "tool_execution_start").map(({ toolName, label }) => [toolName, label])).toEqual([
      ["plain", undefined],
      ["named", "A fine name"],
    ]);
  });

  it("D30, D33: may answer at once, later or piece by piece; what the model sees is the same", async () => {
    const tools = [
      tool("value", () => "same"),
      tool("promise", async () => "same"),
      tool("stream", async function* () {
        yield { type: "delta", delta: "sa" } as const;
        yield { type: "delta", delta: "me" } as const;
      }),
      createSimpleTool({ name: "simple", description: "Is simple.", parameters: object }, async () => ({ output: "same" })),
    ];
    const { published } = await turnOf(
      tools.map(({ name }) => ({ name })),
      { tools },
    );
    expect(published.map(({ content, outcome }) => [content, outcome])).toEqual(tools.map(() => [[{ type: "text", text: "same" }], "ok"]));
  });

  it("D29: gets the id of its call", async () => {
    const { texts } = await turnOf([{ name: "echo", id: "abc" }], { tools: [tool("echo", (_, { callId }) => callId)] });
    expect(texts[0]).toContain("abc");
  });

  it("B73: has the tokens it used under its name, and nonsense in their place is a warning", async () => {
    const warnings: string[] = [];
    const logger: Logger = { log: (level, message) => void (level === "warn" && warnings.push(message)) };
    const tools = [
      tool("thinks", (_, { addUsage }) => {
        addUsage({ input: 5, output: 1 });
        return "ok";
      }),
      tool("lies", (_, { addUsage }) => {
        addUsage({ input: Number.NaN, output: -1 });
        addUsage(null as never);
        return "ok";
      }),
    ];
    const { facts, published, session } = await turnOf([{ name: "thinks" }, { name: "lies" }], { tools, logger });
    const used = (await facts()).flatMap((fact) => (fact.type === "tool.finished" ? [fact.usage] : []));
    expect(used).toEqual(expect.arrayContaining([{ input: 5, output: 1, tools: ["thinks"] }, undefined]));
    expect(published.map(({ outcome }) => outcome)).toEqual(["ok", "ok"]);
    expect(session.totalUsage).toEqual({ input: 15, output: 1 });
    expect(warnings).toHaveLength(2);
  });

  it("B05: with optional, enumerated, nullable and nested arguments is shown as a JSON Schema of the same form", () => {
    const parameters = z.object({
      kind: z.enum(["a", "b"]),
      note: z.string().optional(),
      until: z.string().nullable(),
      rows: z.array(z.array(z.object({ n: z.number() }))),
    });
    expect(jsonSchemaOf({ name: "t", parameters })).toMatchObject({
      type: "object",
      required: ["kind", "until", "rows"],
      properties: {
        kind: { type: "string", enum: ["a", "b"] },
        note: { type: "string" },
        until: { type: ["string", "null"] },
        rows: {
          type: "array",
          items: { type: "array", items: { type: "object", required: ["n"], properties: { n: { type: "number" } } } },
        },
      },
    });
  });
});

describe("the tools of a request", () => {
  const tools = [tool("good", () => "fine")];
  const parallelOf = async (options: AgentParts, plan?: string) => {
    const access = { user: "ann", scope: "local", ...(plan === undefined ? {} : { labels: { plan } }) };
    const { session, provider } = world([{ text: "ok" }], { ...options, session: { access } });
    await execute(session, "go").result();
    return provider.requests[0]?.parallelToolCalls;
  };

  it("B11: are requested in parallel as the agent, the user's plan or the model decides, and the option is left out without tools", async () => {
    const always = new Set(["scripted-1"]);
    const byPlan: Hooks = { name: "prepare", prepare: ({ access }) => ({ parallelToolCalls: access.labels?.["plan"] === "pro" }) };
    const byModel: Hooks = { name: "prepare", prepare: ({ model }) => (always.has(model) ? { parallelToolCalls: true } : undefined) };
    expect(await parallelOf({ tools })).toBeUndefined();
    expect(await parallelOf({ tools, parallelToolCalls: true })).toBe(true);
    expect(await parallelOf({ tools, parallelToolCalls: false })).toBe(false);
    expect(await parallelOf({ tools, hooks: [byPlan] }, "pro")).toBe(true);
    expect(await parallelOf({ tools, hooks: [byPlan], parallelToolCalls: true }, "free")).toBe(false);
    expect(await parallelOf({ tools, hooks: [byModel], parallelToolCalls: false })).toBe(true);
    expect(await parallelOf({ hooks: [byModel], parallelToolCalls: true })).toBeUndefined();
  });

  it("B21: leave no key behind when a hook takes them away", async () => {
    const hooks: Hooks = { name: "prepare", prepare: () => ({ tools: [], toolChoice: "required" }) };
    const { session, provider } = world([{ text: "ok" }], { tools, parallelToolCalls: true, hooks: [hooks] });
    await execute(session, "go").result();
    for (const key of ["tools", "toolChoice", "parallelToolCalls"]) expect(provider.requests[0]).not.toHaveProperty(key);
  });
});
