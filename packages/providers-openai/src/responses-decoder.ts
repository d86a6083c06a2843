import type { Json, ModelChunk } from "@loopwright/core";
import { type ChunkDecoder, DeltaTemplate, indexIn, listIn, recordIn, type SseEvent, streamBroken, textIn } from "@loopwright/provider-kit";
import { customInput } from "./custom-input.ts";
import { type ErrorContext, errorFromEvent, notTheApi } from "./errors.ts";
import { responsesVendor } from "./responses-request.ts";
import { usageFrom, type WireUsage } from "./usage.ts";

interface ResponseEvent {
  readonly type?: string;
  readonly output_index?: number;
  readonly delta?: string;
  readonly item?: ResponseItem;
  readonly response?: WholeResponse;
  readonly error?: unknown;
}

interface ResponseItem {
  readonly type?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly namespace?: string;
  readonly phase?: string | null;
  readonly content?: readonly { readonly type?: string; readonly text?: string; readonly refusal?: string }[] | null;
  readonly summary?: readonly { readonly text?: string }[] | null;
  readonly [field: string]: unknown;
}

type DeltaChunk = Extract<ModelChunk, { type: "text" | "thinking" | "call-args" }>;

interface WholeResponse {
  readonly status?: string;
  readonly model?: string;
  readonly usage?: WireUsage | null;
  readonly error?: unknown;
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly output?: readonly ResponseItem[];
}

/** Decodes the events of the Responses API. An item's place in the answer is the number of its block. */
export class ResponsesDecoder implements ChunkDecoder<SseEvent> {
  readonly #context: ErrorContext;
  /** Calls whose start was emitted, blocks of which a delta was emitted, blocks that are complete. */
  readonly #started = new Set<number>();
  readonly #written = new Set<number>();
  readonly #closed = new Set<number>();
  #refusal = "";
  #ended: WholeResponse | undefined;
  #out: ModelChunk[] = [];
  readonly #template = new DeltaTemplate({ texts: ["obfuscation"], numbers: ["sequence_number"] });
  /** What a delta that fits the template is a piece of, and the name of its event. */
  #repeated: { readonly chunk: DeltaChunk; readonly event: string } | undefined;

  constructor(context: ErrorContext) {
    this.#context = context;
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  take({ event: name, data }: SseEvent, out: ModelChunk[]): void {
    const repeated = this.#repeated?.event === name ? this.#repeated : undefined;
    const delta = repeated && this.#template.read(data);
    if (delta !== undefined && repeated) {
      if (delta !== "") out.push({ type: repeated.chunk.type, index: repeated.chunk.index, delta });
      return;
    }
    if (data === "[DONE]") return;
    const event: ResponseEvent | null = JSON.parse(data);
    if (event === null || typeof event !== "object") throw notTheApi(this.#context.provider, "a stream of something else");
    if (name === "error") throw errorFromEvent(event, this.#context);
    this.#out = out;
    const countBefore = out.length;
    this.#takeEvent(event, indexIn(event.output_index, "an `output_index`") ?? 0);
    const [chunk] = out.slice(countBefore);
    this.#template.forget();
    // An event with a `delta` holds nothing else, so the next one can be decoded by template; the delta of a custom tool is re-encoded and cannot.
    if (chunk === undefined || event.delta === undefined || event.type === "response.custom_tool_call_input.delta") return;
    if (chunk.type !== "text" && chunk.type !== "thinking" && chunk.type !== "call-args") return;
    this.#repeated = { chunk, event: name };
    this.#template.learn(data, "delta", event.delta);
  }

  takeWhole(body: unknown, out: ModelChunk[]): void {
    const response = body as WholeResponse | null;
    if (response === null || typeof response !== "object") throw notTheApi(this.#context.provider, "something else");
    if (!response.error && !Array.isArray(response.output)) throw notTheApi(this.#context.provider, "an answer without output");
    this.#out = out;
    this.#close(response);
  }

  finish(out: ModelChunk[]): void {
    const { provider } = this.#context;
    if (this.#ended === undefined) throw streamBroken(provider, "its last event (response.completed)");
    out.push(endOf(this.#ended, { refusal: this.#refusal, hasCalls: this.#started.size > 0, provider }));
  }

  #takeEvent(event: ResponseEvent, index: number): void {
    switch (event.type) {
      case "response.output_text.delta":
        this.#say("text", index, event.delta);
        return;
      case "response.function_call_arguments.delta":
        this.#say("call-args", index, event.delta);
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#say("thinking", index, event.delta);
        return;
      case "response.custom_tool_call_input.delta":
        this.#say("call-args", index, customInput.piece(textIn(event.delta, "a delta") ?? ""));
        return;
      case "response.refusal.delta":
        this.#refusal += textIn(event.delta, "a delta") ?? "";
        return;
      case "response.output_item.added":
      case "response.output_item.done": {
        const item = recordIn(event.item, "an item");
        if (!item) return;
        if (event.type === "response.output_item.done") this.#closeItem(index, item);
        else if (item.type === "function_call" || item.type === "custom_tool_call") this.#startCall(index, item);
        return;
      }
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        this.#close(recordIn(event.response, "a response") ?? {});
        return;
      default:
        // `type: "error"` comes with and without an SSE event of that name. The rest is progress of server tools, parts opened and
        // closed, and whatever comes in time to come.
        if (event.type === "error" || event.error) throw errorFromEvent(event, this.#context);
    }
  }

  #say(type: "text" | "thinking" | "call-args", index: number, piece: string | undefined): void {
    const delta = textIn(piece, "a delta");
    if (!delta) return;
    this.#written.add(index);
    this.#out.push({ type, index, delta });
  }

  #startCall(index: number, item: ResponseItem): void {
    if (this.#started.has(index)) return;
    this.#started.add(index);
    const name = textIn(item.name, "the name of a tool call") ?? "";
    const id = textIn(item.call_id, "the id of a tool call");
    this.#out.push(id ? { type: "call-start", index, id, name } : { type: "call-start", index, name });
    if (item.type === "custom_tool_call") this.#out.push({ type: "call-args", index, delta: customInput.open });
  }

  /** Takes a complete item and emits what its deltas have not. */
  #closeItem(index: number, item: ResponseItem): void {
    if (this.#closed.has(index)) return;
    this.#closed.add(index);
    switch (item.type) {
      case "message":
        this.#closeMessage(index, item);
        return;
      case "function_call":
      case "custom_tool_call":
        this.#closeCall(index, item);
        return;
      case "reasoning":
        if (!this.#written.has(index))
          for (const part of [...listIn(item.summary, "a summary"), ...listIn(item.content, "a content")])
            this.#say("thinking", index, part.text);
        this.#keep(index, verbatim(item));
        return;
      default:
        // Tools that the vendor ran itself: kept as they are, because reasoning beside them must not lose its neighbour.
        this.#keep(index, verbatim(item));
    }
  }

  #closeCall(index: number, item: ResponseItem): void {
    this.#startCall(index, item);
    const custom = item.type === "custom_tool_call";
    if (!this.#written.has(index))
      this.#say("call-args", index, custom ? customInput.piece(textIn(item.input, "an input") ?? "") : item.arguments);
    if (custom) {
      this.#out.push({ type: "call-args", index, delta: customInput.close });
      this.#keep(index, { custom });
    } else {
      const namespace = textIn(item.namespace, "the namespace of a tool call");
      if (namespace) this.#keep(index, { namespace });
    }
    this.#out.push({ type: "call-end", index });
  }

  #closeMessage(index: number, item: ResponseItem): void {
    const wasWritten = this.#written.has(index);
    let refusal = "";
    for (const part of listIn(item.content, "a content")) {
      if (part.type === "refusal") refusal += textIn(part.refusal, "a refusal") ?? "";
      else if (!wasWritten) this.#say("text", index, part.text);
    }
    if (this.#refusal === "") this.#refusal = refusal;
    const phase = textIn(item.phase, "a phase");
    if (phase) this.#keep(index, { phase });
  }

  #keep(index: number, data: Json): void {
    this.#out.push({ type: "opaque", index, vendor: responsesVendor, data });
  }

  #close(response: WholeResponse): void {
    if (response.usage) this.#out.push({ type: "usage", usage: usageFrom(response.usage) });
    // The counts beside an error are what the failed call costs.
    if (response.status === "failed" || response.error) throw errorFromEvent(response.error ?? response, this.#context);
    for (const [index, item] of listIn(response.output, "an output").entries()) this.#closeItem(index, item);
    this.#ended = response;
  }
}

function endOf(
  response: WholeResponse,
  { refusal, hasCalls, provider }: { refusal: string; hasCalls: boolean; provider: string },
): ModelChunk {
  const reason = textIn(recordIn(response.incomplete_details, "an `incomplete_details`")?.reason, "a reason");
  const status = textIn(response.status, "a status") ?? "completed";
  const model = textIn(response.model, "a model");
  const raw = reason === undefined ? status : `${status}:${reason}`;
  const base = { raw, ...(model === undefined ? {} : { model }) };
  if (refusal !== "") return { type: "end", stopReason: "error", message: refusal, ...base };
  if (reason === "content_filter")
    return { type: "end", stopReason: "error", message: `The content filter of ${provider} stopped the answer.`, ...base };
  if (status === "incomplete") return { type: "end", stopReason: "length", ...base };
  if (status === "completed") return { type: "end", stopReason: hasCalls ? "tool_calls" : "stop", ...base };
  return { type: "end", stopReason: "error", message: `${provider} has not finished the answer: its status is ${status}.`, ...base };
}

/** The item as it came: JSON by origin. */
function verbatim(item: ResponseItem): Json {
  return item as Json;
}
