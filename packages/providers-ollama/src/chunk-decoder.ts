import type { Json, ModelChunk, Usage } from "@loopwright/core";
import { AgentError } from "@loopwright/core";
import {
  type ChunkDecoder,
  countOf,
  errorFromStatus,
  flagIn,
  listIn,
  recordIn,
  streamBroken,
  textIn,
  vendorErrorOf,
} from "@loopwright/provider-kit";
import { vendor, vendorName } from "./options.ts";

/** One line of a stream, or the whole answer of an unstreamed call; anything may be missing. */
export interface WireLine {
  readonly model?: string;
  readonly message?: { readonly content?: string; readonly thinking?: string; readonly tool_calls?: readonly WireCall[] | null };
  readonly done?: boolean;
  readonly done_reason?: string;
  readonly prompt_eval_count?: number;
  readonly eval_count?: number;
  readonly error?: Json;
}

interface WireCall {
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: Json };
}

/**
 * A decoder of the lines of one answer; an unstreamed answer is one line. `secrets` are kept out of errors. The protocol has no blocks, so a new
 * block begins at each change between text and thinking, and with each call.
 */
export function createDecoder(secrets: readonly string[]): ChunkDecoder<WireLine | null> {
  let next = 0;
  let open: { readonly type: "text" | "thinking"; readonly index: number } | undefined;
  let hasCalls = false;
  let last: WireLine | undefined;

  const say = (type: "text" | "thinking", delta: string, out: ModelChunk[]): void => {
    if (open?.type === type) {
      out.push({ type, index: open.index, delta });
      return;
    }
    open = { type, index: next++ };
    out.push({ type, index: open.index, delta });
    // Marks the thinking as Ollama's, so that it is sent back to Ollama only.
    if (type === "thinking") out.push({ type: "opaque", index: open.index, vendor, data: {} });
  };

  const call = ({ id: wireId, function: wireFunction }: WireCall, out: ModelChunk[]): void => {
    const id = textIn(wireId, "the id of a tool call");
    const asked = recordIn(wireFunction, "a tool call");
    const index = next++;
    open = undefined;
    hasCalls = true;
    const given = asked?.arguments ?? {};
    out.push({ type: "call-start", index, ...(id ? { id } : {}), name: textIn(asked?.name, "the name of a tool call") ?? "" });
    out.push({ type: "call-args", index, delta: typeof given === "string" ? given : JSON.stringify(given) });
    out.push({ type: "call-end", index });
  };

  const take = (line: WireLine, out: ModelChunk[]): void => {
    if (line.error !== undefined) throw errorFromStatus({ provider: vendorName, secrets, ...vendorErrorOf(line) });
    const message = recordIn(line.message, "a message");
    const thinking = textIn(message?.thinking, "a thinking");
    const content = textIn(message?.content, "a content");
    if (thinking) say("thinking", thinking, out);
    if (content) say("text", content, out);
    for (const each of listIn(message?.tool_calls, "a list of tool calls")) call(each, out);
    if (!flagIn(line.done, "a `done`")) return;
    last = line;
    const usage = usageOf(line);
    if (usage) out.push({ type: "usage", usage });
  };

  return {
    take: (line, out) => {
      if (line) take(line, out);
    },
    takeWhole: (answer: WireLine | null, out) => {
      if (answer) take(answer, out);
      if (!last) throw new AgentError("MODEL_PROTOCOL", { message: `${vendorName} sent JSON that is not an answer of a chat.` });
    },
    finish: (out) => {
      if (!last) throw streamBroken(vendorName, "its end (done)");
      out.push(endOf(last, hasCalls));
    },
    get ended() {
      return last !== undefined;
    },
  };
}

/** Ollama does not report cached tokens separately, and reports no count for a prompt that was cached whole. */
function usageOf(line: WireLine): Usage | undefined {
  const input = countOf(line.prompt_eval_count);
  const output = countOf(line.eval_count);
  if (input === undefined && output === undefined) return undefined;
  return { ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) };
}

function endOf({ done_reason: raw, model }: WireLine, hasCalls: boolean): ModelChunk {
  const common = { ...(raw === undefined ? {} : { raw }), ...(model === undefined ? {} : { model }) };
  if (raw === "length") return { type: "end", stopReason: "length", ...common };
  return { type: "end", stopReason: hasCalls ? "tool_calls" : "stop", ...common };
}
