import type { ServerResponse } from "node:http";
import {
  type AgentEvent,
  agentTool,
  createAgent,
  createCallGuard,
  createSession,
  type ExecuteStream,
  execute,
  type Fact,
  type JsonObject,
  type RunLimits,
  resume,
  type Usage,
} from "@loopwright/core";
import { fixedPrices, type ManualClock, manualClock, memoryLedger, memoryStore, randomIds, systemClock } from "@loopwright/core/memory";
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

interface Play {
  /** Called with each event of the root. */
  readonly onEvent?: (event: AgentEvent, parts: { readonly stream: ExecuteStream; readonly clock: ManualClock }) => unknown;
  /** The first process is lost at this event: it stands still, and another one takes the sessions over. */
  readonly lostAt?: (event: AgentEvent) => boolean;
  readonly limits?: Partial<RunLimits>;
}

async function played(wire: Wire, script: { readonly [model: string]: readonly Step[] }, { onEvent, lostAt, limits = {} }: Play = {}) {
  const { books, server } = await vendor(wire, script);
  const provider = wire.make(server.origin);
  const researcher = createAgent({ name: "researcher", provider, model: "small", prices, maxTokens: 100 });
  const more = { tools: [agentTool({ agent: researcher })], limits };
  const agent = createAgent({ name: "lead", provider, model: "large", prices, maxTokens: 100, ...more });
  // Where time matters, the test advances it; that of a process that is lost stands still.
  const clock = manualClock();
  const isManual = lostAt !== undefined || limits.durationMs !== undefined;
  const time = isManual ? clock : systemClock;
  const store = memoryStore({ clock: time });
  const ledger = memoryLedger({ limits: { "scope/local": { tokens: 1e6 } }, clock: time });
  // Attempts that are made again wait no longer than they must, and share no budget with those of other tests.
  const ids = { next: () => randomIds.next(), random: () => 0 };
  const callGuard = createCallGuard({ clock: systemClock });
  const parts = { id: "root", agent, store, ledger, ids, callGuard };
  const first = createSession({ ...parts, clock: lostAt ? manualClock(clock.now()) : time });
  const stream = execute(first, "Go.");
  let next = stream;
  const sessions = [first];
  for await (const event of stream) {
    if (lostAt?.(event)) {
      clock.advance(30_000);
      const second = createSession({ ...parts, clock });
      sessions.push(second);
      next = resume(second);
      break;
    }
    await onEvent?.(event, { stream, clock });
  }
  const result = await next.result();
  await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()));
  await server[Symbol.asyncDispose]();
  const factsOf = (id: string): Promise<readonly Fact[]> => store.log.read({ scope: "local", session: id });
  const root = await factsOf("root");
  const below = root.flatMap((fact) => (fact.type === "child.linked" ? [fact.session] : []));
  const facts = [...root, ...(await Promise.all(below.map(factsOf))).flat()];
  const ends = facts.filter((fact) => fact.type === "model.finished" || fact.type === "model.failed");
  const attempts = ends.flatMap(({ usage }) => usage ?? []);
  const costUsd = ends.reduce((total, { cost }) => total + (cost?.totalUsd ?? 0), 0);
  return { books, result, attempts, costUsd, ledger };
}

/** What the vendor charged and reported, and what the log has of it, in the same order. */
const reported = (books: readonly Step[], attempts: readonly Usage[]) => {
  const byInput = (a: Tokens, b: Tokens): number => b.input - a.input;
  const known = attempts.filter(({ source }) => source !== "estimated").map(({ input = 0, output = 0 }) => ({ input, output }));
  const charged = books.filter(({ how }) => how === undefined).map(({ usage }) => usage);
  return { known: known.sort(byInput), charged: charged.sort(byInput) };
};

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
    const { known, charged } = reported(books, attempts);
    expect(known).toEqual(charged);
    const estimated = attempts.filter(({ source }) => source === "estimated");
    expect(estimated.map(({ output }) => output).sort()).toEqual([10, 20]);
    expect(estimated.every(({ input = 0 }) => input > 0)).toBe(true);
    if (wire.reportsFirst) expect(estimated.map(({ input }) => input)).toContain(30);
    expect(result.usage).toMatchObject({ input: sum(attempts, "input"), output: sum(attempts, "output") });
    expect(ledger.spent("scope/local").tokens).toBe(sum(attempts, "input") + sum(attempts, "output"));
  });

  const held = { text: "x".repeat(80), usage: { input: 30, output: 20 }, how: "held" } as const;
  const call = { call: "researcher", usage: { input: 100, output: 20 } } as const;
  const answer = { text: "There.", usage: { input: 150, output: 8 } } as const;
  const isText = ({ type }: AgentEvent): boolean => type === "text_delta";
  const isTextOfChild = (event: AgentEvent): boolean => event.type === "agent_delta" && event.event.type === "text_delta";
  const stop: NonNullable<Play["onEvent"]> = (event, { stream }) => isText(event) && stream.abort();
  const stopAtChild: NonNullable<Play["onEvent"]> = (event, { stream }) => isTextOfChild(event) && stream.abort();
  const late: NonNullable<Play["onEvent"]> = (event, { clock }) => isText(event) && clock.advance(5_000);
  const lateAtChild: NonNullable<Play["onEvent"]> = (event, { clock }) => isTextOfChild(event) && clock.advance(5_000);
  const inTime = { durationMs: 5_000 };

  // How it ends, what the vendor plays, what happens, and whether an attempt is counted for all that it may have written.
  it.each<[string, string, { readonly [model: string]: readonly Step[] }, Play]>([
    ["an answer that a user stopped", "aborted", { large: [held] }, { onEvent: stop }],
    ["the answer of a child that a user stopped", "aborted", { large: [call], small: [held] }, { onEvent: stopAtChild }],
    ["an answer that the limit of time cut off", "completed", { large: [held] }, { onEvent: late, limits: { ...inTime, onLimit: "stop" } }],
    [
      "the answer of a child that the limit of time of its parent cut off",
      "completed",
      { large: [call, answer], small: [held] },
      { onEvent: lateAtChild, limits: inTime },
    ],
    ["an answer whose process was lost", "completed", { large: [held, answer] }, { lostAt: isText }],
    [
      "the answer of a child whose process was lost",
      "completed",
      { large: [call, answer], small: [held, { text: "Lisbon.", usage: read }] },
      { lostAt: isTextOfChild },
    ],
  ])(
    "F8: has what %s has cost as an estimate that is not below what was streamed, and all else to the token",
    async (_, status, script, play) => {
      const { books, result, attempts, costUsd, ledger } = await played(wire, script, play);
      expect(result).toMatchObject({ status, usage: { source: "estimated" }, cost: { partial: true } });
      const { known, charged } = reported(books, attempts);
      expect(known).toEqual(charged);
      const estimated = attempts.filter(({ source }) => source === "estimated");
      expect(estimated).toHaveLength(1);
      const { input = 0, output = 0 } = estimated[0] ?? {};
      expect(output).toBe(play.lostAt ? 100 : 20);
      expect(input).toBeGreaterThan(0);
      if (wire.reportsFirst && !play.lostAt) expect(input).toBe(30);
      const { usage, cost } = result;
      const isWhole = !play.lostAt;
      // The result of a run that was taken over has what came since then.
      if (isWhole) expect(usage).toMatchObject({ input: sum(attempts, "input"), output: sum(attempts, "output") });
      if (isWhole) expect(cost?.totalUsd).toBeCloseTo(costUsd, 12);
      const inChild = play.onEvent === stopAtChild || play.onEvent === lateAtChild || play.lostAt === isTextOfChild;
      const price = inChild ? { input: 1, output: 3 } : { input: 10, output: 30 };
      const all = charged.length + 1;
      expect(attempts).toHaveLength(all);
      expect(costUsd).toBeGreaterThan((input * price.input + output * price.output) / 1e6 - 1e-12);
      expect(ledger.spent("scope/local").tokens).toBe(sum(attempts, "input") + sum(attempts, "output"));
    },
  );
});
