import {
  type AgentEvent,
  type AgentSession,
  createAgent,
  createSession,
  defineTool,
  type ExecuteStream,
  execute,
  type JsonObject,
} from "@loopwright/core";
import { manualClock, memoryStore, seededIds } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { type WireResponse, type WireStep, wireServer } from "@loopwright/provider-kit/testing";
import { anthropic } from "@loopwright/providers-anthropic";
import { gemini } from "@loopwright/providers-gemini";
import { ollama } from "@loopwright/providers-ollama";
import { openai } from "@loopwright/providers-openai";
import { assertEventStream } from "@loopwright/testing";
import { afterEach, describe, expect, it } from "vitest";

/* One conversation over every vendor's wire: the agent's events must not reveal which it was. */

/** The events of an answer with the text "Let me see." and a call of `weather`, or with the text "Sunny." alone; one string a write. */
interface Wire {
  readonly make: (baseURL: string) => ModelProvider;
  readonly contentType: string;
  readonly asks: readonly string[];
  readonly answers: readonly string[];
}

const args = '{"city":"Bern"}';
const data = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: JsonObject): string => `event: ${String(value["type"])}\n${data(value)}`;
const sse = "text/event-stream";

const chunk = (delta: JsonObject, reason: string | null = null): string =>
  data({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason: reason }] });
const chatUsage = data({ id: "c", choices: [], usage: { prompt_tokens: 20, completion_tokens: 5 } });
const chatCall = (id: string | undefined, part: JsonObject): string =>
  chunk({ tool_calls: [{ index: 0, ...(id === undefined ? {} : { id, type: "function" }), function: part }] });

const messageStart = named({
  type: "message_start",
  message: { id: "m", type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 20, output_tokens: 1 } },
});
const block = (index: number, start: JsonObject, ...deltas: readonly JsonObject[]): readonly string[] => [
  named({ type: "content_block_start", index, content_block: start }),
  ...deltas.map((delta) => named({ type: "content_block_delta", index, delta })),
  named({ type: "content_block_stop", index }),
];
const messageEnd = (reason: string): readonly string[] => [
  named({ type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } }),
  named({ type: "message_stop" }),
];

const parts = (list: readonly JsonObject[], more: JsonObject = {}): string =>
  data({
    candidates: [{ content: { role: "model", parts: list }, index: 0, ...more }],
    modelVersion: "m",
    usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5 },
  });

const line = (message: JsonObject, more: JsonObject = { done: false }): string =>
  `${JSON.stringify({ model: "m", created_at: "2026-11-21T08:00:00Z", message: { role: "assistant", content: "", ...message }, ...more })}\n`;
const lineEnd = line({}, { done: true, done_reason: "stop", prompt_eval_count: 20, eval_count: 5 });

const textItem = (text: string): JsonObject => ({
  type: "message",
  id: "msg",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const callItem: JsonObject = { type: "function_call", id: "fc", call_id: "c1", name: "weather", arguments: args };
const textEvents = (pieces: readonly string[]): readonly string[] => [
  named({ type: "response.created", response: { id: "r", model: "m", output: [] } }),
  named({ type: "response.output_item.added", output_index: 0, item: { type: "message", id: "msg", role: "assistant", content: [] } }),
  ...pieces.map((delta) => named({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg", delta })),
  named({ type: "response.output_item.done", output_index: 0, item: textItem(pieces.join("")) }),
];
const completed = (output: readonly JsonObject[]): string =>
  named({
    type: "response.completed",
    response: { id: "r", model: "m", status: "completed", output, usage: { input_tokens: 20, output_tokens: 5 } },
  });

const wires: { readonly [name: string]: Wire } = {
  "openai chat completions": {
    make: (baseURL) => openai({ apiKey: "k", baseURL, api: "chat", model: "m" }),
    contentType: sse,
    asks: [
      chunk({ role: "assistant", content: "Let me " }),
      chunk({ content: "see." }),
      chatCall("c1", { name: "weather", arguments: "" }),
      chatCall(undefined, { arguments: args.slice(0, 7) }),
      chatCall(undefined, { arguments: args.slice(7) }),
      chunk({}, "tool_calls"),
      chatUsage,
      "data: [DONE]\n\n",
    ],
    answers: [chunk({ content: "Sunny." }), chunk({}, "stop"), chatUsage, "data: [DONE]\n\n"],
  },
  "openai responses": {
    make: (baseURL) => openai({ apiKey: "k", baseURL, api: "responses", model: "m" }),
    contentType: sse,
    asks: [
      ...textEvents(["Let me ", "see."]),
      named({ type: "response.output_item.added", output_index: 1, item: { ...callItem, arguments: "" } }),
      named({ type: "response.function_call_arguments.delta", output_index: 1, item_id: "fc", delta: args.slice(0, 7) }),
      named({ type: "response.function_call_arguments.delta", output_index: 1, item_id: "fc", delta: args.slice(7) }),
      named({ type: "response.output_item.done", output_index: 1, item: callItem }),
      completed([textItem("Let me see."), callItem]),
    ],
    answers: [...textEvents(["Sunny."]), completed([textItem("Sunny.")])],
  },
  anthropic: {
    make: (baseURL) => anthropic({ apiKey: "k", baseURL }),
    contentType: sse,
    asks: [
      messageStart,
      ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Let me " }, { type: "text_delta", text: "see." }),
      ...block(
        1,
        { type: "tool_use", id: "c1", name: "weather", input: {} },
        { type: "input_json_delta", partial_json: args.slice(0, 7) },
        { type: "input_json_delta", partial_json: args.slice(7) },
      ),
      ...messageEnd("tool_use"),
    ],
    answers: [messageStart, ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Sunny." }), ...messageEnd("end_turn")],
  },
  gemini: {
    make: (baseURL) => gemini({ apiKey: "k", baseURL }),
    contentType: sse,
    asks: [
      parts([{ text: "Let me " }]),
      parts([{ text: "see." }]),
      parts([{ functionCall: { id: "c1", name: "weather", args: JSON.parse(args) } }]),
      parts([{ text: "" }], { finishReason: "STOP" }),
    ],
    answers: [parts([{ text: "Sunny." }]), parts([{ text: "" }], { finishReason: "STOP" })],
  },
  ollama: {
    make: (baseURL) => ollama({ baseURL }),
    contentType: "application/x-ndjson",
    asks: [
      line({ content: "Let me " }),
      line({ content: "see." }),
      line({ tool_calls: [{ id: "c1", function: { index: 0, name: "weather", arguments: JSON.parse(args) } }] }),
      lineEnd,
    ],
    answers: [line({ content: "Sunny." }), lineEnd],
  },
};

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const writes = (texts: readonly string[]): readonly WireStep[] =>
  texts.map((text) => ({ type: "write", bytes: new TextEncoder().encode(text) }));

const answer = ({ contentType }: Wire, steps: readonly WireStep[]): WireResponse => ({
  type: "answer",
  status: 200,
  headers: { "content-type": contentType },
  steps,
});

/** A session of an agent with the tool, over a server that asks for it first and answers then; `first` replaces the first answer. */
async function start(wire: Wire, first?: WireResponse, weather: (signal: AbortSignal) => Promise<string> = async () => "18 degrees") {
  let count = 0;
  const server = await wireServer(() => (count++ === 0 ? (first ?? answer(wire, writes(wire.asks))) : answer(wire, writes(wire.answers))));
  closers.push(server.close);
  const parameters = { type: "object", properties: { city: { type: "string" } } } as const;
  const tool = defineTool({ name: "weather", description: "Tells the weather.", parameters, execute: (_, { signal }) => weather(signal) });
  const clock = manualClock();
  const agent = createAgent({ name: "a", provider: wire.make(server.origin), tools: [tool] });
  const session = createSession({ agent, id: "s", store: memoryStore({ clock }), clock, ids: seededIds(1) });
  return { server, session };
}

/** The same, over a server that falls silent after its first event with these words. */
function startSilent(wire: Wire, words: string) {
  const place = wire.asks.findIndex((text) => text.includes(words));
  return start(wire, answer(wire, [...writes(wire.asks.slice(0, place + 1)), { type: "hold" }]));
}

/** Members that reveal which vendor it was, or how the wire cut its pieces. */
const vendorWords: ReadonlySet<string> = new Set(["model", "provider", "stopReasonRaw", "opaque", "n"]);

/** The events with neighbouring deltas joined, without the vendor's own words. */
function notified(events: readonly AgentEvent[]): readonly unknown[] {
  const joined: AgentEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (last && "delta" in last && "delta" in event && last.type === event.type)
      joined[joined.length - 1] = { ...event, delta: last.delta + event.delta };
    else joined.push(event);
  }
  return JSON.parse(JSON.stringify(joined, (key, value: unknown) => (vendorWords.has(key) ? undefined : value)));
}

async function collected(stream: ExecuteStream): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Stops the run when the first event of this type comes, and gives its end. */
async function abortedAt(session: AgentSession, type: AgentEvent["type"]): Promise<Awaited<ReturnType<ExecuteStream["result"]>>> {
  const stream = execute(session, "How is it in Bern?");
  for await (const event of stream) if (event.type === type) await stream.abort();
  return stream.result();
}

it.each([anthropic, gemini, ollama, openai])(
  "%o refuses an option that it does not have, and names the near one",
  (make: (options: object) => ModelProvider) => {
    const refused = (options: object): unknown => {
      try {
        return make(options);
      } catch (error) {
        return error;
      }
    };
    expect(refused({ baseUrl: "http://127.0.0.1:9" })).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("There is no option `baseUrl` of the provider `"),
      fix: "Did you mean `baseURL`?",
    });
    expect(refused({ apikey: "a secret" })).toMatchObject({ code: "CONFIG_INVALID", fix: "Did you mean `apiKey`?" });
    expect(JSON.stringify(refused({ apikey: "a secret" }))).not.toContain("a secret");
    expect(refused({ baseURL: "http://127.0.0.1:9", model: undefined })).toHaveProperty("stream");
  },
);

describe("one conversation with a tool", () => {
  it("A36, B91: gives the same events over every vendor's wire", async () => {
    const all: (readonly [string, readonly unknown[]])[] = [];
    for (const [name, wire] of Object.entries(wires)) {
      const { session, server } = await start(wire);
      const events = await collected(execute(session, "How is it in Bern?"));
      assertEventStream(events);
      expect(server.requests, name).toHaveLength(2);
      expect(JSON.stringify(server.requests[1]?.body), name).toContain("18 degrees");
      all.push([name, notified(events)]);
    }
    const [[, first] = ["", []], ...others] = all;
    expect(JSON.stringify(first)).toContain("Sunny.");
    for (const [name, events] of others) expect(events, name).toEqual(first);
  });

  describe.each(Object.keys(wires))("D38: over %s is aborted, not failed", (name) => {
    const wire = wires[name] as Wire;

    it("before the headers", async () => {
      const { session, server } = await start(wire, { type: "silence" });
      const stream = execute(session, "How is it in Bern?");
      await expect.poll(() => server.isSilent()).toBe(true);
      await stream.abort();
      expect(await stream.result()).toMatchObject({ status: "aborted", error: { code: "RUN_ABORTED" } });
    });

    it("in the middle of the text, which is kept", async () => {
      const { session } = await startSilent(wire, "Let me");
      const result = await abortedAt(session, "text_delta");
      expect(result).toMatchObject({ status: "aborted", finishReason: "aborted", text: "Let me " });
      expect(session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "aborted" });
    });

    it("in the middle of a call, which is dropped", async () => {
      const { session } = await startSilent(wire, "ci");
      const result = await abortedAt(session, "toolcall_delta");
      expect(result).toMatchObject({ status: "aborted", text: "Let me see." });
      expect(JSON.stringify(session.messages)).not.toContain("weather");
    });

    it("between two turns, without a second request", async () => {
      const untilStopped = (signal: AbortSignal): Promise<string> =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      const { session, server } = await start(wire, undefined, untilStopped);
      expect(await abortedAt(session, "tool_execution_start")).toMatchObject({ status: "aborted" });
      expect(session.messages.at(-1)).toMatchObject({ role: "tool_result", outcome: "aborted" });
      expect(server.requests).toHaveLength(1);
    });
  });
});
