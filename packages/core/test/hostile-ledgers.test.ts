import { describe, expect, it } from "vitest";
import { AgentError, execute, type RunLimits } from "../src/index.ts";
import { fixedPrices, memoryLedger } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { LedgerOutcome, PriceTable, UsageLedger } from "../src/ports/index.ts";
import { calm, world } from "./harness.ts";

const answer = { text: "ok", usage: { input: 20, output: 5 } } as const;
const request = (id: string, tokens: number, now = 0) => ({ id, accounts: ["a"], ask: { tokens }, expiresAt: now + 1e9 });

/** A ledger with other answers. */
function ledgerOf(more: Partial<UsageLedger>): UsageLedger {
  return { reserve: () => ({ type: "reserved" }), settle: () => {}, release: () => {}, ...more };
}

describe("a usage ledger that misbehaves", () => {
  const outcomes: readonly (readonly [string, unknown])[] = [
    ["nothing", undefined],
    ["a word of its own", { type: "maybe" }],
    ["a refusal without what is left", { type: "refused", account: "a", which: "tokens", limit: 10 }],
    ["a refusal that leaves NaN", { type: "refused", account: "a", which: "tokens", limit: 10, left: Number.NaN }],
    ["a refusal that leaves less than nothing", { type: "refused", account: "a", which: "tokens", limit: 10, left: -1 }],
  ];

  it.each(outcomes)("and answers with %s ends the run with HOOK_FAILED, before a request", async (_, outcome) => {
    const ledger = ledgerOf({ reserve: () => outcome as LedgerOutcome });
    const { session, provider } = world([answer], { session: { ledger } });
    expect((await execute(session, "go").result()).error?.code).toBe("HOOK_FAILED");
    expect(provider.requests).toHaveLength(0);
  });

  it("and settles everything twice, in any order, counts each attempt once", async () => {
    const sums = memoryLedger({ limits: { "scope/local": { tokens: 10_000 } }, clock: manualClock() });
    const twice = ledgerOf({
      reserve(asked) {
        sums.reserve(asked);
        return sums.reserve(asked);
      },
      settle(id, spent) {
        sums.settle(id, spent);
        sums.release(id);
        sums.settle(id, { ...spent, tokens: 9_999 });
      },
    });
    const { session } = world([answer], { session: { ledger: twice } });
    await execute(session, "go").result();
    await calm();
    expect(sums.spent("scope/local").tokens).toBe(25);
  });

  it("and never settles holds up nothing: the answer is there, and what was reserved stays spent", async () => {
    const sums = memoryLedger({ limits: { "scope/local": { tokens: 10_000 } }, clock: manualClock() });
    const stuck = ledgerOf({ reserve: (asked) => sums.reserve(asked), settle: () => new Promise(() => {}) });
    const { session } = world([answer], { maxTokens: 100, session: { ledger: stuck } });
    expect((await execute(session, "go").result()).text).toBe("ok");
    expect(sums.spent("scope/local").tokens).toBeGreaterThanOrEqual(100);
  });

  it.each([{ tokens: Number.NaN }, { tokens: -1 }, { costUsd: Number.NaN }, { tokens: "many" as never }])(
    "is refused with a limit of %j, which would never be reached",
    (limit) => {
      expect(() => memoryLedger({ limits: { a: limit } })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
      const ledger = memoryLedger({ limits: () => limit });
      expect(() => ledger.reserve(request("1", 5))).toThrow(AgentError);
    },
  );

  it("with a limit of 0 gives nothing to anyone", () => {
    const ledger = memoryLedger({ limits: { a: { tokens: 0 } } });
    expect(ledger.reserve(request("1", 1))).toMatchObject({ type: "refused", left: 0 });
  });

  it("keeps its sums when its clock goes back within a window", () => {
    const clock = manualClock(Date.parse("2026-11-23T12:00:00Z"));
    const ledger = memoryLedger({ limits: { a: { tokens: 10, per: "day" } }, clock });
    ledger.reserve(request("1", 8, clock.now()));
    const back = manualClock(Date.parse("2026-11-23T09:00:00Z"));
    clock.now = () => back.now();
    expect(ledger.reserve(request("2", 8, clock.now()))).toMatchObject({ type: "refused", left: 2 });
  });
});

describe("limits of a run that are no limits", () => {
  it.each([
    { tokensMax: Number.NaN },
    { tokensMax: -1 },
    { costUsdMax: Number.NaN },
    { costUsdMax: -0.1 },
    { durationMs: Number.NaN },
    { durationMs: -1 },
    { toolCallsMax: Number.NaN },
    { turnsMax: 0 },
  ] as readonly Partial<RunLimits>[])("%j is refused", (limits) => {
    expect(() => world([], { limits })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});

describe("a run under a limit of money", () => {
  const tables: readonly (readonly [string, PriceTable])[] = [
    ["knows no price", { costOf: () => undefined } as unknown as PriceTable],
    ["gives NaN", { costOf: () => ({ totalUsd: Number.NaN }) } as unknown as PriceTable],
    ["gives a negative price", { costOf: () => ({ totalUsd: -3 }) } as unknown as PriceTable],
    [
      "throws",
      {
        costOf: () => {
          throw new Error("no prices");
        },
      } as unknown as PriceTable,
    ],
  ];

  it.each(tables)("whose price table %s is answered, and no cost is made up", async (_, prices) => {
    const { session } = world([answer], { prices, limits: { costUsdMax: 1 } });
    const { status, cost } = await execute(session, "go").result();
    expect(status).toBe("completed");
    expect(cost?.totalUsd ?? 0).toBe(0);
  });

  it("ends in time where the clock goes back: it has no more time than its limit from there", async () => {
    const { session, clock, provider } = world([{ text: "Half", hang: true }], { limits: { durationMs: 5_000 }, prices: fixedPrices({}) });
    const result = execute(session, "go").result();
    await calm();
    const now = clock.now.bind(clock);
    clock.now = () => now() - 3_600_000;
    clock.advance(5_000);
    expect(await result).toMatchObject({ status: "completed", text: "Half" });
    expect(provider.requests).toHaveLength(1);
  });
});
