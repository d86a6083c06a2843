import { describe, expect, it } from "vitest";
import { type Fact, factVersion } from "./fact.ts";
import { foldAll } from "./fold.ts";
import { emptyState } from "./state.ts";
import { type OldFact, type UpCasters, upCast, upCasters } from "./up-cast.ts";

/** A log as two builds might have written it that never were: version -1 said who, version 0 called a title a name. */
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
    expect(upCast(written)).toBe(written);
  });
});

it("has a caster for every version before this one", () => {
  const versions = Array.from({ length: factVersion - 1 }, (_, place) => String(place + 1));
  expect(Object.keys(upCasters)).toEqual(versions);
});
