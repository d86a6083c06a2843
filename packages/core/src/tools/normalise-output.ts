import type { FilePart, ImagePart, ResultPart } from "../message/content.ts";
import { type Json, mapStrings } from "../message/json.ts";
import { wellFormed } from "../message/well-formed.ts";
import { headOf } from "./cut-text.ts";
import { toJson } from "./to-json.ts";
import { toolLimits } from "./tool-limits.ts";

/** Stands where a tool said nothing: vendors refuse empty results. */
const noOutput = "(no output)";

/**
 * A tool's output as parts, at most `outputMax` characters of text and JSON and then a note of what was cut; or a `flaw`
 * that says where it is no JSON. A list whose every item is a well-formed part is taken as parts, everything else as JSON. `mend` is given each
 * text before anything is cut.
 */
export function normaliseOutput(
  output: unknown,
  outputMax: number,
  mend: (text: string) => string = (text) => text,
): { readonly parts: readonly ResultPart[]; readonly flaw?: never } | { readonly flaw: string; readonly parts?: never } {
  if (output === undefined) return { parts: [textPart(noOutput)] };
  if (typeof output === "string") return { parts: cutParts([textPart(mend(output))], outputMax) };
  const json = toJson(output);
  if (json.flaw !== undefined) return { flaw: json.flaw };
  const parts = isPartList(json.value) ? json.value : [{ type: "json", value: json.value } as const];
  return {
    parts: cutParts(
      parts.map((part) => mendPart(part, mend)),
      outputMax,
    ),
  };
}

/** Bytes and addresses of media are no text. */
function mendPart(part: ResultPart, mend: (text: string) => string): ResultPart {
  if (part.type === "text") return { ...part, text: mend(part.text) };
  return part.type === "json" ? { ...part, value: mapStrings(part.value, mend) } : part;
}

/** The text of a stream of which only the first `outputMax` characters were kept. */
export function cutStream(kept: string, total: number): readonly ResultPart[] {
  if (total === 0) return [textPart(noOutput)];
  const text = wellFormed(kept);
  return total > kept.length ? [textPart(text), textPart(cutNote(total - kept.length, total))] : [textPart(text)];
}

function cutParts(parts: readonly ResultPart[], outputMax: number): readonly ResultPart[] {
  const result: ResultPart[] = [];
  let room = outputMax;
  let mediaRoom = toolLimits.mediaTextMax;
  let total = 0;
  let kept = 0;
  for (const part of parts) {
    if (part.type === "image" || part.type === "file") {
      const size = part.source.data?.length ?? 0;
      mediaRoom -= size;
      result.push(mediaRoom >= 0 ? part : textPart(`[${part.type} of ${size} base64 characters left out: too large]`));
      continue;
    }
    const text = part.type === "text" ? wellFormed(part.text) : JSON.stringify(part.value);
    if (text === "") continue;
    total += text.length;
    if (text.length <= room) result.push(part.type === "text" ? { ...part, text } : part);
    else if (room > 0) result.push(textPart(headOf(text, room)));
    const taken = Math.min(text.length, room);
    kept += taken;
    room -= taken;
  }
  if (total > kept) result.push(textPart(cutNote(total - kept, total)));
  return result.length === 0 ? [textPart(noOutput)] : result;
}

function cutNote(left: number, total: number): string {
  return `[output cut: ${left} of ${total} characters left out]`;
}

function textPart(text: string): ResultPart {
  return { type: "text", text };
}

function isPartList(value: Json): value is readonly (Json & ResultPart)[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPart);
}

function isPart(value: unknown): value is ResultPart {
  if (typeof value !== "object" || value === null) return false;
  const part = value as { readonly [K in "type" | "text" | "value"]?: unknown };
  if (part.type === "text") return typeof part.text === "string";
  if (part.type === "json") return part.value !== undefined;
  return (part.type === "image" || part.type === "file") && isMedia(value);
}

function isMedia(value: object): value is ImagePart | FilePart {
  const { mediaType, source } = value as { readonly mediaType?: unknown; readonly source?: unknown };
  if (typeof mediaType !== "string" || typeof source !== "object" || source === null) return false;
  const ways = Object.entries(source);
  return ways.length === 1 && ways.every(([way, at]) => ["data", "url", "blob"].includes(way) && typeof at === "string");
}
