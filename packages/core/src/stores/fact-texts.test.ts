import { describe, expect, it } from "vitest";
import type { FactDraft } from "../loop/fact.ts";
import { appendLimits } from "../ports/session-log.ts";
import { checkedRef, factTexts } from "./fact-texts.ts";

const note = (title: string): FactDraft => ({ type: "session.changed", title, at: 1, v: 1 });

describe("factTexts", () => {
  it("numbers the facts after the last one seen, whatever number they came with", () => {
    const facts = [note("a"), { ...note("b"), seq: 41 }, { ...note("c"), seq: 8 }];
    expect(factTexts({ facts, expectedSeq: 5 }).map((text) => JSON.parse(text).seq)).toEqual([6, 7, 8]);
  });

  it("takes batches up to the limits, counted in bytes, and no larger ones", () => {
    const full = "x".repeat(appendLimits.factBytes - 100);
    expect(factTexts({ facts: [note(full), note(full), note(full)], expectedSeq: 0 })).toHaveLength(3);
    const wide = "é".repeat(appendLimits.factBytes / 2);
    for (const facts of [[], [note(wide)], Array(5).fill(note(full)), Array(appendLimits.facts + 1).fill(note("x"))])
      expect(() => factTexts({ facts, expectedSeq: 0 })).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});

describe("checkedRef", () => {
  it("gives the two ids alone, and refuses what is no id", () => {
    const ref = { scope: "local", session: "first", more: 1 };
    expect(checkedRef(ref)).toEqual({ scope: "local", session: "first" });
    for (const session of ["", "A", "a}b", "a b", "a:b", "é", "a".repeat(65)])
      expect(() => checkedRef({ scope: "local", session })).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});
