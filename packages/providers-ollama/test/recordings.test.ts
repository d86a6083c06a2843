import type { JsonObject } from "@loopwright/core";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { faultSuite, findRecordings, loadRecordings, type RecordingSuiteOptions, recordingSuite } from "@loopwright/provider-kit/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ollama } from "../src/index.ts";
import { violationsOf } from "./strict-rules.ts";

/** What the provider rightly never does. */
const exclude = {
  "ollama-test-generation-test-ollama-async-streaming-generation-legacy-8f023fde": "/api/generate completes one prompt; we only chat",
  "ollama-test-generation-test-ollama-generation-legacy-92a19590": "/api/generate completes one prompt; we only chat",
};

const transport = nodeHttp();
const options: RecordingSuiteOptions = {
  runner: { describe, it, beforeAll, afterAll },
  providers: ["ollama"],
  make: (baseURL, _, fetch = transport) => ollama({ baseURL, transport: fetch }),
  exclude,
};
recordingSuite(options);
faultSuite(options);

const place = findRecordings();
const recordings = place.available ? loadRecordings(place.recordings, ["ollama"]) : [];

describe.skipIf(!place.available)("recorded traffic of Ollama", () => {
  it("are 24 calls", () => {
    expect(recordings.length).toBe(24);
  });

  it.each(recordings.filter(({ id }) => !(id in exclude)).map((each) => [each.id, each] as const))(
    "%s was asked for by a request that keeps the strict rules",
    (_, { request }) => {
      expect(violationsOf(request.body as JsonObject)).toEqual([]);
    },
  );
});
