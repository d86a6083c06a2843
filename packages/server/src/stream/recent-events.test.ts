import type { DurableEvent } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { createRecentEvents } from "./recent-events.ts";

const event = (seq: number, k = 0): DurableEvent => ({ type: "session_closed", seq, k, at: 0, sessionId: "s" });
const seqs = (events: readonly DurableEvent[] | undefined): readonly string[] | undefined => events?.map(({ seq, k }) => `${seq}.${k}`);

describe("recent events", () => {
  it("know that nothing came after the place they begin at", () => {
    expect(createRecentEvents({ seq: 7, k: 3 }, 4).after({ seq: 7, k: 3 })).toEqual([]);
  });

  it("do not answer for what was before them", () => {
    expect(createRecentEvents({ seq: 7, k: 3 }, 4).after({ seq: 7, k: 2 })).toBeUndefined();
  });

  it("distinguish the events of one fact", () => {
    const recent = createRecentEvents({ seq: 0, k: 0 }, 4);
    recent.add([event(1, 0), event(1, 1), event(2, 0)]);
    expect(seqs(recent.after({ seq: 1, k: 0 }))).toEqual(["1.1", "2.0"]);
  });

  it("forget the oldest, and give `undefined` when those are needed", () => {
    const recent = createRecentEvents({ seq: 0, k: 0 }, 4);
    for (let seq = 1; seq <= 9; seq++) recent.add([event(seq)]);
    expect(seqs(recent.after({ seq: 5, k: 0 }))).toEqual(["6.0", "7.0", "8.0", "9.0"]);
    expect(recent.after({ seq: 4, k: 0 })).toBeUndefined();
  });
});
