import type { AssistantPart, Message } from "@loopwright/core";
import { cutInput, cutResult, headOf, leftOut, withoutMedia } from "./cut-message.ts";
import { lengthWithin, unitsOfText } from "./sizes.ts";

/** To how many units messages are cut where nothing else helps, each tried before the next. */
export const squeezeLevels = [2_000, 1_000, 500, 250, 120] as const;

/** The message with at most about so many units of text. Calls, thinking and what belongs to its vendor stay. */
export function squeezed(message: Message, units: number): Message {
  switch (message.role) {
    case "tool_result":
      return cutResult(message, units);
    case "notice":
      return { ...message, text: cutText(message.text, units) };
    case "user": {
      // At the last level images give way, too.
      const kept = units === squeezeLevels.at(-1) ? withoutMedia(message) : message;
      const text =
        typeof kept.content === "string" ? kept.content : kept.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      const most = Math.floor((text.length * units) / Math.max(1, unitsOfText(text)));
      return most < text.length ? cutInput(kept, most) : kept;
    }
    case "assistant":
      return { ...message, content: message.content.map((part) => cutPart(part, units)) };
  }
}

function cutPart(part: AssistantPart, units: number): AssistantPart {
  return part.type === "text" && part.opaque === undefined ? { ...part, text: cutText(part.text, units) } : part;
}

function cutText(text: string, units: number): string {
  const kept = headOf(text, lengthWithin(text, units));
  return kept.length === text.length ? text : `${kept}\n${leftOut(`${text.length - kept.length} characters`)}`;
}
