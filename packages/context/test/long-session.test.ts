import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { lightCounter } from "../src/index.ts";
import { flawsOf, meanOf, playLongSession, windowTokens } from "./long-session.ts";

const counter = lightCounter();
const tokensOf = ({ messages, tools }: ModelRequest): number =>
  [...messages, ...(tools ?? []).map((tool) => JSON.stringify(tool))].reduce((sum, part) => sum + Number(counter.count("any", part)), 0);

const turns = Number(process.env["LOOPWRIGHT_CONTEXT_TURNS"] ?? 150);

describe(`a session of ${turns} turns with tools`, async () => {
  const { turns: costs, requests, compactions } = await playLongSession(turns);

  it("stays under its limit in every request, and every request is valid", () => {
    expect(requests).toHaveLength(2 * turns);
    for (const request of requests) {
      // Each part is rounded up by itself.
      expect(tokensOf(request)).toBeLessThanOrEqual(windowTokens + request.messages.length);
      expect(flawsOf(request)).toEqual([]);
    }
    expect(compactions).toBeGreaterThan(turns / 50);
  });

  it.each(["looks", "tokens"] as const)("costs the same %s per turn at its end as from turn 20 on", (which) => {
    const width = Math.min(200, Math.floor(turns / 3));
    expect(meanOf(costs, which, turns - width, width) / meanOf(costs, which, 20, width)).toBeLessThan(1.2);
  });
});

describe("the beginning of the requests", () => {
  it("is the same from one request to the next, so that a vendor's cache holds most of what is read", async () => {
    const { requests } = await playLongSession(60);
    let [read, cached] = [0, 0];
    requests.forEach((request, at) => {
      const before = requests[at - 1]?.messages ?? [];
      let same = 0;
      while (same < before.length && before[same] === request.messages[same]) same++;
      read += tokensOf(request);
      cached += tokensOf({ ...request, messages: request.messages.slice(0, same) });
    });
    expect(cached / read).toBeGreaterThan(0.8);
  });
});
