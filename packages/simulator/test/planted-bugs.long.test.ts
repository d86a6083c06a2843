import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runPlantedBugs } from "../src/index.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** A search ends with its last seed; a machine that ten others keep busy may take its own time for them. */
const limitMs = 400_000;

/** Beside those of `planted-bugs.test.ts`: each of these takes seconds. The seeds found the bug when it was last looked for; where they no longer do, it is searched for. */
describe("a bug that is planted", () => {
  it.each([
    ["a deaf subscription", 45],
    ["one session that cannot be read stops the sweeps", 11],
  ])("in a port is found: %s", async (name, seed) => {
    const { bugs, missed } = await runPlantedBugs({ only: [name], firstSeeds: [seed], seedsMax: 200, limitMs });
    expect(bugs).toHaveLength(1);
    expect(missed).toEqual([]);
  });

  it("that shows only in an outage at the worst moment of a renewal is found there", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["a lease is renewed every third of it"], seedsMax: 1, limitMs });
    expect(bugs).toMatchObject([{ outage: expect.stringContaining("atMs"), finding: expect.stringMatching(/I4|I9|I10/) }]);
  });

  it.each([
    ["a session continues under another agent", 5],
    ["what came with a session is lost when it is restored", 13],
  ])("in what a session began with is found: %s", async (name, seed) => {
    const { bugs } = await runPlantedBugs({ root, only: [name], firstSeeds: [seed], seedsMax: 200, limitMs });
    expect(bugs).toMatchObject([{ kind: "source", finding: expect.stringContaining("I15") }]);
  });

  it("that ends an answer of which a client has a part is found by the client", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["without what was missed of it"], firstSeeds: [7], seedsMax: 200, limitMs });
    expect(bugs).toMatchObject([{ kind: "source", finding: expect.stringMatching(/had \d+ of \d+ characters/) }]);
  });

  it("that lets a tool report progress after its owner is lost is found by the client", async () => {
    const { bugs } = await runPlantedBugs({
      root,
      only: ["a lane publishes more after its end"],
      firstSeeds: [340],
      seedsMax: 400,
      limitMs,
    });
    expect(bugs).toMatchObject([
      { kind: "source", finding: expect.stringMatching(/I3: .* received progress of lane \d+ after it was closed/) },
    ]);
  });

  it("that shows only in an answer that is repeated is found there", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["keys of answers"], seedsMax: 1, limitMs });
    expect(bugs).toMatchObject([{ crash: expect.stringContaining("replayCrash"), finding: expect.stringContaining("I4") }]);
  });

  it("that keeps half a surrogate pair is found in the facts", async () => {
    const { bugs } = await runPlantedBugs({ root, only: ["half a surrogate pair"], firstSeeds: [1], seedsMax: 50, limitMs });
    expect(bugs).toMatchObject([{ kind: "source", finding: expect.stringContaining("half a surrogate pair") }]);
  });

  it.each([
    ["a sweep leaves out a session whose owner died", /S5/, 11],
    ["a worker takes what another process holds", /H1/, 53],
    ["a session that could not be opened once is forgotten", /S5/, 49],
    ["sweeps end with the first that fails", /S5/, 49],
  ])("in the real sweep is found by a seed: %s", async (name, finding, seed) => {
    const { bugs } = await runPlantedBugs({ root, only: [name], firstSeeds: [seed], seedsMax: 400, limitMs });
    expect(bugs).toMatchObject([{ kind: "source", seed: expect.any(Number), finding: expect.stringMatching(finding) }]);
  });

  it.each([
    ["a session that is used is evicted as idle", /H1/, 1],
    ["a session that runs is evicted as idle", /H1/, 1],
    ["an evicted session keeps its lease and its subscriptions", /H[23]/, 94],
    ["listeners for the end of a loaded session are not called", /H2/, 1],
    ["a session is never idle where its log is polled", /H2/, 15],
  ])("in the real eviction is found by a seed: %s", async (name, finding, seed) => {
    const { bugs } = await runPlantedBugs({ root, only: [name], firstSeeds: [seed], seedsMax: 400, limitMs });
    expect(bugs).toMatchObject([{ kind: "source", seed: expect.any(Number), finding: expect.stringMatching(finding) }]);
  });

  it.each([
    ["a hand-over wakes no next owner", /H4/, 52],
    ["a process looks for work after its hand-over", /H3/, 4],
    ["an owner that hands over claims the session again", /H4/, 7],
  ])("in the real hand-over is found by a seed: %s", async (name, finding, seed) => {
    const { bugs } = await runPlantedBugs({ root, only: [name], firstSeeds: [seed], seedsMax: 400, limitMs });
    expect(bugs).toMatchObject([{ kind: "source", seed: expect.any(Number), finding: expect.stringMatching(finding) }]);
  });

  it.each([
    ["a schedule with one date fires twice", /T1/, 1],
    ["the date of a schedule needs no owner", /S5.*has not fired/, 1],
    ["the missed dates of a schedule fire one by one", /T1/, 8],
    ["the fold of one run refuses the input of a schedule", /I3.*read alone/, 1],
  ])("in the schedules of sessions is found by a seed: %s", async (name, finding, seed) => {
    const { bugs } = await runPlantedBugs({ root, only: [name], firstSeeds: [seed], seedsMax: 100 });
    expect(bugs).toMatchObject([{ kind: "source", seed: expect.any(Number), finding: expect.stringMatching(finding) }]);
  });

  it.each(["a hand-over does not wait for what ends soon", "a session is released while what is handed over is under way"])(
    "in the real hand-over is found by hand-overs at every place: %s",
    async (name) => {
      const { bugs } = await runPlantedBugs({ root, only: [name], seedsMax: 1, limitMs });
      expect(bugs).toMatchObject([{ crash: expect.stringContaining("replayCrash"), finding: expect.stringContaining("H5") }]);
    },
  );
});
