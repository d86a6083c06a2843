import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  cutEverywhere,
  faultSuite,
  findRecordings,
  type RecordingSuiteOptions,
  rechunk,
  recordingSuite,
  type SuiteRunner,
} from "../src/testing/index.ts";
import { type LittleDefect, littleProvider, littleSource } from "./little-vendor.ts";

interface Verdict {
  readonly title: string;
  readonly problem?: string;
}

/** Runs a suite with a test runner of its own and reports what became of every test. */
async function verdictsOf(
  suite: (options: RecordingSuiteOptions) => void,
  defect: LittleDefect,
  exclude?: Readonly<Record<string, string>>,
): Promise<readonly Verdict[]> {
  const tests: { readonly title: string; readonly body: () => Promise<void> }[] = [];
  const before: (() => Promise<void>)[] = [];
  const after: (() => Promise<void>)[] = [];
  const runner: SuiteRunner = {
    describe: (_, body) => body(),
    it: Object.assign((title: string, body: () => Promise<void>) => tests.push({ title, body }), { skip: () => undefined }),
    beforeAll: (body) => before.push(body),
    afterAll: (body) => after.push(body),
  };
  suite({
    runner,
    providers: ["ollama"],
    source: littleSource,
    make: (baseUrl, _, fetch) => littleProvider(baseUrl, defect, fetch),
    ...(exclude ? { exclude } : {}),
  });
  for (const each of before) await each();
  const verdicts: Verdict[] = [];
  for (const { title, body } of tests) {
    const problem = await body().then(
      () => undefined,
      (error: unknown) => String(error),
    );
    verdicts.push({ title, ...(problem === undefined ? {} : { problem }) });
  }
  for (const each of after) await each();
  return verdicts;
}

const failed = (verdicts: readonly Verdict[]): readonly Verdict[] => verdicts.filter(({ problem }) => problem !== undefined);

describe("the suites over recorded traffic", () => {
  it("pass a provider that reads what was recorded", async () => {
    const verdicts = [...(await verdictsOf(recordingSuite, "none")), ...(await verdictsOf(faultSuite, "none"))];
    expect(failed(verdicts)).toEqual([]);
    expect(verdicts.length).toBeGreaterThan(20);
  });

  it("name the recording, the chunking and the difference where a message is not the recorded one", async () => {
    const [first, ...others] = failed(await verdictsOf(recordingSuite, "forgetful"));
    expect(first?.title).toContain("little-streamed");
    expect(first?.problem).toMatch(/\[byte\] text: expected "Good day, .*", got "Goodday,/);
    expect(others.map(({ title }) => title)).toEqual([expect.stringContaining("little-whole")]);
  });

  it.each([
    ["few", "some event borders and bytes"],
    ["borders", "any event border or byte"],
  ])("catch a provider that takes half an answer for the whole, with LOOPWRIGHT_FAULTS=%s", async (faults, places) => {
    vi.stubEnv("LOOPWRIGHT_FAULTS", faults);
    onTestFinished(() => void vi.unstubAllEnvs());
    const titles = failed(await verdictsOf(faultSuite, "gullible")).map(({ title }) => title);
    expect(titles).toContainEqual(expect.stringContaining(`little-streamed cut at ${places}`));
    expect(titles).toContainEqual(expect.stringMatching(/^F1: 1 streams, cut at a sample/));
  });

  it("catch a provider that reads characters in pieces", async () => {
    const [first] = failed(await verdictsOf(faultSuite, "piecemeal"));
    expect(first?.title).toMatch(/^F2: 1 streams give the same/);
    expect(first?.problem).toContain("little-streamed, as it came, in");
  });

  it("cut and read every stream as often as asked, and count it", async () => {
    const recordings = littleSource.recordings.filter(({ id }) => id === "little-streamed");
    const bytes = new TextEncoder().encode(recordings[0]?.response.body).length;
    const make = (baseUrl: string, _: unknown, fetch: typeof globalThis.fetch = globalThis.fetch) => littleProvider(baseUrl, "none", fetch);
    // The last byte is the end of the last line: without it the answer is whole.
    const cut = await cutEverywhere({ recordings, make });
    expect(cut).toEqual({ streams: 1, bytes, cuts: bytes * 2, madeAgain: expect.any(Number), flaws: [] });
    expect(cut.madeAgain).toBeGreaterThanOrEqual(bytes * 2 - 2);
    const again = { recordings, make, rounds: 40, seed: 5 };
    expect(await rechunk(again)).toEqual({ streams: 1, rounds: 40, forms: { "as it came": 20, CRLF: 20 }, flaws: [] });
  });

  it("catch a provider that takes every failure for a bad request", async () => {
    const titles = failed(await verdictsOf(faultSuite, "hasty")).map(({ title }) => title);
    expect(titles).toContainEqual(expect.stringContaining("answers a 503 with MODEL_OVERLOADED"));
    expect(titles).toContainEqual(expect.stringContaining("answers a 429 with MODEL_RATE_LIMITED"));
  });

  it("catch a provider that takes an abort for the end", async () => {
    const titles = failed(await verdictsOf(faultSuite, "deaf")).map(({ title }) => title);
    expect(titles).toHaveLength(3);
    for (const title of titles) expect(title).toContain("ends with the signal's reason");
  });

  it("refuse an exclusion of what does not exist", async () => {
    const [first] = failed(await verdictsOf(recordingSuite, "none", { "little-gone": "it was never ours" }));
    expect(first?.problem).toContain("There are no recordings little-gone");
  });

  it("leave excluded recordings out", async () => {
    const verdicts = await verdictsOf(recordingSuite, "forgetful", { "little-streamed": "no", "little-whole": "no" });
    expect(failed(verdicts)).toEqual([]);
  });

  it("name the variable that is missing", () => {
    expect(findRecordings({})).toEqual({ available: false, reason: "LOOPWRIGHT_RECORDINGS is not set" });
    expect(findRecordings({ LOOPWRIGHT_RECORDINGS: "/a" })).toEqual({ available: false, reason: "LOOPWRIGHT_REPLAY is not set" });
    expect(findRecordings({ LOOPWRIGHT_RECORDINGS: "/a", LOOPWRIGHT_REPLAY: "/b" })).toMatchObject({ available: true });
  });
});
