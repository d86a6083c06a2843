import { describe, expect, it } from "vitest";
import { addingHooks, playLongSession } from "../../../packages/context/test/long-session.ts";
import { bodiesOf, vendors } from "./strict-vendors.ts";

const turns = Number(process.env["LOOPWRIGHT_CHAT_TURNS"] ?? 60);

const kinds = [
  { kind: "tools", hooks: [], count: turns },
  // Beside the long one: the rules are the same from the first compaction on.
  { kind: "tools and what hooks add to each request", hooks: [addingHooks], count: Math.min(turns, 200) },
] as const;

describe.each(kinds)("a session of $count turns with $kind that was compacted again and again", async ({ hooks, count }) => {
  const { requests, compactions } = await playLongSession(count, hooks);

  it("was compacted", () => {
    expect(requests).toHaveLength(2 * count);
    expect(compactions).toBeGreaterThan(count / 50);
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
