import type { AgentEvent } from "@loopwright/core/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ChatPieces, TextWithdrawn } from "./chat-pieces.ts";

interface Message {
  /** Texts of attempts that were discarded, each in its deltas. */
  readonly discarded: readonly (readonly string[])[];
  readonly deltas: readonly string[];
  /** Whether the last attempt is given as a snapshot in place of its deltas. */
  readonly asSnapshot: boolean;
}

const deltas = fc.array(fc.constantFrom("a", "b", "ab", "☔", "", "\n"), { maxLength: 5 });
const message: fc.Arbitrary<Message> = fc.record({ discarded: fc.array(deltas, { maxLength: 2 }), deltas, asSnapshot: fc.boolean() });

const event = (body: object): AgentEvent => body as AgentEvent;
const parts = (text: string): object[] => (text === "" ? [] : [{ type: "text", text }]);

function eventsOf({ discarded, deltas: own, asSnapshot }: Message): AgentEvent[] {
  const streamed = (pieces: readonly string[]): AgentEvent[] => pieces.map((delta) => event({ type: "text_delta", index: 0, delta }));
  const text = own.join("");
  return [
    ...discarded.flatMap((pieces) => [...streamed(pieces), event({ type: "attempt_discarded" })]),
    ...(asSnapshot ? [event({ type: "message_snapshot", content: parts(text) })] : streamed(own)),
    event({ type: "message_end", message: { role: "assistant", content: parts(text), stopReason: "stop" } }),
  ];
}

const transcript = (messages: readonly Message[]): string =>
  messages
    .map((one) => one.deltas.join(""))
    .filter((text) => text !== "")
    .join("\n\n");

it("gives the transcript, piece by piece, or ends where text that was sent is not in it", () => {
  let whole = 0;
  fc.assert(
    fc.property(fc.array(message, { maxLength: 4 }), (messages) => {
      const pieces = new ChatPieces();
      let text = "";
      let isWithdrawn = false;
      try {
        for (const one of messages.flatMap(eventsOf)) for (const piece of pieces.take(one)) text += "content" in piece ? piece.content : "";
      } catch (error) {
        expect(error).toBeInstanceOf(TextWithdrawn);
        isWithdrawn = true;
      }
      const wanted = transcript(messages);
      if (isWithdrawn) expect(messages.some(({ discarded }) => discarded.length > 0)).toBe(true);
      else {
        whole += 1;
        expect(text).toBe(wanted);
      }
    }),
    { numRuns: 2_000 },
  );
  expect(whole).toBeGreaterThan(500);
});

it("gives the transcript of a run from its recorded messages alone", () => {
  const messages = [["Let me", " see."], ["Noon."]].map((own) => ({ discarded: [], deltas: own, asSnapshot: false }));
  const pieces = new ChatPieces();
  const recorded = messages.flatMap(eventsOf).filter(({ type }) => type === "message_end");
  expect(recorded.flatMap((one) => pieces.take(one))).toEqual([{ content: "Let me see." }, { content: "\n\nNoon." }]);
});
