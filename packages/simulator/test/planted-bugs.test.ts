import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runPlantedBugs } from "../src/index.ts";
import { portFlaws } from "../src/planted/port-flaws.ts";
import { sourceFlaws } from "../src/planted/source-flaws.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

it("at least 25 bugs can be planted", () => {
  const names = [...portFlaws, ...sourceFlaws].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(25);
});

describe("a bug that is planted", () => {
  it.each([
    "an unknown outcome is taken for written",
    "the store leases a session",
    "keeps a part of a torn batch",
    "the store forgets batch ids",
    "a deaf subscription",
    "one session that cannot be read stops the sweeps",
    "the store is put back from a backup",
  ])("in a port is found: %s", async (name) => {
    const { bugs, missed } = await runPlantedBugs({ only: [name], seedsMax: 200 });
    expect(bugs).toHaveLength(1);
    expect(missed).toEqual([]);
  });

  it("where only a race of two owners shows it is found there", async () => {
    const { bugs } = await runPlantedBugs({ only: ["the store checks no epoch"], seedsMax: 1 });
    expect(bugs[0]?.finding).toContain("I9");
  });

  it("that shows only in an outage at the worst moment of a renewal is found there", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["a lease is renewed every third of it"], seedsMax: 1 });
    expect(bugs).toMatchObject([{ outage: expect.stringContaining("atMs"), finding: expect.stringMatching(/I4|I9|I10/) }]);
  });

  it("that gives a batch up before an outage is over is found where something ends as the outage begins", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["a batch is given up"], seedsMax: 1 });
    expect(bugs).toMatchObject([{ outage: expect.stringContaining("atMs"), finding: expect.stringMatching(/I4|I10/) }]);
  });

  it.each(["a session goes on under another agent", "what came with a session is lost when it is restored"])(
    "in what a session began with is found: %s",
    async (name) => {
      const { bugs } = await runPlantedBugs({ root, only: [name], seedsMax: 200 });
      expect(bugs).toMatchObject([{ kind: "source", finding: expect.stringContaining("I15") }]);
    },
  );

  it("that ends an answer of which a client has a part is found by the client", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["without what was missed of it"], seedsMax: 200 });
    expect(bugs).toMatchObject([{ kind: "source", finding: expect.stringMatching(/had \d+ of \d+ characters/) }]);
  });

  it("that lets a tool tell on when its owner is lost is found by the client", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["a lane tells on after its end"], seedsMax: 400 });
    expect(bugs).toMatchObject([
      { kind: "source", finding: expect.stringMatching(/I3: .* heard progress of lane \d+ after it was closed/) },
    ]);
  });

  it("that shows only in an answer that is repeated is found there", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["keys of answers"], seedsMax: 1 });
    expect(bugs).toMatchObject([{ crash: expect.stringContaining("replayCrash"), finding: expect.stringContaining("I4") }]);
  });

  it("that keeps half a surrogate pair is found in the facts", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["half a surrogate pair"], seedsMax: 50 });
    expect(bugs).toMatchObject([{ kind: "source", finding: expect.stringContaining("half a surrogate pair") }]);
  });

  it("in the sources is found in a copy of them", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["effects are launched before their intent"], seedsMax: 50 });
    expect(bugs).toMatchObject([{ kind: "source", finding: expect.stringContaining("before its intent was in the log") }]);
  });
});
