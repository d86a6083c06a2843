import { type AgentEvent, type Message, textOf } from "@loopwright/core/protocol";
import { composedRun } from "@loopwright/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ChatPieces, TextWithdrawn } from "./chat-pieces.ts";

const transcript = (messages: readonly Message[]): string =>
  messages
    .flatMap((one) => (one.role === "assistant" ? [textOf(one)] : []))
    .filter((text) => text !== "")
    .join("\n\n");

/** The texts of the answer as these events leave it: those of the messages that have ended, and that of the attempt under way. */
function answerAfter(events: readonly AgentEvent[]): string {
  const texts: string[] = [];
  let draft = "";
  for (const event of events) {
    if (event.type === "text_delta") draft += event.delta;
    if (event.type === "attempt_discarded") draft = "";
    if (event.type === "message_snapshot") draft = textOf({ role: "assistant", content: event.content, stopReason: "stop" });
    if (event.type !== "message_end" || event.message.role !== "assistant") continue;
    texts.push(textOf(event.message));
    draft = "";
  }
  return [...texts, draft].filter((text) => text !== "").join("\n\n");
}

it("gives the transcript, piece by piece, or ends where text that was sent is not in it", () => {
  let whole = 0;
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
      const { events, messages } = composedRun(seed);
      const pieces = new ChatPieces();
      let text = "";
      let withdrawnAt: AgentEvent | undefined;
      for (const event of events) {
        try {
          for (const piece of pieces.take(event)) text += "content" in piece ? piece.content : "";
        } catch (error) {
          expect(error).toBeInstanceOf(TextWithdrawn);
          withdrawnAt = event;
          break;
        }
      }
      if (withdrawnAt) {
        const before = events.slice(0, events.indexOf(withdrawnAt) + 1);
        const isChanged = ({ type }: AgentEvent): boolean => type === "attempt_discarded" || type === "message_end";
        expect(before.some(isChanged)).toBe(true);
        // A later attempt may happen to begin with the same letters again: what counts is the answer as it is at this event.
        expect(answerAfter(before).startsWith(text)).toBe(false);
      } else {
        whole += 1;
        expect(text).toBe(transcript(messages));
      }
    }),
    { numRuns: 1_000 },
  );
  expect(whole).toBeGreaterThan(200);
});

it("gives the transcript of a run from its recorded messages alone", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
      const { events, messages } = composedRun(seed);
      const pieces = new ChatPieces();
      const given = events.flatMap((event) => (event.type === "message_end" ? pieces.take(event) : []));
      expect(given.map((piece) => ("content" in piece ? piece.content : "")).join("")).toBe(transcript(messages));
    }),
    { numRuns: 300 },
  );
});
