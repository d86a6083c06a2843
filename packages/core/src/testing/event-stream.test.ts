import { describe, expect, it } from "vitest";
import type { DurableBody, DurableEvent } from "../loop/event.ts";
import { findEventViolation } from "./event-stream.ts";

const bodies: readonly (readonly DurableBody[])[] = [
  [{ type: "input_accepted", inputId: "i", mode: "enqueue", message: { role: "user", content: "Go on" } }],
  [
    { type: "run_start", model: "m", provider: "p" },
    { type: "message_start", messageId: "1", role: "user" },
    { type: "message_end", messageId: "1", parent: null, message: { role: "user", content: "Go on" } },
  ],
  [
    { type: "turn_start", turn: 1 },
    { type: "message_start", role: "assistant" },
  ],
  [
    { type: "message_end", messageId: "2", parent: "1", message: { role: "assistant", content: [], stopReason: "stop" } },
    { type: "turn_end", turn: 1 },
  ],
  [{ type: "run_end", status: "completed", reason: "answer" }],
];

/** So many runs of one session, one after the other. */
const runs = (count: number): readonly DurableEvent[] =>
  Array.from({ length: count }, (_, run) =>
    bodies.flatMap((ofFact, fact) =>
      ofFact.map((body, k): DurableEvent => ({ ...body, seq: run * bodies.length + fact + 1, k, at: 0, sessionId: "s", runId: `r${run}` })),
    ),
  ).flat();

describe("the events of a long session", () => {
  it("are judged in as many steps as they are, from the start and from the middle", () => {
    const events = runs(500);
    expect(findEventViolation(events)).toBeUndefined();
    expect(findEventViolation(events.slice(4), { mayLoseDeltas: true })).toBeUndefined();
  });

  it("are still judged at their end", () => {
    const events = runs(500);
    expect(findEventViolation(events.toSpliced(-2, 1))).toMatchObject({ at: events.length - 2 });
  });
});
