import type { Json, Opaque } from "@loopwright/core";

/** The opaque data of vendors in messages, by its place in the message. */
export interface OpaqueSamples {
  readonly text: readonly Opaque[];
  readonly thinking: readonly Opaque[];
  readonly call: readonly Opaque[];
  /** Blocks of their own; those of one list came together, in this order. */
  readonly alone: readonly (readonly Opaque[])[];
}

/** Opaque data in the shapes that the providers keep, of every wire. `unique` makes the ids of server tools. */
export function opaqueSamples(unique: string): OpaqueSamples {
  const serverUse = { type: "server_tool_use", id: `srvtoolu_${unique}`, name: "web_search", input: { query: "weather" } };
  const serverResult = { type: "web_search_tool_result", tool_use_id: `srvtoolu_${unique}`, content: [] };
  const reasoning = { type: "reasoning", id: `rs_${unique}`, summary: [], encrypted_content: "gAAAAA" };
  return {
    text: [
      anthropic({ citations: [{ type: "char_location", cited_text: "sunny", document_index: 0, start_char_index: 0, end_char_index: 5 }] }),
      gemini({ thoughtSignature: "c2lnbmVk" }),
      responses({ phase: "commentary" }),
      unknown,
    ],
    thinking: [
      anthropic({ signature: "c2lnbmVk" }),
      gemini({ thoughtSignature: "c2lnbmVk" }),
      responses(reasoning),
      responses({ ...reasoning, encrypted_content: null }),
      chat({ field: "reasoning_content" }),
      chat({ field: "reasoning", details: [{ type: "reasoning.text", text: "because", signature: "c2lnbmVk" }] }),
      ollama({}),
      unknown,
    ],
    call: [
      anthropic({ caller: { type: "code_execution_20260120", tool_id: `srvtoolu_${unique}` } }),
      gemini({ thoughtSignature: "c2lnbmVk" }),
      responses({ namespace: "crm" }),
      chat({ extra_content: { google: { thought_signature: "c2lnbmVk" } } }),
      unknown,
    ],
    alone: [
      [anthropic({ type: "redacted_thinking", data: "c2VjcmV0" })],
      [anthropic(serverUse), anthropic(serverResult)],
      [anthropic(serverUse)],
      [gemini({ part: { executableCode: { language: "PYTHON", code: "1" } } })],
      [gemini({ part: { text: "", thoughtSignature: "c2lnbmVk" } })],
      [responses(reasoning)],
      [responses({ type: "web_search_call", id: `ws_${unique}`, status: "completed" })],
      [chat({ details: [{ type: "reasoning.encrypted", data: "c2VjcmV0" }] })],
      [unknown],
    ],
  };
}

const of =
  (vendor: string) =>
  (data: Json): Opaque => ({ vendor, data });
const anthropic = of("anthropic");
const gemini = of("gemini");
const responses = of("openai-responses");
const chat = of("openai-chat");
const ollama = of("ollama");
const unknown: Opaque = { vendor: "nobody", data: { part: { text: "of another wire" }, signature: "x", type: "thinking" } };
