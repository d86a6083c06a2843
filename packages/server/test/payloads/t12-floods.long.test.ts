import { manualClock } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { defaultServerLimits } from "../../src/server-limits.ts";
import { pickColour, scriptedAgent, type TestServer, testServer } from "../test-server.ts";

const minuteMs = 60_000;
/** Callers name themselves: `scope.user`. */
const authenticate = (request: Request) => {
  const [scope = "", user = ""] = (request.headers.get("X-User") ?? "").split(".");
  return { scope, user };
};
const as = (who: string): Record<string, string> => ({ "X-User": who });

/** How often each status came. */
async function counted(responses: readonly (readonly [who: string, path: string, json: unknown])[], { send }: TestServer) {
  const statuses: Record<number, number> = {};
  for (const [who, path, json] of responses) {
    const response = await send(path, { json, headers: as(who) });
    if (response.status === 429) expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(0);
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    await response.body?.cancel();
  }
  return statuses;
}

const { requestsPerMinute, writesPerMinute, writesPerScope } = defaultServerLimits;

describe("T12: a flood", () => {
  it("of ten thousand sessions by one caller makes as many as one caller may write in a minute, and every other caller is served", async () => {
    const scene = testServer({ clock: manualClock(minuteMs * 1_000), authenticate });
    const sessions = Array.from({ length: 10_000 }, () => ["garden.anne", "/api/sessions", {}] as const);
    expect(await counted(sessions, scene)).toEqual({ 201: writesPerMinute, 429: 10_000 - writesPerMinute });
    expect(await counted([["garden.ben", "/api/sessions", {}]], scene)).toEqual({ 201: 1 });
    expect(await counted([["kitchen.anne", "/api/sessions", {}]], scene)).toEqual({ 201: 1 });
    // It has asked more than it may at all, so that it may not even read.
    expect((await scene.refused("/api/sessions", { headers: as("garden.anne") })).code).toBe("RATE_LIMITED");
    expect(requestsPerMinute).toBeLessThan(10_000);
  });

  it("by many callers of one scope makes as many as one scope may write in a minute, and other scopes are served", async () => {
    const clock = manualClock(minuteMs * 1_000);
    const scene = testServer({ clock, authenticate });
    const callers = Array.from({ length: 2_000 }, (_, at) => [`garden.user${at}`, "/api/sessions", {}] as const);
    expect(await counted(callers, scene)).toEqual({ 201: writesPerScope, 429: 2_000 - writesPerScope });
    const refusal = await scene.refused("/api/sessions", { json: {}, headers: as("garden.one-more") });
    expect(refusal).toMatchObject({ status: 429, code: "RATE_LIMITED", detail: expect.stringContaining("of the scope") });
    expect(await counted([["kitchen.user0", "/api/sessions", {}]], scene)).toEqual({ 201: 1 });
    clock.advance(minuteMs);
    expect(await counted([["garden.one-more", "/api/sessions", {}]], scene)).toEqual({ 201: 1 });
  });

  it("never has a scope refused what one caller of it may have, however its own limit is set", async () => {
    const limits = { writesPerMinute: 5, writesPerScope: 1 };
    const scene = testServer({ clock: manualClock(minuteMs * 1_000), authenticate, limits });
    const sessions = Array.from({ length: 7 }, () => ["garden.anne", "/api/sessions", {}] as const);
    expect(await counted(sessions, scene)).toEqual({ 201: 5, 429: 2 });
  });

  it("of approvals and messages is counted as any other writing: ten thousand that wait are refused but for the first ones", async () => {
    const waits = scriptedAgent([{ calls: [{ name: "pick_colour", args: {}, id: "c1" }] }], { tools: [pickColour] });
    const scene = testServer({ clock: manualClock(minuteMs * 1_000), authenticate, agents: [waits] });
    const messages = Array.from({ length: 10_000 }, () => ["garden.anne", "/api/agent/execute", { context: {}, input: "Hi" }] as const);
    expect(await counted(messages, scene)).toEqual({ 200: writesPerMinute, 429: 10_000 - writesPerMinute });
    const { body } = await scene.ask<{ readonly sessions: readonly unknown[] }>("/api/sessions?limit=200", { headers: as("garden.ben") });
    expect(body.sessions.length).toBeLessThanOrEqual(writesPerMinute);
  });
});
