import { describe, expect, it } from "vitest";
import { type Fact, factVersion } from "./fact.ts";
import { foldAll } from "./fold.ts";
import { emptyState } from "./state.ts";
import { type OldFact, type UpCasters, upCast, upCasters } from "./up-cast-old-facts.ts";

/** A log as two builds might have written it that never were: version -1 had a user, version 0 called a title a name. */
const casters: UpCasters = {
  [-1]: ({ who, ...fact }) => (fact.type === "session.begun" ? { ...fact, type: "session.opened", agent: who } : fact),
  0: ({ name, ...fact }) => (name === undefined ? fact : { ...fact, title: name }),
};

const old: readonly OldFact[] = [
  { seq: 1, at: 10, v: -1, type: "session.begun", who: "helper", name: "Old" },
  { seq: 2, at: 20, v: 0, type: "session.changed", name: "Newer" },
  { seq: 3, at: 30, v: 1, type: "session.changed", title: "Newest" },
];
const read = old as readonly (OldFact & Fact)[];
const written: readonly Fact[] = [
  { seq: 1, at: 10, v: 1, type: "session.opened", agent: "helper", title: "Old" },
  { seq: 2, at: 20, v: 1, type: "session.changed", title: "Newer" },
  { seq: 3, at: 30, v: 1, type: "session.changed", title: "Newest" },
];

describe("a log of older versions", () => {
  it("is read as this build would have written it, through every version in between", () => {
    expect(upCast(read, { casters, version: 1 })).toEqual(written);
    expect(foldAll(emptyState, upCast(read, { casters, version: 1 }))).toEqual(foldAll(emptyState, written));
  });

  it("keeps the place and the time of every fact, whatever a caster makes of it", () => {
    const wild: UpCasters = { 0: (fact) => ({ ...fact, seq: 99, at: 0, v: 7 }) };
    expect(upCast(read.slice(1, 2), { casters: wild, version: 1 })).toMatchObject([{ seq: 2, at: 20, v: 1 }]);
  });

  it("is not written to", () => {
    const frozen = Object.freeze(read.map((fact) => Object.freeze({ ...fact })));
    expect(upCast(frozen, { casters, version: 1 })).toEqual(written);
  });

  it("of this version alone is the same list", () => {
    expect(upCast(written, { version: 1 })).toBe(written);
  });
});

it("has a caster for every version before this one", () => {
  const versions = Array.from({ length: factVersion - 1 }, (_, place) => String(place + 1));
  expect(Object.keys(upCasters)).toEqual(versions);
});

describe("a fact of version 1", () => {
  const cast = (fact: Omit<OldFact, "seq" | "at" | "v">): unknown => upCast([{ seq: 7, at: 1, v: 1, ...fact } as OldFact & Fact])[0];
  const place = { seq: 7, at: 1, v: 2 };

  it("has labels in place of the words of one product, and nothing else of its user and its options changes", () => {
    const access = { user: "ann", scope: "team", roles: ["admin"], surface: "web", plan: "pro" };
    const options = { model: "m", surface: "web", activeModule: "invoices" };
    const fact = { type: "input.accepted", inputId: "i", runId: "r", mode: "enqueue", access, options };
    expect(cast(fact)).toEqual({
      ...place,
      type: "input.accepted",
      inputId: "i",
      runId: "r",
      mode: "enqueue",
      access: { user: "ann", scope: "team", roles: ["admin"], labels: { surface: "web", plan: "pro" } },
      options: { model: "m" },
      labels: { surface: "web", activeModule: "invoices" },
    });
    const plain = { type: "input.accepted", inputId: "i", runId: "r", mode: "steer", access: { user: "ann", scope: "team" } };
    expect(cast(plain)).toEqual({ ...place, ...plain });
  });

  it("jumps the queue only in the mode for it", () => {
    const fact = { type: "input.accepted", inputId: "i", runId: "r", mode: "interrupt" };
    expect(cast(fact)).toEqual({ ...place, ...fact, jumps: false });
    expect(cast({ ...fact, jumps: true })).toEqual({ ...place, ...fact });
  });

  it("keeps the id of its answer, which was not published before the answer was complete", () => {
    expect(cast({ type: "model.finished", turn: 1, attempt: 1 })).toMatchObject({ messageId: "7" });
    expect(cast({ type: "model.started", turn: 1, attempt: 1 })).toMatchObject({ namedAtEnd: true });
  });

  it("has no limits that its build did not know", () => {
    const limits = { turnsMax: 3 };
    const none = { tokensMax: 0, costUsdMax: 0, durationMs: 0, depthMax: 0 };
    expect(cast({ type: "run.started", limits })).toMatchObject({ limits: { turnsMax: 3, ...none } });
    expect(cast({ type: "run.started" })).toMatchObject({ limits: none });
  });

  it("lets the call of a child have a result of its own", () => {
    expect(cast({ type: "child.linked", runId: "r", callKey: "r.1.0", session: "c", agent: "a" })).toMatchObject({ key: "r.1.0" });
  });

  it("that is damaged is not thrown at", () => {
    for (const value of [null, 7, "x", [1], undefined]) {
      expect(cast({ type: "input.accepted", access: value, options: value })).toMatchObject(place);
      expect(cast({ type: "run.started", limits: value })).toMatchObject(place);
    }
  });
});
