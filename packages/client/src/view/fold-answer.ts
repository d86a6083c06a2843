import type { EphemeralEvent } from "@loopwright/core/protocol";
import type { ViewAnswer, ViewPart } from "./session-view.ts";

/** The answer after one event of its lane; the same object where the event does not come next. */
export function foldAnswer(answer: ViewAnswer, event: EphemeralEvent): ViewAnswer {
  const { n } = event;
  if (event.type === "message_snapshot") return n > answer.n ? { ...answer, n, parts: partsFrom(event) } : answer;
  return n === answer.n + 1 ? { ...answer, n, parts: foldParts(answer.parts, event) } : answer;
}

function foldParts(parts: readonly ViewPart[], event: EphemeralEvent): readonly ViewPart[] {
  switch (event.type) {
    case "text_start":
    case "text_delta":
    case "text_end":
      return foldWriting(parts, "text", event);
    case "thinking_start":
    case "thinking_delta":
    case "thinking_end":
      return foldWriting(parts, "thinking", event);
    case "toolcall_start":
      return withPart(parts, -1, { type: "tool_call", toolName: event.toolName, argsText: "", ended: false, index: event.index });
    case "toolcall_delta": {
      const place = placeOf(parts, event.index);
      const part = parts[place];
      // Without its start the name of the tool is unknown; `toolcall_end` brings it.
      return part?.type === "tool_call" ? withPart(parts, place, { ...part, argsText: part.argsText + event.delta }) : parts;
    }
    case "toolcall_end": {
      const { index, toolCall } = event;
      const argsText = toolCall.argsText ?? JSON.stringify(toolCall.args);
      return withPart(parts, placeOf(parts, index), { type: "tool_call", toolName: toolCall.name, argsText, ended: true, index });
    }
    default:
      return parts;
  }
}

/** A start, a delta, or an end, which carries the whole text. */
interface Writing {
  readonly index: number;
  readonly delta?: string;
  readonly text?: string;
  readonly thinking?: string;
}

function foldWriting(parts: readonly ViewPart[], type: "text" | "thinking", { index, delta = "", ...end }: Writing): readonly ViewPart[] {
  const whole = end[type];
  let place = placeOf(parts, index);
  // The delta continues a part that came with a snapshot: only its last part can be open.
  const last = parts.at(-1);
  if (place < 0 && last?.type === type && last.index === undefined && !last.ended) place = parts.length - 1;
  const part = parts[place];
  const text = whole ?? (part?.type === type ? part.text : "") + delta;
  return withPart(parts, place, { type, text, ended: whole !== undefined, index });
}

const placeOf = (parts: readonly ViewPart[], index: number): number => parts.findLastIndex((part) => part.index === index);

/** With the part at a place, or where its index belongs when the place is -1. */
function withPart(parts: readonly ViewPart[], place: number, part: ViewPart): readonly ViewPart[] {
  if (place >= 0) return parts.with(place, part);
  const after = parts.findLastIndex((other) => (other.index ?? -1) < (part.index ?? 0));
  return parts.toSpliced(after + 1, 0, part);
}

function partsFrom({ content, calls = [] }: Extract<EphemeralEvent, { readonly type: "message_snapshot" }>): readonly ViewPart[] {
  const isLast = (i: number): boolean => i === content.length - 1 && calls.length === 0;
  const parts = content.flatMap((part, i): readonly ViewPart[] => {
    if (part.type === "text" || part.type === "thinking") return [{ type: part.type, text: part.text, ended: !isLast(i) }];
    if (part.type !== "tool_call") return [];
    return [{ type: "tool_call", toolName: part.name, argsText: part.argsText ?? JSON.stringify(part.args), ended: true }];
  });
  return calls.reduce<readonly ViewPart[]>(
    (all, { index, toolName, argsText }) => withPart(all, -1, { type: "tool_call", toolName, argsText, ended: false, index }),
    parts,
  );
}
