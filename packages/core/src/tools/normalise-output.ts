import type { FilePart, ImagePart, ResultPart } from "../message/content.ts";
import type { Json } from "../message/json.ts";
import { wellFormed } from "../message/well-formed-text.ts";
import { headOf } from "./cut-text.ts";
import { type ApplyFilter, type Filtering, filterStrings, runFiltering } from "./filter-inside-work.ts";
import { jsonHead } from "./json-head.ts";
import { toJson } from "./to-json.ts";
import { toolLimits } from "./tool-limits.ts";

/** Replaces an empty output: vendors refuse empty results. */
const noOutput = "(no output)";

/** Filters texts: with `apply` a whole text, with a window a text that comes in pieces, or of which only the beginning is read. */
export interface TextFilter {
  readonly apply: ApplyFilter;
  window(): { push(text: string): Filtering<string>; end(): Filtering<string> };
}

/** How many characters after the kept ones a filter also gets, to see a match across the cut. */
export const filteredBeyond: number = 64 * 1024;

/**
 * A tool's output as parts, at most `outputMax` characters of text and JSON and then a note of what was cut; or a `flaw` that names where it is no JSON. A
 * list whose every item is a well-formed part is taken as parts, everything else as JSON. A text that is much too long is cut first.
 */
export function normaliseOutput(output: unknown, outputMax: number): NormalOutput {
  return runFiltering(filterOutput(output, outputMax), (text) => text) as NormalOutput;
}

/** The parts, or why the output is not JSON. */
export type NormalOutput =
  | { readonly parts: readonly ResultPart[]; readonly flaw?: never }
  | { readonly flaw: string; readonly parts?: never };

/** Like `normaliseOutput`, with a filter, which decides what of the end of a cut text may be shown. */
export function* filterOutput(output: unknown, outputMax: number, filter?: TextFilter): Filtering<NormalOutput> {
  if (output === undefined) return { parts: [textPart(noOutput)] };
  if (typeof output === "string") return { parts: yield* cutParts([textPart(output)], outputMax, filter) };
  const json = toJson(output, { textMax: Math.max(outputMax + filteredBeyond, toolLimits.mediaTextMax) + 1 });
  if (json.flaw !== undefined) return { flaw: json.flaw };
  const parts = isPartList(json.value) ? json.value : [{ type: "json", value: json.value } as const];
  return { parts: yield* cutParts(parts, outputMax, filter) };
}

/** The filtered beginning of a text: as much as could be kept, and well-formed. */
export function* headThrough(text: string, max: number, filter: TextFilter | undefined): Filtering<string> {
  const head = wellFormed(headOf(text, max + filteredBeyond));
  if (!filter) return head;
  return head.length < text.length ? yield* filter.window().push(head) : yield head;
}

/** The text of a stream of which only the first `outputMax` characters were kept. */
export function cutStream(kept: string, total: number): readonly ResultPart[] {
  if (total === 0) return [textPart(noOutput)];
  const text = wellFormed(kept);
  return total > kept.length ? [textPart(text), textPart(cutNote(total - kept.length, total))] : [textPart(text)];
}

function* cutParts(parts: readonly ResultPart[], outputMax: number, filter: TextFilter | undefined): Filtering<readonly ResultPart[]> {
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
    const { shown, head, length } = yield* headOfPart(part, outputMax, filter);
    if (length === 0) continue;
    total += length;
    if (length <= room) result.push(shown);
    else if (room > 0 && head !== "") result.push(textPart(headOf(head, room)));
    kept += Math.min(head.length, room);
    room = length <= room ? room - length : 0;
  }
  if (total > kept) result.push(textPart(cutNote(total - kept, total)));
  return result.length === 0 ? [textPart(noOutput)] : result;
}

interface PartHead {
  /** The part as it is shown if all of it has room. */
  readonly shown: ResultPart;
  /** As much of the text as could be kept; `length`: of the whole text. */
  readonly head: string;
  readonly length: number;
}

function* headOfPart(
  part: Extract<ResultPart, { readonly type: "text" | "json" }>,
  outputMax: number,
  filter: TextFilter | undefined,
): Filtering<PartHead> {
  if (part.type === "text") {
    const head = yield* headThrough(part.text, outputMax, filter);
    const isWhole = part.text.length <= outputMax + filteredBeyond;
    return { shown: { ...part, text: head }, head, length: isWhole ? head.length : part.text.length };
  }
  let isWhole = true;
  const through = (text: string): Filtering<string> => {
    isWhole &&= text.length <= outputMax + filteredBeyond;
    return headThrough(text, outputMax, filter);
  };
  const value = filter ? yield* filterStrings(part.value, through) : part.value;
  const { text, length } = jsonHead(value, outputMax);
  // The original length of a cut text counts: the filter may leave so little that the value would fit.
  return { shown: { ...part, value }, head: text, length: isWhole ? length : Math.max(length, jsonHead(part.value, 0).length) };
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
