import { AgentError, type AssistantMessage, type JsonObject, type Message, type ToolResultMessage } from "@loopwright/core";
import { type AssistantParts, assistantParts, isObject, type ResultParts, resultParts, userParts, type WirePart } from "./content.ts";

/** One turn of the wire. */
export interface WireContent {
  readonly role: "user" | "model";
  readonly parts: readonly WirePart[];
}

/** What the model takes. */
export interface HistoryRules {
  readonly vision: boolean;
  readonly needsSignatures: boolean;
  readonly mediaInResults: boolean;
}

/**
 * Stands where a call of another vendor has no signature, which newer models demand.
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures history of other models (2026-11-21)
 */
const foreignSignature = "skip_thought_signature_validator";

/**
 * The messages as the vendor wants them: all results of a turn in one content, as many as calls and in their order, with ids
 * that are unique in the request; nothing empty. Each message is rendered once; the rest is one cheap pass.
 * @throws AgentError MODEL_UNSUPPORTED for images where the model has no vision, and for blobs whose bytes were not loaded.
 */
export function historyOf(messages: readonly Message[], rules: HistoryRules): readonly WireContent[] {
  const wire: WireContent[] = [];
  const used = new Set<string>();
  let ids = new Map<string, string>();
  let at = 0;
  while (at < messages.length) {
    const message = messages[at] as Message;
    if (message.role === "tool_result") {
      let end = at + 1;
      while (messages[end]?.role === "tool_result") end++;
      pushResults(wire, messages.slice(at, end) as readonly ToolResultMessage[], { ids, rules });
      at = end;
      continue;
    }
    if (message.role === "assistant") {
      ids = new Map();
      const parts = modelParts(message, { ids, used, needsSignatures: rules.needsSignatures });
      if (parts.length > 0) wire.push({ role: "model", parts });
    } else {
      const content = renderInput(message);
      if (content.hasImage) requireVision(rules);
      wire.push({ role: "user", parts: content.parts });
    }
    at += 1;
  }
  return wire;
}

interface RenderedInput {
  readonly parts: readonly WirePart[];
  readonly hasImage: boolean;
}

const inputs = new WeakMap<Message, RenderedInput>();
const assistants = new WeakMap<AssistantMessage, AssistantParts>();
const results = new WeakMap<ToolResultMessage, ResultParts>();

function remember<K extends object, V>(cache: WeakMap<K, V>, key: K, make: (key: K) => V): V {
  let value = cache.get(key);
  if (value === undefined) {
    value = make(key);
    cache.set(key, value);
  }
  return value;
}

function renderInput(message: Exclude<Message, AssistantMessage | ToolResultMessage>): RenderedInput {
  return remember<Message, RenderedInput>(inputs, message, () => {
    if (message.role === "notice") return { parts: [{ text: `<system-notice>\n${message.text}\n</system-notice>` }], hasImage: false };
    const hasImage = typeof message.content !== "string" && message.content.some((part) => part.type === "image");
    const parts = userParts(message.content);
    // A message with blank text only still gets a turn: two turns of the model in a row are refused.
    return { parts: parts.length > 0 ? parts : [{ text: "(empty message)" }], hasImage };
  });
}

interface CallIds {
  /** By id and by key of the calls of this turn. */
  readonly ids: Map<string, string>;
  /** Over the whole request. */
  readonly used: Set<string>;
  readonly needsSignatures: boolean;
}

function modelParts(message: AssistantMessage, { ids, used, needsSignatures }: CallIds): readonly WirePart[] {
  const { parts, calls } = remember(assistants, message, assistantParts);
  if (calls.length === 0) return parts;
  const settled = [...parts];
  for (const [ordinal, { at, part }] of calls.entries()) {
    const id = freeId(part, used);
    ids.set(part.id, id).set(part.callKey, id);
    const wire = parts[at] as WirePart;
    const call = wire["functionCall"] as JsonObject;
    const unsigned = ordinal === 0 && needsSignatures && wire["thoughtSignature"] === undefined;
    settled[at] = { ...wire, functionCall: { id, ...call }, ...(unsigned ? { thoughtSignature: foreignSignature } : {}) };
  }
  return settled;
}

/** The call's own id where it is free in the request, else one made of its key. */
function freeId({ id, callKey }: { id: string; callKey: string }, used: Set<string>): string {
  const wish = clean(id);
  let free = used.has(wish) ? clean(callKey) : wish;
  for (let n = 2; used.has(free); n++) free = `${clean(callKey)}_${n}`;
  used.add(free);
  return free;
}

const idLengthMax = 64;

/** Letters, digits, `_` and `-`: what the vendor's own ids are made of. */
function clean(id: string): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(-idLengthMax);
  return plain === "" ? "call" : plain;
}

function pushResults(
  wire: WireContent[],
  messages: readonly ToolResultMessage[],
  { ids, rules }: { ids: ReadonlyMap<string, string>; rules: HistoryRules },
): void {
  const names = namesOf(wire.at(-1));
  const parts: WirePart[] = [];
  const beside: WirePart[] = [];
  for (const message of messages) {
    const { response, media } = remember(results, message, resultParts);
    if (typeof message.content !== "string" && message.content.some((part) => part.type === "image")) requireVision(rules);
    const id = ids.get(message.callKey ?? message.toolCallId) ?? ids.get(message.toolCallId) ?? clean(message.toolCallId);
    const name = names.get(id) ?? message.toolName ?? "tool";
    const inside = rules.mediaInResults && media.length > 0;
    parts.push({ functionResponse: { id, name, response, ...(inside ? { parts: media } : {}) } });
    if (!inside && media.length > 0) beside.push({ text: `What \`${name}\` gave beside its text:` }, ...media);
  }
  wire.push({ role: "user", parts });
  if (beside.length > 0) wire.push({ role: "user", parts: beside });
}

function namesOf(content: WireContent | undefined): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { functionCall } of content?.parts ?? []) {
    if (isObject(functionCall)) names.set(String(functionCall["id"]), String(functionCall["name"]));
  }
  return names;
}

function requireVision(rules: HistoryRules): void {
  if (rules.vision) return;
  throw new AgentError("MODEL_UNSUPPORTED", { message: "The conversation holds an image and the model has no vision." });
}
