import { AgentError, isAgentError, type ModelChunk } from "@loopwright/core";

/** The error for JSON of a shape that the vendor does not document; `what` names the part, for example "a count of tokens". */
export function unexpectedShape(what: string, cause?: unknown): AgentError {
  return new AgentError("MODEL_PROTOCOL", {
    message: `The answer holds ${what} of an unexpected shape.`,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A count of tokens as the vendor sent it; `undefined` for none. @throws AgentError MODEL_PROTOCOL for what is no number. */
export function countOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number") return value;
  throw unexpectedShape("a count of tokens");
}

/** What a vendor calls its usage. @throws AgentError MODEL_PROTOCOL for what is no object. */
export function requireUsage(value: unknown): void {
  if (typeof value !== "object" || Array.isArray(value)) throw unexpectedShape("a usage");
}

/**
 * Runs `decode`, which adds chunks, and takes nothing for granted of what the vendor sent: a chunk whose fields are of another type, and a decoder that
 * trips over a shape, are MODEL_PROTOCOL. The chunks before it stay.
 * @throws AgentError, or what `decode` throws for text that is no JSON.
 */
export function decodeSoundly(out: ModelChunk[], decode: () => void): void {
  const before = out.length;
  let failure: unknown;
  try {
    decode();
  } catch (error) {
    failure = isAgentError(error) || error instanceof SyntaxError ? error : unexpectedShape("an event", error);
  }
  const flaw = cutAtFlaw(out, before);
  if (failure !== undefined) throw failure;
  if (flaw !== undefined) throw unexpectedShape(flaw);
}

function cutAtFlaw(out: ModelChunk[], from: number): string | undefined {
  for (let at = from; at < out.length; at++) {
    const flaw = flawOf(out[at] as ModelChunk);
    if (flaw === undefined) continue;
    out.length = at;
    return flaw;
  }
  return undefined;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === "string";

/** The part of a chunk that has another type than it should, as words. */
function flawOf(chunk: ModelChunk): string | undefined {
  switch (chunk.type) {
    case "text":
    case "thinking":
    case "call-args":
      return isText(chunk.delta) && Number.isInteger(chunk.index) ? undefined : "a delta";
    case "call-start":
      return isText(chunk.name) && isTextOrNone(chunk.id) && Number.isInteger(chunk.index) ? undefined : "a tool call";
    case "usage":
      return Object.values(chunk.usage).every((count) => typeof count === "number") ? undefined : "a usage";
    case "end":
      return isTextOrNone(chunk.raw) && isTextOrNone(chunk.message) && isTextOrNone(chunk.model) ? undefined : "an end";
    case "block-end":
    case "call-end":
    case "opaque":
    case "alive":
      return undefined;
    default:
      return chunk satisfies never;
  }
}
