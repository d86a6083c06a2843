import { AgentError, type Json, type ModelChunk } from "@loopwright/core";
import { type ChunkDecoder, DeltaTemplate, indexIn, listIn, recordIn, type SseEvent, streamBroken, textIn } from "@loopwright/provider-kit";
import { chatVendor } from "./chat-request.ts";
import { customInput } from "./custom-input.ts";
import { type ErrorContext, errorFromEvent, notTheApi } from "./errors.ts";
import { createReasoningDetails, type ReasoningDetail } from "./reasoning-details.ts";
import { usageFrom, type WireUsage } from "./usage.ts";

/** One chunk, or a whole answer with `message` in place of `delta`. What compatible servers add is read where it means something. */
interface ChatChunk {
  readonly model?: string;
  readonly choices?: readonly ChatChoice[] | null;
  readonly usage?: WireUsage | null;
  /** Groq's older place of the usage. */
  readonly x_groq?: { readonly usage?: WireUsage | null } | null;
  readonly error?: unknown;
}

interface ChatChoice {
  readonly index?: number;
  readonly delta?: ChatDelta | null;
  readonly message?: ChatDelta | null;
  readonly finish_reason?: string | null;
}

interface ChatDelta {
  readonly content?: string | readonly ContentPiece[] | null;
  readonly refusal?: string | null;
  /** DeepSeek, Z.ai, Moonshot, vLLM, ... */
  readonly reasoning_content?: string | null;
  /** OpenRouter, Groq, Ollama, ... */
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly ReasoningDetail[] | null;
  readonly tool_calls?: readonly CallPiece[] | null;
  readonly function_call?: CallPiece["function"] | null;
}

/** Mistral's reasoning models send their content in parts. */
interface ContentPiece {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: readonly ContentPiece[];
}

interface CallPiece {
  readonly index?: number;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
  readonly custom?: { readonly name?: string | null; readonly input?: string | null } | null;
  /** Gemini's thought signature. */
  readonly extra_content?: Json;
}

interface Call {
  readonly index: number;
  readonly id: string | undefined;
  readonly custom: boolean;
  extra: Json | undefined;
  name: string;
  /** Its `call-start` has been added; until then its name may continue. */
  isNotified: boolean;
}

/** Decodes the chunks of chat completions, of OpenAI and of servers that speak it. */
export class ChatDecoder implements ChunkDecoder<SseEvent> {
  readonly #context: ErrorContext;
  readonly #calls: Call[] = [];
  /** The call that a number of the wire means at present. */
  readonly #byNumber = new Map<number, Call>();
  readonly #details = createReasoningDetails();
  /** Blocks are numbered in the order in which they first show. */
  #blocks = 0;
  #text = -1;
  #thinking = -1;
  #reasoningField: string | undefined;
  #model: string | undefined;
  #finishReason: string | undefined;
  #refusal = "";
  /** Something of an answer has come: a stream without `choices` is one of another API. */
  #hasChoices = false;
  #out: ModelChunk[] = [];
  readonly #template = new DeltaTemplate({ texts: ["obfuscation"], numbers: [] });
  /** What a delta that fits the template is a piece of. */
  #repeated: DeltaChunk | undefined;
  ended = false;

  constructor(context: ErrorContext) {
    this.#context = context;
  }

  take({ event, data }: SseEvent, out: ModelChunk[]): void {
    const delta = event === "" ? this.#template.read(data) : undefined;
    if (delta !== undefined && this.#repeated) {
      if (delta !== "") out.push({ type: this.#repeated.type, index: this.#repeated.index, delta });
      return;
    }
    if (data === "[DONE]") {
      this.ended = true;
      return;
    }
    const chunk: ChatChunk | null = JSON.parse(data);
    if (chunk === null || typeof chunk !== "object") throw notTheApi(this.#context.provider, "a stream of something else");
    if (event === "error") throw errorFromEvent(chunk, this.#context);
    const countBefore = out.length;
    this.#takeChunk(chunk, out);
    const [first, second] = [out[countBefore], out[countBefore + 1]];
    this.#template.forget();
    if (second !== undefined || first === undefined || !isDelta(first)) return;
    const member = memberOf(chunk, first);
    if (member === undefined) return;
    this.#repeated = first;
    this.#template.learn(data, member, first.delta);
  }

  takeWhole(body: unknown, out: ModelChunk[]): void {
    const chunk = body as ChatChunk | null;
    if (chunk === null || typeof chunk !== "object") throw notTheApi(this.#context.provider, "something else");
    if (!chunk.error && !Array.isArray(chunk.choices)) throw notTheApi(this.#context.provider, "an answer without choices");
    this.#takeChunk(chunk, out);
    this.ended = true;
  }

  finish(out: ModelChunk[]): void {
    const { provider } = this.#context;
    const finishReason = this.#finishReason;
    if (finishReason === undefined && !this.ended) throw streamBroken(provider, "its finish reason");
    if (!this.#hasChoices) throw notTheApi(provider, "a stream without choices");
    this.#out = out;
    for (const call of this.#calls) {
      this.#notify(call);
      closeCall(call, out);
    }
    const details = this.#details.all();
    const field = this.#reasoningField;
    if (field !== undefined || details.length > 0) {
      const data = { ...(field === undefined ? {} : { field }), ...(details.length === 0 ? {} : { details }) };
      out.push({ type: "opaque", index: this.#thinking === -1 ? this.#blocks++ : this.#thinking, vendor: chatVendor, data });
    }
    out.push(endOf({ finishReason, refusal: this.#refusal, hasCalls: this.#calls.length > 0, model: this.#model, provider }));
  }

  #takeChunk(chunk: ChatChunk, out: ModelChunk[]): void {
    this.#out = out;
    this.#model = textIn(chunk.model, "a model") || this.#model;
    const usage = chunk.usage ?? recordIn(chunk.x_groq, "an `x_groq`")?.usage;
    if (usage) out.push({ type: "usage", usage: usageFrom(usage) });
    // The counts beside an error are what the failed call costs.
    if (chunk.error) throw errorFromEvent(chunk, this.#context);
    if (!chunk.choices) return;
    this.#hasChoices = true;
    for (const choice of listIn(chunk.choices, "a list of choices")) {
      // One answer was asked for; a second choice can only come from `vendorOptions`.
      if (indexIn(choice.index, "the index of a choice")) continue;
      const delta = recordIn(choice.delta ?? choice.message, "a delta");
      if (delta) this.#takeDelta(delta);
      this.#finishReason = textIn(choice.finish_reason, "a finish reason") || this.#finishReason;
    }
  }

  #takeDelta(delta: ChatDelta): void {
    const { content } = delta;
    const reasoningContent = textIn(delta.reasoning_content, "a `reasoning_content`");
    const reasoning = textIn(delta.reasoning, "a `reasoning`");
    if (reasoningContent) this.#addThinking("reasoning_content", reasoningContent);
    else if (reasoning) this.#addThinking("reasoning", reasoning);
    if (typeof content === "string") {
      if (content !== "") this.#addText(content);
    } else this.#addPieces(listIn(content, "a content"));
    this.#details.add(listIn(delta.reasoning_details, "a `reasoning_details`"));
    for (const [place, piece] of listIn(delta.tool_calls, "a list of tool calls").entries()) this.#takeCall(piece, place);
    const functionCall = recordIn(delta.function_call, "a `function_call`");
    if (functionCall) this.#takeCall({ index: 0, function: functionCall }, 0);
    this.#refusal += textIn(delta.refusal, "a refusal") ?? "";
  }

  #addText(delta: string): void {
    if (this.#text === -1) this.#text = this.#blocks++;
    this.#out.push({ type: "text", index: this.#text, delta });
  }

  #addThinking(field: string, delta: string): void {
    if (this.#thinking === -1) this.#thinking = this.#blocks++;
    this.#reasoningField ??= field;
    this.#out.push({ type: "thinking", index: this.#thinking, delta });
  }

  #addPieces(pieces: readonly ContentPiece[]): void {
    for (const piece of pieces) {
      const text = piece.type === "text" ? textIn(piece.text, "a text") : undefined;
      if (text) this.#addText(text);
      for (const thought of listIn(piece.thinking, "a thinking")) {
        const thinking = textIn(thought.text, "a thinking");
        if (thinking) this.#addThinking("content", thinking);
      }
    }
  }

  /** A number may come again for another call (some servers number every call 0), or not at all. */
  #takeCall(piece: CallPiece, place: number): void {
    const number = indexIn(piece.index, "the index of a tool call") ?? place;
    let call = this.#byNumber.get(number);
    if (call === undefined || isOtherCall(call, piece)) call = this.#startCall(number, piece);
    else if (!call.isNotified) call.name = longerName(call.name, nameOf(piece));
    if (piece.extra_content !== undefined) call.extra = piece.extra_content;
    const delta = call.custom
      ? customInput.piece(textIn(recordIn(piece.custom, "a tool call")?.input, "an input") ?? "")
      : textIn(recordIn(piece.function, "a tool call")?.arguments, "the arguments of a tool call");
    if (!delta) return;
    this.#notify(call);
    this.#out.push({ type: "call-args", index: call.index, delta });
  }

  #startCall(number: number, piece: CallPiece): Call {
    const custom = piece.custom !== undefined && piece.custom !== null;
    const name = nameOf(piece) ?? "";
    const last = this.#calls.at(-1);
    if (last) this.#notify(last);
    const call: Call = {
      index: this.#blocks++,
      id: textIn(piece.id, "the id of a tool call") || undefined,
      custom,
      extra: undefined,
      name,
      isNotified: false,
    };
    this.#calls.push(call);
    this.#byNumber.set(number, call);
    return call;
  }

  /** Not before its name is whole: the first piece of it may be the name of another tool. */
  #notify(call: Call): void {
    if (call.isNotified) return;
    call.isNotified = true;
    const { index, id, name } = call;
    this.#out.push(id === undefined ? { type: "call-start", index, name } : { type: "call-start", index, id, name });
    if (call.custom) this.#out.push({ type: "call-args", index, delta: customInput.open });
  }
}

type DeltaChunk = Extract<ModelChunk, { type: "text" | "thinking" | "call-args" }>;

function isDelta(chunk: ModelChunk): chunk is DeltaChunk {
  return chunk.type === "text" || chunk.type === "thinking" || chunk.type === "call-args";
}

/** The member with the delta of a chunk that holds nothing else; `undefined` for a chunk that may hold more. */
function memberOf({ choices, usage }: ChatChunk, { type }: DeltaChunk): string | undefined {
  const [choice] = choices ?? [];
  const delta = choice?.delta;
  if (!delta || choices?.length !== 1 || choice.finish_reason || usage || delta.refusal || delta.reasoning_details) return undefined;
  if (type === "thinking") return delta.reasoning_content ? "reasoning_content" : "reasoning";
  if (type === "text") return typeof delta.content === "string" ? "content" : undefined;
  const [piece] = delta.tool_calls ?? [];
  return delta.tool_calls?.length === 1 && piece?.function && !piece.extra_content ? "arguments" : undefined;
}

function nameOf(piece: CallPiece): string | undefined {
  const name = recordIn(piece.function, "a tool call")?.name || recordIn(piece.custom, "a tool call")?.name;
  return textIn(name, "the name of a tool call") || undefined;
}

/** Some servers send a name in two pieces, some repeat it in every piece. */
function longerName(name: string, piece = ""): string {
  return piece === name ? name : `${name}${piece}`;
}

function isOtherCall(call: Call, piece: CallPiece): boolean {
  if (nameOf(piece) === undefined) return false;
  return piece.id ? call.id !== undefined && piece.id !== call.id : piece.index === undefined;
}

function closeCall({ index, custom, extra }: Call, out: ModelChunk[]): void {
  if (custom) {
    out.push({ type: "call-args", index, delta: customInput.close });
    out.push({ type: "opaque", index, vendor: chatVendor, data: { custom } });
  } else if (extra !== undefined) out.push({ type: "opaque", index, vendor: chatVendor, data: { extra_content: extra } });
  out.push({ type: "call-end", index });
}

interface Ending {
  readonly finishReason: string | undefined;
  readonly refusal: string;
  readonly hasCalls: boolean;
  readonly model: string | undefined;
  readonly provider: string;
}

function endOf({ finishReason, refusal, hasCalls, model, provider }: Ending): ModelChunk {
  const base = { ...(finishReason === undefined ? {} : { raw: finishReason }), ...(model === undefined ? {} : { model }) };
  if (refusal !== "") return { type: "end", stopReason: "error", message: refusal, ...base };
  switch (finishReason) {
    case "length":
    case "max_tokens":
    case "model_length":
      return { type: "end", stopReason: "length", ...base };
    case "content_filter":
    case "sensitive":
      return { type: "end", stopReason: "error", message: `The content filter of ${provider} stopped the answer.`, ...base };
    case "error":
    case "network_error":
    case "insufficient_system_resource":
      throw new AgentError("MODEL_OVERLOADED", { message: `${provider} broke the answer off: ${finishReason}.` });
    default:
      return { type: "end", stopReason: hasCalls ? "tool_calls" : "stop", ...base };
  }
}
