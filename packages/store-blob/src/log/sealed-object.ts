import { hash } from "node:crypto";
import { AgentError } from "@loopwright/core";

/** What this build writes, and the newest that it reads. */
const formatVersion = 1;
const digestLength = 64;

/** What is under the seal: a header of JSON, and lines of JSON. */
export interface SealedText {
  readonly header: object;
  readonly lines: readonly string[];
}

/** Where an object belongs: its key, and the digest of what comes before it in a chain. */
export interface SealPlace {
  readonly key: string;
  readonly before: string;
}

/**
 * An object as bytes: a SHA-256 over its place and its text, then the text. A flipped bit, a piece of another object, an object in
 * another's place and one that is too many do not pass.
 */
export function sealObject({ header, lines }: SealedText, place: SealPlace): { readonly bytes: Uint8Array; readonly digest: string } {
  const text = [JSON.stringify({ format: formatVersion, ...header }), ...lines].join("\n");
  const digest = digestOf(text, place);
  return { bytes: new TextEncoder().encode(`${digest}\n${text}`), digest };
}

/** The text of an object and its digest. @throws AgentError SESSION_CORRUPT, STORE_TOO_NEW */
export function openObject(
  bytes: Uint8Array,
  place: SealPlace,
): { readonly header: unknown; readonly lines: readonly string[]; readonly digest: string } {
  const all = decode(bytes, place);
  const [digest, text] = [all.slice(0, digestLength), all.slice(digestLength + 1)];
  if (all[digestLength] !== "\n" || digest !== digestOf(text, place)) throw damaged(place.key);
  const [first = "", ...lines] = text.split("\n");
  const header: unknown = JSON.parse(first);
  if (isHeader(header) && header.format > formatVersion)
    throw new AgentError("STORE_TOO_NEW", { message: `The object \`${place.key}\` is of a newer format (${header.format}).` });
  return { header, lines, digest };
}

function digestOf(text: string, { key, before }: SealPlace): string {
  return hash("sha256", `${key}\n${before}\n${text}`, "hex");
}

function decode(bytes: Uint8Array, { key }: SealPlace): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw damaged(key);
  }
}

function isHeader(value: unknown): value is { readonly format: number } {
  return typeof value === "object" && value !== null && "format" in value && typeof value.format === "number";
}

/** An object that is not what was written. */
export function damaged(key: string): AgentError {
  return new AgentError("SESSION_CORRUPT", {
    message: `The object \`${key}\` is damaged or not where it belongs.`,
    details: { key },
  });
}
