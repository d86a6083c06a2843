import { describe, expect, it } from "vitest";
import { playLongSession } from "../../../packages/context/test/long-session.ts";
import { bodiesOf, vendors } from "./strict-vendors.ts";

const turns = Number(process.env["LOOPWRIGHT_CHAT_TURNS"] ?? 60);

describe(`a session of ${turns} turns with tools that was compacted again and again`, async () => {
  const { requests, compactions } = await playLongSession(turns);

  it("was compacted", () => {
    expect(requests).toHaveLength(2 * turns);
    expect(compactions).toBeGreaterThan(turns / 50);
  });

  it.each(vendors)("breaks no rule of $name in any request, and most of what is read is in its cache", async (vendor) => {
    const bodyOf = bodiesOf(vendor);
    const cache = vendor.cache();
    for (const [at, request] of requests.entries()) {
      const body = await bodyOf(request);
      expect({ at, violations: vendor.violationsOf(body) }).toEqual({ at, violations: [] });
      cache.take(body);
    }
    const { cached, read } = cache.report;
    expect(cached / read).toBeGreaterThan(0.85);
  });
});
