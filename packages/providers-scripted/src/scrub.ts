import type { Json, ModelChunk } from "@loopwright/core";

const removed = "<secret>";

/** Well-known forms of keys, and values of fields that are named as secrets. */
const secretPatterns: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{12,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\b(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{16,}/g,
  /\bxox[a-z]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bBearer\s+[A-Za-z0-9._~+/-]{8,}=*/gi,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<="(?:api[_-]?key|authorization|password|secret|access[_-]?token|client[_-]?secret)"\s*:\s*")(?:[^"\\]|\\.)+/gi,
];
const secretName = /^(?:x-)?(?:(?:goog-)?api[_-]?key|authorization|password|secret|access[_-]?token|client[_-]?secret)$/i;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Takes secrets out of text and data. `known` are secrets verbatim, beside the forms it knows by itself. */
export interface Scrubber {
  text(text: string): string;
  json(value: Json): Json;
  /** The same batches; a secret that is spread over several deltas of a block is found as well. Opaque data stays as it is. */
  batches(batches: readonly (readonly ModelChunk[])[]): readonly (readonly ModelChunk[])[];
}

/** A scrubber for cassettes. */
export function createScrubber(known: readonly string[] = []): Scrubber {
  const secrets = known.filter((secret) => secret !== "");

  const text = (given: string): string => {
    let result = given;
    for (const { from, to } of spansIn(given, secrets).toReversed()) result = result.slice(0, from) + removed + result.slice(to);
    return result;
  };
  const json = (value: Json): Json => {
    if (typeof value === "string") return text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(json);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, secretName.test(key) && typeof member === "string" ? removed : json(member)]),
    );
  };
  const batches = (given: readonly (readonly ModelChunk[])[]): readonly (readonly ModelChunk[])[] => {
    const cleaned = cleanDeltas(given.flat(), secrets);
    return given.map((batch) => batch.map((chunk) => cleaned.get(chunk) ?? (chunk.type === "end" ? cleanEnd(chunk, text) : chunk)));
  };
  return { text, json, batches };
}

type Delta = Extract<ModelChunk, { delta: string }>;

/** The deltas that change. Each block is searched as one text. */
function cleanDeltas(chunks: readonly ModelChunk[], secrets: readonly string[]): ReadonlyMap<ModelChunk, ModelChunk> {
  const blocks = new Map<number, Delta[]>();
  for (const chunk of chunks) {
    if (!("delta" in chunk)) continue;
    const block = blocks.get(chunk.index);
    if (block) block.push(chunk);
    else blocks.set(chunk.index, [chunk]);
  }
  const cleaned = new Map<ModelChunk, ModelChunk>();
  for (const block of blocks.values()) {
    const spans = spansIn(block.map(({ delta }) => delta).join(""), secrets);
    let at = 0;
    for (const chunk of spans.length > 0 ? block : []) {
      cleaned.set(chunk, { ...chunk, delta: withoutSpans(chunk.delta, at, spans) });
      at += chunk.delta.length;
    }
  }
  return cleaned;
}

/** One piece of a longer text, beginning at `at`: what lies in a span goes, its first character becomes the mark. */
function withoutSpans(piece: string, at: number, spans: readonly Span[]): string {
  let result = "";
  let from = 0;
  for (const span of spans) {
    const start = span.from - at;
    const end = span.to - at;
    if (end <= 0 || start >= piece.length) continue;
    result += piece.slice(from, Math.max(0, start));
    if (start >= 0) result += removed;
    from = Math.min(end, piece.length);
  }
  return result + piece.slice(from);
}

function cleanEnd(chunk: Extract<ModelChunk, { type: "end" }>, text: (given: string) => string): ModelChunk {
  return chunk.message === undefined ? chunk : { ...chunk, message: text(chunk.message) };
}

/** Where secrets are, in order, without overlaps. */
function spansIn(text: string, secrets: readonly string[]): readonly Span[] {
  const found: Span[] = [];
  for (const pattern of secretPatterns) {
    for (const match of text.matchAll(pattern)) found.push({ from: match.index, to: match.index + match[0].length });
  }
  for (const secret of secrets) {
    for (let from = text.indexOf(secret); from >= 0; from = text.indexOf(secret, from + secret.length)) {
      found.push({ from, to: from + secret.length });
    }
  }
  found.sort((a, b) => a.from - b.from);
  const spans: Span[] = [];
  for (const span of found) {
    const last = spans.at(-1);
    if (last && span.from < last.to) spans[spans.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    else spans.push(span);
  }
  return spans;
}
