import { createAgent } from "@loopwright/core";
import { manualClock, memoryLedger, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { ledgerKitLimits, runKit, usageLedgerKit } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { quotaLimits, quotasRoute } from "../src/index.ts";
import { telemetryFile } from "../src/sqlite/index.ts";
import { anne, telemetryServer } from "./telemetry-server.ts";

describe("the ledger of a telemetry file", () => {
  runKit(it, usageLedgerKit, {
    make: async () => {
      const clock = manualClock();
      const ledger = telemetryFile({ path: ":memory:", clock }).ledger({ limits: ledgerKitLimits });
      return { ledger, now: () => clock.now(), pass: async (ms: number) => clock.advance(ms) };
    },
  });
});

describe("limits from configuration", () => {
  it("hold for the account that they name, else for the first pattern that fits", () => {
    const limits = quotaLimits({
      "user/team/anne": { tokens: 5 },
      "user/*/*": [{ tokens: 10, per: "day", timeZone: "Europe/Berlin" }],
      "scope/team": { costUsd: 1 },
    });
    const of = (account: string) => (typeof limits === "function" ? limits(account) : undefined);
    expect(of("user/team/anne")).toEqual([{ tokens: 5 }]);
    expect(of("user/team/ben")).toEqual([{ tokens: 10, per: "day", timeZone: "Europe/Berlin" }]);
    expect(of("user/other/a/b")).toEqual([{ tokens: 10, per: "day", timeZone: "Europe/Berlin" }]);
    expect(of("scope/team")).toEqual([{ costUsd: 1 }]);
    expect(of("user/team/x*")).toEqual([{ tokens: 10, per: "day", timeZone: "Europe/Berlin" }]);
    for (const account of ["scope/other", "session/team/s1"]) expect(of(account)).toBeUndefined();
  });

  it.each([
    ["no object", []],
    ["an account that is none", { anne: { tokens: 1 } }],
    ["a limit without an amount", { "scope/a": { per: "day" } }],
    ["an amount that is none", { "scope/a": { tokens: -1 } }],
    ["a field that no limit has", { "scope/a": { token: 1 } }],
    ["a window that is none", { "scope/a": { tokens: 1, per: "week" } }],
    ["a zone that is none", { "scope/a": { tokens: 1, per: "day", timeZone: "Mars" } }],
    ["an empty list", { "scope/a": [] }],
  ])("are refused for %s, with what to write", (_, config) => {
    expect(() => quotaLimits(config)).toThrowError(
      expect.objectContaining({ code: "CONFIG_INVALID", fix: expect.stringContaining("scope/team") }),
    );
  });
});

it("a quota refuses over HTTP with the time to wait, and `/api/quotas` shows what is left, to its user alone", async () => {
  const clock = manualClock(Date.parse("2026-11-24T18:00:00Z"));
  const limits = quotaLimits({ "user/*/*": { tokens: 400, per: "day" } });
  const ledger = memoryLedger({ limits, clock });
  const provider = scripted(() => ({ text: "Hello.", usage: { input: 100, output: 150 } }));
  const agent = createAgent({ name: "helper", provider, maxTokens: 300, limits: { onLimit: "error" } });
  const runtime = createRuntime({ agents: [agent], ledger, clock });
  expect(await runtime.ask("helper", "Hi", { access: anne() }).result()).toMatchObject({ status: "completed" });
  const refused = await runtime.ask("helper", "Hi", { access: anne() }).result();
  expect(refused.error).toMatchObject({ code: "LIMIT_REACHED", retryAfterMs: 6 * 3_600_000 });
  const routes = [quotasRoute({ ledger, limits, clock })];
  const { body } = await telemetryServer({ routes, principal: anne }).ask("/api/quotas");
  const resetsAt = Date.parse("2026-11-25T00:00:00Z");
  expect(body).toEqual({
    quotas: [{ account: "user/team/anne", per: "day", timeZone: "UTC", tokens: { limit: 400, spent: 250, left: 150 }, resetsAt }],
  });
  const ben = () => ({ ...anne(), user: "ben" });
  expect((await telemetryServer({ routes, principal: ben }).ask("/api/quotas")).body).toMatchObject({
    quotas: [{ account: "user/team/ben", tokens: { spent: 0 } }],
  });
});
