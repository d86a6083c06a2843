import { faultSuite, findRecordings, loadRecordings, type RecordingSuiteOptions, recordingSuite } from "@loopwright/provider-kit/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gemini } from "../src/index.ts";
import { violationsOf } from "./strict-rules.ts";

const options: RecordingSuiteOptions = {
  runner: { describe, it, beforeAll, afterAll },
  providers: ["gemini"],
  make: (baseURL, _, fetch = globalThis.fetch) => gemini({ apiKey: "test", baseURL, transport: fetch }),
};

recordingSuite(options);
faultSuite({
  ...options,
  exclude: {
    "gemini-stream-terminal-matrix-two-terminal-stream-with-visible-thoughts-39f039a4":
      "it says STOP twice, with content in between: a clean end after the first STOP is a whole answer as far as the wire can tell",
  },
});

const place = findRecordings();

describe.skipIf(!place.available)("recorded requests of Gemini", () => {
  const recordings = place.available ? loadRecordings(place.recordings, ["gemini"]) : [];

  it("are 36", () => {
    expect(recordings).toHaveLength(36);
  });

  it("keep the strict rules where the vendor answered with anything but 400", () => {
    const asked = recordings.filter(({ request, response }) => request.body !== null && response.status !== 400);
    expect(asked.length).toBeGreaterThan(30);
    for (const { id, request } of asked) expect([id, violationsOf(request.body)]).toEqual([id, []]);
  });
});
