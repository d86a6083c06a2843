import type { Json, Message } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";

/**
 * A digest of a request, equal for requests with the same content for the model. Ids and keys of calls count by their order only, because they differ
 * from run to run; usage, cost and provider of old answers do not count. It is for comparisons, not for security. `scrub` removes secrets first, so
 * that another key does not change the digest.
 */
export function requestDigest(request: ModelRequest, scrub: (text: string) => string): string {
  const { messages, ...rest } = request;
  const { cacheKey: _, ...written } = rest;
  return hash(scrub(canonical({ ...written, messages: nameless(messages) })));
}

function nameless(messages: readonly Message[]): readonly Json[] {
  const ordinals = new Map<string, number>();
  return messages.map((message): Json => {
    if (message.role === "notice") return { role: "notice", text: message.text };
    if (message.role === "user") return { role: "user", content: plain(message.content) };
    if (message.role === "tool_result") {
      const call = ordinals.get(message.callKey ?? message.toolCallId) ?? ordinals.get(message.toolCallId) ?? -1;
      return { role: "tool_result", call, content: plain(message.content), isError: message.isError ?? false };
    }
    return {
      role: "assistant",
      content: message.content.map((part): Json => {
        if (part.type !== "tool_call") return plain(part);
        const ordinal = ordinals.size;
        ordinals.set(part.id, ordinal).set(part.callKey, ordinal);
        return { type: "tool_call", name: part.name, args: part.args, argsText: part.argsText ?? "" };
      }),
    };
  });
}

/** The part as JSON: a cast for the compiler, because parts are plain data. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** JSON with sorted keys and without absent ones. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(",")}}`;
}

/** Two 32-bit FNV-1a hashes with different starts: 16 hex digits, small and synchronous. */
function hash(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x01234567;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code ^ (low >>> 15), 0x01000193);
  }
  return [high, low].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}
