import type { ServerResponse } from "node:http";
import { agentTool, createAgent, createCallGuard, createSession, execute, type Fact, type JsonObject, type Usage } from "@loopwright/core";
import { fixedPrices, memoryLedger, memoryStore, randomIds, systemClock } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { type Asked, loopbackServer } from "@loopwright/provider-kit/testing";
import { anthropic } from "@loopwright/providers-anthropic";
import { gemini } from "@loopwright/providers-gemini";
import { ollama } from "@loopwright/providers-ollama";
import { openai } from "@loopwright/providers-openai";
import { describe, expect, it } from "vitest";

/* The bill of a tree of agents against the books of its vendor, over every vendor's wire. */

interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** A step of the vendor. `silent`: its usage is charged and not reported. `cut`, `held`: the stream breaks, or stays open, after the text. */
interface Step {
  readonly text?: string;
  readonly call?: string;
  readonly usage: Tokens;
  readonly how?: "refused" | "silent" | "cut" | "held";
}

interface Wire {
  readonly make: (baseURL: string) => ModelProvider;
  readonly contentType: string;
  /** The beginning of an answer. A vendor that names the prompt's tokens here has charged them. */
  readonly begin: (usage: Tokens | undefined) => string;
  readonly text: (text: string) => string;
  readonly call: (name: string, args: JsonObject, id: string) => string;
  readonly end: (hasCall: boolean, usage: Tokens | undefined) => string;
  readonly modelOf: (asked: Asked) => string;
  /** True if a cut answer has reported its prompt. */
  readonly reportsFirst?: true;
}

const data = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: JsonObject): string => `event: ${String(value["type"])}\n${data(value)}`;
const chunk = (delta: JsonObject, reason: string | null = null): string =>
  data({ id: "c", object: "chat.completion.chunk", model: "MODEL", choices: [{ index: 0, delta, finish_reason: reason }] });
const block = (index: number, start: JsonObject, delta: JsonObject): string =>
  named({ type: "content_block_start", index, content_block: start }) +
  named({ type: "content_block_delta", index, delta }) +
  named({ type: "content_block_stop", index });
const parts = (list: readonly JsonObject[], more: JsonObject = {}, usage?: Tokens): string =>
  data({
    candidates: [{ content: { role: "model", parts: list }, index: 0, ...more }],
    modelVersion: "MODEL",
    ...(usage ? { usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: usage.output } } : {}),
  });
const line = (message: JsonObject, more: JsonObject = { done: false }): string =>
  `${JSON.stringify({ model: "MODEL", created_at: "2026-11-21T08:00:00Z", message: { role: "assistant", content: "", ...message }, ...more })}\n`;
const inBody = ({ body }: Asked): string => String(body["model"]);

const wires: { readonly [name: string]: Wire } = {
  "openai chat completions": {
    make: (baseURL) => openai({ apiKey: "k", baseURL, api: "chat" }),
    contentType: "text/event-stream",
    begin: () => chunk({ role: "assistant", content: "" }),
    text: (content) => chunk({ content }),
    call: (name, args, id) =>
      chunk({ tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: JSON.stringify(args) } }] }),
    end: (hasCall, usage) =>
      `${chunk({}, hasCall ? "tool_calls" : "stop")}${
        usage ? data({ id: "c", choices: [], usage: { prompt_tokens: usage.input, completion_tokens: usage.output } }) : ""
      }data: [DONE]\n\n`,
    modelOf: inBody,
  },
  "openai responses": {
    make: (baseURL) => openai({ apiKey: "k", baseURL, api: "responses" }),
    contentType: "text/event-stream",
    begin: () => named({ type: "response.created", response: { id: "r", model: "MODEL", output: [] } }),
    text: (delta) =>
      named({ type: "response.output_item.added", output_index: 0, item: { type: "message", id: "msg", role: "assistant", content: [] } }) +
      named({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg", delta }),
    call: (name, args, id) => {
      const item = { type: "function_call", id: "fc", call_id: id, name, arguments: JSON.stringify(args) };
      return (
        named({ type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } }) +
        named({ type: "response.function_call_arguments.delta", output_index: 0, item_id: "fc", delta: item.arguments }) +
        named({ type: "response.output_item.done", output_index: 0, item })
      );
    },
    end: (_, usage) =>
      named({
        type: "response.completed",
        response: {
          ...{ id: "r", model: "MODEL", status: "completed", output: [] },
          ...(usage ? { usage: { input_tokens: usage.input, output_tokens: usage.output } } : {}),
        },
      }),
    modelOf: inBody,
  },
  anthropic: {
    make: (baseURL) => anthropic({ apiKey: "k", baseURL }),
    contentType: "text/event-stream",
    begin: (usage) =>
      named({
        type: "message_start",
        message: {
          ...{ id: "m", type: "message", role: "assistant", model: "MODEL", content: [] },
          ...(usage ? { usage: { input_tokens: usage.input, output_tokens: 1 } } : {}),
        },
      }),
    text: (text) => block(0, { type: "text", text: "" }, { type: "text_delta", text }),
    call: (name, args, id) =>
      block(0, { type: "tool_use", id, name, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(args) }),
    end: (hasCall, usage) =>
      named({
        type: "message_delta",
        delta: { stop_reason: hasCall ? "tool_use" : "end_turn", stop_sequence: null },
        ...(usage ? { usage: { output_tokens: usage.output } } : {}),
      }) + named({ type: "message_stop" }),
    modelOf: inBody,
    reportsFirst: true,
  },
  gemini: {
    make: (baseURL) => gemini({ apiKey: "k", baseURL }),
    contentType: "text/event-stream",
    begin: () => "",
    text: (text) => parts([{ text }]),
    call: (name, args, id) => parts([{ functionCall: { id, name, args } }]),
    end: (_, usage) => parts([{ text: "" }], { finishReason: "STOP" }, usage),
    modelOf: ({ url }) => /models\/([^:]+):/.exec(url)?.[1] ?? "",
  },
  ollama: {
    make: (baseURL) => ollama({ baseURL }),
    contentType: "application/x-ndjson",
    begin: () => "",
    text: (content) => line({ content }),
    call: (name, args, id) => line({ tool_calls: [{ id, function: { index: 0, name, arguments: args } }] }),
    end: (_, usage) =>
      line({}, { done: true, done_reason: "stop", ...(usage ? { prompt_eval_count: usage.input, eval_count: usage.output } : {}) }),
    modelOf: inBody,
  },
};

/** A vendor that plays the steps of each model, and keeps books of what it charges. */
async function vendor(wire: Wire, script: { readonly [model: string]: readonly Step[] }) {
  const books: (Step & { readonly model: string })[] = [];
  const left = new Map(Object.entries(script).map(([model, steps]) => [model, [...steps]]));
  const answer = (response: ServerResponse, asked: Asked): void => {
    const model = wire.modelOf(asked);
    const step = left.get(model)?.shift();
    if (!step) throw new Error(`The script of ${model} is over.`);
    if (step.how === "refused") {
      response.writeHead(503, { "Content-Type": "application/json" }).end('{"error":{"message":"Too much.","type":"overloaded_error"}}');
      return;
    }
    books.push({ model, ...step });
    const usage = step.how === "silent" ? undefined : step.usage;
    response.writeHead(200, { "Content-Type": wire.contentType });
    const write = (text: string): void => void response.write(text.replaceAll("MODEL", model));
    write(wire.begin(usage));
    write(step.call === undefined ? wire.text(step.text ?? "") : wire.call(step.call, { task: "Find it." }, `call${books.length}`));
    if (step.how === "cut") return void setImmediate(() => response.destroy());
    if (step.how === "held") return;
    write(wire.end(step.call !== undefined, usage));
    response.end();
  };
  return { books, server: await loopbackServer(answer) };
}

const prices = fixedPrices({ large: { inputUsd: 10, outputUsd: 30 }, small: { inputUsd: 1, outputUsd: 3 } });

async function played(wire: Wire, script: { readonly [model: string]: readonly Step[] }, isStopped = false) {
  const { books, server } = await vendor(wire, script);
  const provider = wire.make(server.origin);
  const researcher = createAgent({ name: "researcher", provider, model: "small", prices, maxTokens: 100 });
  const agent = createAgent({ name: "lead", provider, model: "large", prices, maxTokens: 100, tools: [agentTool({ agent: researcher })] });
  const store = memoryStore();
  const ledger = memoryLedger({ limits: { "scope/local": { tokens: 1e6 } } });
  // Attempts that are made again wait no longer than they must, and share no budget with those of other tests.
  const ids = { next: () => randomIds.next(), random: () => 0 };
  const callGuard = createCallGuard({ clock: systemClock });
  const session = createSession({ id: "root", agent, store, ledger, ids, callGuard });
  const stream = execute(session, "Go.");
  if (isStopped) for await (const event of stream) if (event.type === "text_delta") await stream.abort();
  const result = await stream.result();
  await session[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  const factsOf = (id: string): Promise<readonly Fact[]> => store.log.read({ scope: "local", session: id });
  const root = await factsOf("root");
  const below = root.flatMap((fact) => (fact.type === "child.linked" ? [fact.session] : []));
  const facts = [...root, ...(await Promise.all(below.map(factsOf))).flat()];
  const attempts = facts.flatMap((fact) =>
    (fact.type === "model.finished" || fact.type === "model.failed") && fact.usage ? [fact.usage] : [],
  );
  return { books, result, attempts, ledger };
}

const sum = (all: readonly Usage[], of: "input" | "output"): number => all.reduce((total, one) => total + (one[of] ?? 0), 0);
const read = { input: 40, output: 11 };
const nothing = { input: 0, output: 0 };

describe.each(Object.entries(wires))("B83, B84: the bill of a tree over %s", (_, wire) => {
  it("is what the books of the vendor have, over a child, refused attempts and attempts that were made again", async () => {
    const { books, result, attempts, ledger } = await played(wire, {
      large: [
        { usage: nothing, how: "refused" },
        { call: "researcher", usage: { input: 100, output: 20 } },
        { text: "There.", usage: { input: 150, output: 8 } },
      ],
      small: [
        { usage: nothing, how: "refused" },
        { text: "It is Lisbon.", usage: read },
      ],
    });
    expect(result.error).toBeUndefined();
    expect(result).toMatchObject({ status: "completed", text: "There.", usage: { input: 290, output: 39 } });
    expect(books).toHaveLength(3);
    expect(attempts.some(({ source }) => source === "estimated")).toBe(false);
    expect(result.usage?.source).not.toBe("estimated");
    expect(result.cost?.totalUsd).toBeCloseTo((250 * 10 + 28 * 30 + 40 + 11 * 3) / 1e6, 12);
    expect(result.cost?.partial).toBeUndefined();
    expect(ledger.spent("scope/local").tokens).toBe(329);
  });

  it("F8: has what the vendor does not report as an estimate, marked: a silent call, and a child's stream that is cut", async () => {
    const { books, result, attempts, ledger } = await played(wire, {
      large: [
        { call: "researcher", usage: { input: 100, output: 20 } },
        { text: "y".repeat(40), usage: { input: 30, output: 10 }, how: "silent" },
      ],
      small: [
        { text: "x".repeat(80), usage: { input: 30, output: 20 }, how: "cut" },
        { text: "It is Lisbon.", usage: read },
      ],
    });
    expect(result).toMatchObject({ status: "completed", usage: { source: "estimated" }, cost: { partial: true } });
    const known = attempts.filter(({ source }) => source !== "estimated");
    expect(known.map(({ input, output }) => ({ input, output }))).toEqual(
      books
        .filter(({ how }) => how === undefined)
        .map(({ usage }) => usage)
        .sort((a, b) => b.input - a.input),
    );
    const estimated = attempts.filter(({ source }) => source === "estimated");
    expect(estimated.map(({ output }) => output).sort()).toEqual([10, 20]);
    expect(estimated.every(({ input = 0 }) => input > 0)).toBe(true);
    if (wire.reportsFirst) expect(estimated.map(({ input }) => input)).toContain(30);
    expect(result.usage).toMatchObject({ input: sum(attempts, "input"), output: sum(attempts, "output") });
    expect(ledger.spent("scope/local").tokens).toBe(sum(attempts, "input") + sum(attempts, "output"));
  });

  it("F8: has what an answer cost that a user stopped", async () => {
    const { result, attempts, ledger } = await played(
      wire,
      { large: [{ text: "x".repeat(80), usage: { input: 30, output: 20 }, how: "held" }] },
      true,
    );
    expect(result).toMatchObject({ status: "aborted", usage: { output: 20, source: "estimated" }, cost: { partial: true } });
    expect(result.usage?.input).toBe(attempts[0]?.input);
    if (wire.reportsFirst) expect(result.usage?.input).toBe(30);
    expect(ledger.spent("scope/local").tokens).toBe((result.usage?.input ?? 0) + 20);
  });
});
