import { AgentError, callsOf, type JsonObject, type Message, systemText } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import type { WireAnswer } from "@loopwright/testing";
import {
  type ChunkDecoder,
  createStreamingProvider,
  errorFromStatus,
  ndjson,
  streamBroken,
  type VendorFailure,
  vendorErrorOf,
} from "../src/index.ts";
import { type NodeHttpFetch, trailersOf } from "../src/node/index.ts";
import type { VendorWire } from "../src/testing/index.ts";

const provider = "Trailing";
const statusName = "trailing-status";

interface TrailingEvent {
  readonly say?: string;
  /** Whole, with its arguments as a value; no event marks its end. */
  readonly call?: { readonly id: string; readonly name: string; readonly args: unknown };
  readonly why?: "stop" | "length" | "tool_calls";
  readonly tokens?: { readonly input: number; readonly output: number };
  readonly error?: string;
}

/** A vendor whose trailers alone show whether an answer is whole, and names waits in the body of its errors. */
export function trailingProvider(origin: string, key: string, transport: NodeHttpFetch): ModelProvider {
  return createStreamingProvider({
    name: "trailing",
    label: provider,
    defaultModel: "trailing-1",
    transport,
    framing: ndjson,
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    bodyOf: (request) => JSON.stringify(bodyOf(request)),
    connect: () => ({
      secrets: [key],
      send: ({ body, signal, fetch }) => fetch(`${origin}/talk`, { method: "POST", body, headers: { authorization: key }, signal }),
    }),
    createDecoder: ({ response }) => createDecoder(() => trailersOf(response), key),
    parse: (line): TrailingEvent => JSON.parse(line),
    failureOf,
  });
}

function createDecoder(trailers: () => Headers | undefined, key: string): ChunkDecoder<TrailingEvent> {
  let calls = 0;
  let why: TrailingEvent["why"];
  return {
    // Until the trailers are there.
    ended: false,
    take({ say, call, why: reason, tokens, error }, out) {
      if (error !== undefined) throw errorFromStatus({ provider, type: "overloaded", message: error, secrets: [key] });
      if (tokens) out.push({ type: "usage", usage: tokens });
      if (say !== undefined) out.push({ type: "text", index: 0, delta: say });
      if (call) {
        const index = ++calls;
        out.push({ type: "call-start", index, id: call.id, name: call.name });
        out.push({ type: "call-args", index, delta: JSON.stringify(call.args) }, { type: "call-end", index });
      }
      why = reason ?? why;
    },
    takeWhole() {
      throw new AgentError("MODEL_UNSUPPORTED", { message: `${provider} answers in streams alone.` });
    },
    finish(out) {
      const status = trailers()?.get(statusName);
      if (status === undefined || status === null || why === undefined) throw streamBroken(provider, "its trailers");
      if (status !== "whole") throw errorFromStatus({ provider, type: "overloaded", message: decodeURIComponent(status), secrets: [key] });
      out.push({ type: "end", stopReason: why, raw: why });
    },
  };
}

function failureOf({ text, ...failure }: VendorFailure): AgentError {
  const wait = /"again_in": ?(\d{1,6})/.exec(text)?.[1];
  const waitMs = wait === undefined ? {} : { retryAfterMs: Number(wait) * 1_000 };
  return errorFromStatus({ provider, ...vendorErrorOf(text), ...waitMs, ...failure });
}

function bodyOf({ model, system, messages, tools, vendorOptions, ...wishes }: ModelRequest): JsonObject {
  const hasTools = tools !== undefined && tools.length > 0;
  const refused = [wishes.toolChoice, wishes.reasoning, wishes.output, wishes.maxTokens].some((wish) => wish !== undefined);
  if (refused || (hasTools && wishes.parallelToolCalls === false))
    throw new AgentError("MODEL_UNSUPPORTED", { message: `${provider} knows neither limits nor choices.` });
  const named = new Map(
    messages.flatMap((message) => (message.role === "assistant" ? callsOf(message) : [])).map((call) => [call.callKey, call.id]),
  );
  return {
    model,
    ...(system ? { system: systemText(system) ?? "" } : {}),
    written: messages.flatMap((message) => lineOf(message, named)),
    ...(hasTools ? { tools: tools.map((tool) => ({ ...tool })) } : {}),
    ...vendorOptions,
  };
}

/** One line of what was sent, none where nothing is left of a message. */
function lineOf(message: Message, named: ReadonlyMap<string, string>): readonly JsonObject[] {
  if (message.role === "notice") return [{ by: "runtime", text: message.text }];
  if (message.role === "tool_result")
    return [
      {
        by: named.get(message.toolCallId) ?? message.toolCallId,
        result: JSON.stringify(message.content),
        failed: message.isError === true,
      },
    ];
  const parts = typeof message.content === "string" ? [{ type: "text", text: message.content } as const] : message.content;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (message.role === "user") return [{ by: "user", text: text.trim() === "" ? "(empty message)" : text }];
  const calls = callsOf(message).map(({ id, name, args }) => ({ id, name, args }));
  return text.trim() === "" && calls.length === 0
    ? []
    : [{ by: "model", ...(text === "" ? {} : { text }), ...(calls.length > 0 ? { calls } : {}) }];
}

function eventsOf({
  text = [],
  calls = [],
  usage,
  stop,
}: WireAnswer): readonly (TrailingEvent & { readonly carries?: "text" | "arguments" | "end" })[] {
  return [
    ...text.map((say) => ({ say, carries: "text" as const })),
    ...calls.map(({ id, name, args }) => ({
      call: { id, name, args: JSON.parse(args.join("") || "{}") as unknown },
      carries: "arguments" as const,
    })),
    ...(usage ? [{ tokens: { input: usage.input, output: usage.output } }] : []),
    { why: stop === "refusal" ? "stop" : stop, carries: "end" },
  ];
}

/** Its protocol from the server's side. */
export const trailingWire: VendorWire = {
  contentType: "application/x-ndjson",
  frames: (answer) =>
    eventsOf(answer).map(({ carries, ...event }) => ({ text: `${JSON.stringify(event)}\n`, ...(carries ? { carries } : {}) })),
  failure: ({ status, message, overflow, waitMs }) => ({
    status: overflow ? 413 : status,
    body: { error: { message, ...(waitMs === undefined ? {} : { again_in: waitMs / 1_000 }) } },
  }),
  errorFrame: (error) => `${JSON.stringify({ error })}\n`,
  trailers: (_, errorText) => ({ [statusName]: errorText === undefined ? "whole" : encodeURIComponent(errorText) }),
};
