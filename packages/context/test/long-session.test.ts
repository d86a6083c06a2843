import { isDeepStrictEqual } from "node:util";
import { type Message, textOf } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { lightCounter } from "../src/index.ts";
import { addingHooks, examples, flawsOf, meanOf, playLongSession, windowTokens } from "./long-session.ts";

const counter = lightCounter();
const tokensOf = ({ messages, tools }: ModelRequest): number =>
  [...messages, ...(tools ?? []).map((tool) => JSON.stringify(tool))].reduce((sum, part) => sum + Number(counter.count("any", part)), 0);

const turns = Number(process.env["LOOPWRIGHT_CONTEXT_TURNS"] ?? 150);

const kinds = [
  { kind: "tools", hooks: [] },
  { kind: "tools, examples, passages and reminders of a hook", hooks: [addingHooks] },
] as const;

describe.each(kinds)(`a session of ${turns} turns with $kind`, async ({ hooks }) => {
  const { turns: costs, requests, compactions } = await playLongSession(turns, hooks);

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

  it("has what the hooks add in every request, in its place", () => {
    requests.forEach(({ messages }, at) => {
      const first = hooks.length > 0 ? examples.length : 0;
      expect(messages.slice(0, first)).toEqual(examples.slice(0, first));
      const input = messages.findLast(({ role }) => role === "user");
      expect(textOf(input as Message).startsWith("Passage. ")).toBe(hooks.length > 0);
      expect(JSON.stringify(messages).split("Draw the results").length - 1).toBe(hooks.length > 0 ? at % 2 : 0);
      expect(messages.at(-1)?.role).toBe(at % 2 === 0 ? "user" : hooks.length > 0 ? "notice" : "tool_result");
    });
  });
});

describe("the beginning of the requests", () => {
  it.each(kinds)(
    "is the same from one request to the next with $kind, so that a vendor's cache holds most of what is read",
    async ({ hooks }) => {
      const { requests } = await playLongSession(60, hooks);
      let [read, cached] = [0, 0];
      requests.forEach((request, at) => {
        const before = requests[at - 1]?.messages ?? [];
        let same = 0;
        while (same < before.length && isDeepStrictEqual(before[same], request.messages[same])) same++;
        read += tokensOf(request);
        cached += tokensOf({ ...request, messages: request.messages.slice(0, same) });
      });
      expect(cached / read).toBeGreaterThan(0.8);
    },
  );
});
