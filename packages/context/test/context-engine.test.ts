import { defineTool, execute, type Message, partsOf, textOf, type UserMessage, type UserPart } from "@loopwright/core";
import { characterCounter, type ScriptedTurn } from "@loopwright/core/memory";
import type { ContextEngine, ModelRequest, TokenCounter } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { contextEngine } from "../src/index.ts";
import { world } from "./harness.ts";

const act = defineTool({ name: "act", description: "Acts.", parameters: { type: "object" }, execute: () => "x".repeat(3_000) });
const long = defineTool({ ...act, name: "long", execute: () => "x".repeat(50_000) });
const calling: ScriptedTurn = { calls: [{ name: "act" }] };

const shownResults = ({ messages }: ModelRequest): readonly number[] =>
  messages.flatMap((message) => (message.role === "tool_result" ? [textOf(message).length] : []));

describe("a model with a small window", () => {
  it("is shown the beginning of a result that is too long for it, and the session keeps all of it", async () => {
    const { session, provider } = world([{ calls: [{ name: "long" }] }, { text: "ok" }], { tools: [long], contextTokens: 5_000 });
    expect((await execute(session, "go").result()).text).toBe("ok");
    const shown = JSON.stringify(provider.requests[1]?.messages);
    expect(shown).toContain("[48000 characters left out to fit the model's window]");
    expect(shown.length).toBeLessThan(5_000);
    expect(JSON.stringify(session.messages).length).toBeGreaterThan(50_000);
  });

  it("is shown shortened results with a verdict that people can read, once for what was cut", async () => {
    const { session } = world([calling, calling, calling, { text: "ok" }, { text: "ok" }], { tools: [act], contextTokens: 2_000 });
    const reasons: (string | undefined)[] = [];
    for (const input of ["go", "on"])
      for await (const event of execute(session, input))
        if (event.type === "verdict") reasons.push(`${event.hook} ${event.action}: ${event.reason}`);
    expect(reasons).toEqual(["context cut: 3 earlier results and attachments are shortened to fit the model's window."]);
  });

  it("is shown the beginnings of its files where they are too long, with a verdict that people can read", async () => {
    const { session, store, provider } = world([{ text: "ok" }], { contextTokens: 2_000 });
    await store.blobs.put("local", "f", { bytes: new TextEncoder().encode("row\n".repeat(9_000)) });
    const file = { type: "file", mediaType: "text/csv", name: "rows.csv", source: { blob: "f", sizeBytes: 36_000 } } as const;
    const reasons: (string | undefined)[] = [];
    for await (const event of execute(session, { role: "user", content: [{ type: "text", text: "Sum up" }, file] }))
      if (event.type === "verdict") reasons.push(`${event.hook} ${event.action}: ${event.reason}`);
    expect(reasons).toEqual([
      "context cut_files: This message of about 9005 tokens is too long for the model: only the beginnings of its files are sent.",
    ]);
    const [, sent] = partsOf<UserPart>((provider.requests[0]?.messages[0] as UserMessage | undefined)?.content ?? "");
    const text = sent?.type === "file" ? atob(sent.source.data ?? "") : "";
    expect(text).toMatch(/^(row\n)+.{0,3}\n\[Only the first \d+ of 36000 bytes of this file are shown\.\]$/);
    expect(text.length).toBeLessThan(8_000);
  });

  it("leads another process to the same request", async () => {
    const tokenCounter = characterCounter({ charactersPerToken: 2 });
    const script = [calling, calling, { text: "a" }, { text: "b" }];
    const { session, provider, again } = world(script, { tools: [act], contextTokens: 3_000, session: { tokenCounter } });
    await execute(session, "go").result();
    await execute(again(), "and then?").result();
    const [before, after] = [provider.requests[2]?.messages ?? [], provider.requests[3]?.messages ?? []];
    expect(after.slice(0, before.length)).toEqual(before);
    expect(shownResults(provider.requests[3] as ModelRequest)[0]).toBeLessThan(2_100);
  });

  it("is cut by the session's token counter in place of the estimate", async () => {
    const cutsWith = async (tokenCounter: TokenCounter | undefined): Promise<readonly number[]> => {
      const session = tokenCounter ? { tokenCounter } : {};
      const made = world([calling, calling, { text: "There." }], { tools: [act], contextTokens: 2_000, session });
      await execute(made.session, "go").result();
      return shownResults(made.provider.requests[2] as ModelRequest);
    };
    expect(await cutsWith(undefined)).toEqual([3_000, 3_000]);
    expect(await cutsWith(characterCounter({ charactersPerToken: 8 }))).toEqual([3_000, 3_000]);
    expect((await cutsWith(characterCounter({ charactersPerToken: 2 })))[0]).toBeLessThan(2_100);
  });

  it("fails with CONTEXT_OVERFLOW and without a request where nothing can be cut", async () => {
    const { session, provider } = world([], { contextTokens: 10 });
    expect((await execute(session, "word ".repeat(100)).result()).error?.code).toBe("CONTEXT_OVERFLOW");
    expect(provider.requests).toHaveLength(0);
  });

  it("B46: keeps within the limit of the caller's plan", async () => {
    const limitTokens = ({ access }: { access: { user: string } }) => (access.user === "free" ? 2_000 : undefined);
    const shownTo = async (user: string): Promise<number | undefined> => {
      const session = { access: { scope: "local", user } };
      const options = { tools: [long], contextTokens: 100_000, context: contextEngine({ limitTokens }), session };
      const made = world([{ calls: [{ name: "long" }] }, { text: "ok" }], options);
      await execute(made.session, "go").result();
      return shownResults(made.provider.requests[1] as ModelRequest)[0];
    };
    expect(await shownTo("paying")).toBe(50_000);
    expect(await shownTo("free")).toBeLessThan(2_100);
  });
});

describe("counts", () => {
  it("B55: a call counts as the JSON of its id, its name and its arguments", async () => {
    const { lightCounter } = await import("../src/index.ts");
    const counter = lightCounter();
    const call = { type: "tool_call", id: "c1", callKey: "c1", name: "act", args: { city: "Berlin" } } as const;
    const json = JSON.stringify({ tool_call_id: "c1", tool_name: "act", tool_args: { city: "Berlin" } });
    const empty = counter.count("any", { role: "assistant", content: [], stopReason: "tool_calls" }) as number;
    const counted = counter.count("any", { role: "assistant", content: [call], stopReason: "tool_calls" }) as number;
    expect(counted - empty).toBe(counter.count("any", json));
  });

  it("follow what the vendor reports: one that counts twice as much is sent half", async () => {
    const script =
      (factor: number) =>
      (request: ModelRequest, call: number): ScriptedTurn => {
        const usage = { input: Math.ceil((JSON.stringify(request.messages).length / 4) * factor), output: 10 };
        return call < 6 ? { calls: [{ name: "act" }], usage } : { text: "done", usage };
      };
    const sentWith = async (factor: number): Promise<readonly number[]> => {
      const { session, provider } = world(script(factor), {
        tools: [act],
        contextTokens: 6_500,
        context: contextEngine({ compaction: false }),
      });
      await execute(session, "go").result();
      return shownResults(provider.requests.at(-1) as ModelRequest);
    };
    expect((await sentWith(1)).every((length) => length === 3_000)).toBe(true);
    expect((await sentWith(2)).filter((length) => length < 2_100).length).toBeGreaterThan(2);
  });
});

describe("the parts of a request beside its messages", () => {
  it("is counted, and the parts of the prompt and the tools that are too long are cut", async () => {
    const description = "Acts. ".repeat(5_000);
    const prompt = [
      { text: "s".repeat(2_000), source: "agent", cache: "stable" as const },
      { text: "p".repeat(20_000), source: "project", cache: "session" as const },
    ];
    const options = { tools: [{ ...act, description }, defineTool({ ...act, name: "other" })], prompt, contextTokens: 10_000 };
    const { session, provider } = world([{ text: "ok" }], {
      ...options,
      context: contextEngine({ budgets: { system: 0.25, tools: 0.25 } }),
    });
    await execute(session, "go").result();
    const [request] = provider.requests as readonly ModelRequest[];
    expect(request?.system?.map(({ text }) => text.length)).toEqual([2_000, 10_000]);
    expect(request?.tools?.[0]?.description).toHaveLength(
      10_000 - JSON.stringify([act.parameters, act.parameters]).length + 3 - "actother".length - "Acts.".length,
    );
    expect(request?.tools?.[1]?.description).toBe("Acts.");
  });

  it.each([{ budgets: { system: 0 } }, { budgets: { other: 1 } }, { limitTokens: -1 }, { limit: 3 }])("is refused: %j", (options) => {
    expect(() => contextEngine(options as never)).toThrow(/The context engine/);
  });
});

describe("examples of a hook", () => {
  const pair = (at: number, words: number): readonly Message[] => [
    { role: "user", content: `Example ${at}` },
    { role: "assistant", content: [{ type: "text", text: "word ".repeat(words) }], stopReason: "stop" },
  ];
  const questions = ({ messages }: ModelRequest): readonly string[] =>
    messages.flatMap((message) => (message.role === "user" ? [textOf(message)] : []));

  it.each([
    { budgets: {}, sent: ["Example 0", "Example 1"] },
    { budgets: { examples: 0.6 }, sent: ["Example 0", "Example 1", "Example 2", "Example 3"] },
    { budgets: { examples: 0.01 }, sent: [] },
  ])("have the share $budgets of the window, and the others are left out whole, with one warning", async ({ budgets, sent }) => {
    const warnings: unknown[] = [];
    const logger = {
      log: (level: string, message: string, fields?: object) => void (level === "warn" && warnings.push({ message, ...fields })),
    };
    const examples = [0, 1, 2, 3].flatMap((at) => pair(at, 90));
    const { session, provider } = world([{ text: "a" }, { text: "b" }], {
      ...{ contextTokens: 1_000, context: contextEngine({ budgets }), hooks: [{ name: "adding", prepare: () => ({ examples }) }] },
      session: { logger },
    });
    for (const input of ["go", "on"]) await execute(session, input).result();
    expect(provider.requests.map(questions)).toEqual([
      [...sent, "go"],
      [...sent, "go", "on"],
    ]);
    const message = "Examples of a hook do not fit into their share of the window, and the last ones are not sent.";
    const leftOut = examples.length - 2 * sent.length;
    expect(warnings).toEqual(leftOut === 0 ? [] : [{ message, scope: "local", session: "s1", messages: leftOut }]);
  });
});

describe("examples beside a history that cannot be cut any further", () => {
  it("give way, so that the request keeps within its limit", async () => {
    const pair = (at: number): readonly Message[] => [
      { role: "user", content: `Example ${at} ${"word ".repeat(8)}` },
      { role: "assistant", content: [{ type: "text", text: "So." }], stopReason: "stop" },
    ];
    const sent = async (length: number): Promise<readonly string[]> => {
      const hooks = [{ name: "adding", prepare: () => ({ examples: [...pair(0), ...pair(1)], reminders: ["x".repeat(length)] }) }];
      const { session, provider } = world([{ text: "ok" }], { contextTokens: 200, hooks });
      expect((await execute(session, "go").result()).status).toBe("completed");
      return (provider.requests[0]?.messages ?? []).map((message) => textOf(message).slice(0, 9));
    };
    expect(await sent(500)).toEqual(["Example 0", "So.", "Example 1", "So.", "go", "xxxxxxxxx"]);
    expect(await sent(650)).toEqual(["Example 0", "So.", "go", "xxxxxxxxx"]);
    expect(await sent(750)).toEqual(["go", "xxxxxxxxx"]);
  });
});

describe("the order of a request", () => {
  it("B52: is prompt, examples, history with its summary as a notice, and the input last; the prompt is counted as the tokenizer counts its text", async () => {
    const tokenCounter = characterCounter({ charactersPerToken: 3 });
    const counted: number[] = [];
    const engine = contextEngine();
    const watching: ContextEngine = {
      open() {
        const context = engine.open();
        return {
          prepare: (call, io) => context.prepare?.(call, io),
          fit(call) {
            const { system = [] } = call.request;
            counted.push((call.sizes?.sizeBeside({ system }) ?? 0) / 4);
            return context.fit(call);
          },
        };
      },
    };
    const examples: readonly Message[] = [
      { role: "user", content: "Example" },
      { role: "assistant", content: [{ type: "text", text: "So." }], stopReason: "stop" },
    ];
    const { session, provider } = world(() => ({ text: "answer ".repeat(40) }), {
      ...{ prompt: "Be exact and brief.", contextTokens: 1_500, context: watching, session: { tokenCounter } },
      hooks: [{ name: "examples", prepare: () => ({ examples }) }],
    });
    for (let input = 0; input < 20; input++) await execute(session, `Question ${input}`).result();
    const { system, messages = [] } = provider.requests.at(-1) ?? {};
    const kinds = messages.map((message) => (message.role === "notice" ? textOf(message).split(" ")[0] : textOf(message).slice(0, 10)));
    expect(system?.map(({ text }) => text)).toEqual(["Be exact and brief."]);
    expect(kinds.slice(0, 4)).toEqual(["Example", "So.", "Question 0", "Summary"]);
    expect(kinds.filter((kind) => kind === "Summary")).toHaveLength(1);
    expect(textOf(messages.at(-1) as Message)).toBe("Question 19");
    expect(new Set(counted)).toEqual(new Set([tokenCounter.count("scripted-1", "Be exact and brief.")]));
  });
});
