import type { InputMode, UserMessage, UserPart } from "@loopwright/core/protocol";
import type { Draft, DraftFile } from "../app/drafts.ts";

/** A message on its way. */
export interface Outgoing {
  readonly message: UserMessage;
  /** Equal keys are accepted once. */
  readonly key: string;
  readonly mode: InputMode;
}

const imageTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** True for pictures that models and browsers know. */
export function isPicture(mediaType: string): boolean {
  return imageTypes.has(mediaType);
}

/** The message of a draft: words first, then files in the order in which they were added. */
export function messageOf({ text, files }: Draft): UserMessage {
  const words = text.trim();
  if (files.length === 0) return { role: "user", content: words };
  const parts: readonly UserPart[] = words === "" ? [] : [{ type: "text", text: words }];
  return { role: "user", content: [...parts, ...files.map(partOf)] };
}

function partOf({ blob, mediaType, name }: DraftFile): UserPart {
  const source = { blob };
  if (isPicture(mediaType)) return { type: "image", mediaType, source };
  return { type: "file", mediaType, source, ...(name === undefined ? {} : { name }) };
}

/** True when there is something to send. */
export function isSendable({ text, files }: Draft): boolean {
  return text.trim() !== "" || files.length > 0;
}

const textEndings =
  /\.(c|cc|cpp|css|csv|go|h|html?|ini|java|jsx?|json|jsonl|kt|log|md|mjs|py|rb|rs|sh|sql|svg|swift|toml|ts|tsx|txt|xml|ya?ml)$/i;

/** The media type of a file, for files that the browser does not know: source code is text. */
export function mediaTypeOf({ name, type }: { readonly name: string; readonly type: string }): string {
  const known = type.split(";")[0]?.trim() ?? "";
  if (known !== "" && !(known === "video/mp2t" && textEndings.test(name))) return known;
  return textEndings.test(name) ? "text/plain" : "application/octet-stream";
}

const units = ["bytes", "kB", "MB", "GB"] as const;

/** A size for people: `1.5 MB`. */
export function sizeLabel(sizeBytes: number): string {
  if (sizeBytes === 1) return "1 byte";
  let value = sizeBytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
