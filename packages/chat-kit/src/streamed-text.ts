import type { FollowedEvent } from "@loopwright/client";

/** The text of an answer as far as it was streamed. */
export interface StreamedText {
  /** The text after an event; `undefined`: the event changes no text. */
  take(event: FollowedEvent): string | undefined;
}

/** Follows the text of one answer after the other. */
export function streamedText(): StreamedText {
  let lane = 0;
  const parts = new Map<number, string>();
  const begin = (next: number): void => {
    if (next !== lane) parts.clear();
    lane = next;
  };
  const whole = (): string => [...parts].flatMap(([, text]) => (text.trim() === "" ? [] : text)).join("\n\n");
  return {
    take(event) {
      switch (event.type) {
        case "text_delta":
          begin(event.lane);
          parts.set(event.index, (parts.get(event.index) ?? "") + event.delta);
          return whole();
        case "message_snapshot":
          begin(event.lane);
          parts.clear();
          for (const [index, part] of event.content.entries()) if (part.type === "text") parts.set(index, part.text);
          return whole();
        case "attempt_discarded":
        case "message_end":
          parts.clear();
          return undefined;
        default:
          return undefined;
      }
    },
  };
}
