import { findRecordings, loadRecordings, recordingSuite } from "@loopwright/provider-kit/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { providers, replayedProvider } from "./replayed-provider.ts";
import { violationsOf } from "./strict-rules.ts";

recordingSuite({
  runner: { describe, it, beforeAll, afterAll },
  providers,
  make: replayedProvider,
  exclude: {
    "azure-chat-function-calling-azure-grok-4-1-fast-non-reasoning-can-use-tools-4-9a666cfb":
      "it claims 515 cached tokens of 377 read; usage.test.ts says what we make of that",
  },
});

const place = findRecordings();

describe.skipIf(!place.available)("recorded requests of OpenAI and compatible servers", () => {
  const recordings = place.available ? loadRecordings(place.recordings, providers) : [];

  it("are 33, 29 and 34", () => {
    const count = (provider: string): number => recordings.filter((recording) => recording.provider === provider).length;
    expect(providers.map(count)).toEqual([33, 29, 34]);
  });

  it("keep the strict rules where the vendor answered with anything but 400", () => {
    const asked = recordings.filter(({ request, response }) => request.body !== null && response.status !== 400);
    expect(asked.length).toBeGreaterThan(80);
    for (const { id, request } of asked) expect([id, violationsOf(request.body)]).toEqual([id, []]);
  });
});
