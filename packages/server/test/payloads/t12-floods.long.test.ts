import { defineTool, isAgentError } from "@loopwright/core";
import { manualClock, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { createRateLimiter } from "../../src/meters/rate-limiter.ts";
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
    // To its end, so that a run rests before the next begins.
    await response.text();
  }
  return statuses;
}

interface ApprovalPage {
  readonly approvals: readonly unknown[];
  readonly next?: string;
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

  it("of calls that wait for an approval is counted as any other writing: of ten thousand the first ones wait in the inbox", async () => {
    const pay = defineTool({
      ...{ name: "pay", description: "Pays.", parameters: { type: "object" }, approval: true },
      execute: () => "paid",
    });
    const asks = { calls: [{ name: "pay", args: {}, id: "c1" }] };
    const waits = scriptedAgent([], { provider: scripted(Array.from({ length: 10_000 }, () => asks)), tools: [pay] });
    const scene = testServer({ clock: manualClock(minuteMs * 1_000), authenticate, agents: [waits] });
    const asking = Array.from({ length: 10_000 }, () => ["garden.anne", "/api/agent/execute", { context: {}, input: "Pay" }] as const);
    expect(await counted(asking, scene)).toEqual({ 200: writesPerMinute, 429: 10_000 - writesPerMinute });
    let waiting = 0;
    for (let before: string | undefined = ""; before !== undefined; ) {
      const path: string = `/api/approvals${before === "" ? "" : `?before=${before}`}`;
      const { body }: { body: ApprovalPage } = await scene.ask<ApprovalPage>(path, { headers: as("garden.ben") });
      expect(body.approvals.length).toBeLessThanOrEqual(50);
      waiting += body.approvals.length;
      before = body.next;
    }
    expect(waiting).toBe(writesPerMinute);
  });

  it("of a million messages to one session is refused but for what one caller may write, by the count alone: the store has nothing of the rest", async () => {
    const rates = createRateLimiter(defaultServerLimits, manualClock(minuteMs * 1_000));
    let taken = 0;
    for (let message = 0; message < 1_000_000; message++) {
      const isTaken = await rates.take({ scope: "garden", user: "anne" }, true).then(
        () => true,
        (error: unknown) => !isAgentError(error, "RATE_LIMITED"),
      );
      if (isTaken) taken++;
    }
    expect(taken).toBe(writesPerMinute);
    rates.close();
  });

  it("of client tools that wait is counted as well", async () => {
    const waits = scriptedAgent([{ calls: [{ name: "pick_colour", args: {}, id: "c1" }] }], { tools: [pickColour] });
    const scene = testServer({ clock: manualClock(minuteMs * 1_000), authenticate, agents: [waits] });
    const messages = Array.from({ length: 10_000 }, () => ["garden.anne", "/api/agent/execute", { context: {}, input: "Hi" }] as const);
    expect(await counted(messages, scene)).toEqual({ 200: writesPerMinute, 429: 10_000 - writesPerMinute });
    const { body } = await scene.ask<{ readonly sessions: readonly unknown[] }>("/api/sessions?limit=200", { headers: as("garden.ben") });
    expect(body.sessions.length).toBeLessThanOrEqual(writesPerMinute);
  });
});
