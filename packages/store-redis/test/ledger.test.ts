import { manualClock } from "@loopwright/core/memory";
import { ledgerKitLimits, runKit, usageLedgerKit } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { missing, redisFixture } from "./redis-fixture.ts";

const fixture = redisFixture();

const request = (id: string, tokens: number, expiresAt = Date.now() + 60_000) => ({ id, accounts: ["tokens"], ask: { tokens }, expiresAt });

describe.skipIf(missing)("the usage ledger", () => {
  // Redis compares `expiresAt` with its own time; what is forgotten then has its own test. Windows follow the clock of the process.
  runKit(it, usageLedgerKit, {
    make: async () => {
      const clock = manualClock(Date.now());
      const ledger = fixture.open().ledger({ limits: ledgerKitLimits, clock });
      return { ledger, now: () => clock.now(), pass: async (ms: number) => clock.advance(ms) };
    },
  });

  it("lets the sum of a window expire after its end, and opens none again for what is settled late", async () => {
    const prefix = fixture.prefix();
    const clock = manualClock(Date.now() - 3 * 86_400_000);
    const ledger = fixture.open({ prefix }).ledger({ limits: ledgerKitLimits, clock });
    await ledger.reserve({ id: "old", accounts: ["tokyo"], ask: { tokens: 10 }, expiresAt: Date.now() + 60_000 });
    expect(await fixture.redis.command("KEYS", `${prefix}:*tokyo*`)).toBe("*0");
    await ledger.settle("old", { tokens: 20, source: "reported" });
    expect(await fixture.redis.command("KEYS", `${prefix}:*tokyo*`)).toBe("*0");
  });

  it("is one for all processes on the store", async () => {
    const prefix = fixture.prefix();
    const limits = (account: string) => ledgerKitLimits[account];
    const [one, other] = [fixture.open({ prefix }).ledger({ limits }), fixture.open({ prefix }).ledger({ limits })];
    const asked = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? one : other).reserve(request(`r${i}`, 10))));
    expect(asked.filter(({ type }) => type === "reserved")).toHaveLength(10);
    await one.reserve(request("late", 10));
    const first = asked.findIndex(({ type }) => type === "reserved");
    await one.release(`r${first}`);
    expect(await other.reserve(request("late", 10))).toEqual({ type: "reserved" });
  });

  it("forgets the id of a reservation that has expired, and keeps what it counts for", async () => {
    const prefix = fixture.prefix();
    const ledger = fixture.open({ prefix }).ledger({ limits: ledgerKitLimits });
    expect(await ledger.reserve(request("gone", 70, Date.now() - 1))).toEqual({ type: "reserved" });
    expect(await fixture.redis.command("KEYS", `${prefix}:*reservation*`)).toBe("*0");
    await ledger.settle("gone", { tokens: 0, source: "reported" });
    expect((await ledger.reserve(request("more", 31))).type).toBe("refused");
    expect((await ledger.reserve(request("fits", 30))).type).toBe("reserved");
  });

  it("shows what an account has spent, to every process: what is reserved in full, what is settled as it was", async () => {
    const prefix = fixture.prefix();
    const limits = { tokens: { tokens: 100, costUsd: 1, per: "day" as const } };
    const [one, other] = [fixture.open({ prefix }).ledger({ limits }), fixture.open({ prefix }).ledger({ limits })];
    expect(await other.spent("tokens")).toEqual({ tokens: 0, costUsd: 0 });
    await one.reserve({ ...request("a", 60), ask: { tokens: 60, costUsd: 0.25 } });
    await one.reserve(request("b", 30));
    await one.settle("a", { tokens: 50, costUsd: 0.125, source: "reported" });
    expect(await other.spent("tokens", "day")).toEqual({ tokens: 80, costUsd: 0.125 });
    expect(await other.spent("unlimited")).toEqual({ tokens: 0, costUsd: 0 });
  });

  it("rejects where Redis does not answer", async () => {
    const ledger = fixture.open({ url: "redis://127.0.0.1:1", deadlineMs: 200 }).ledger({ limits: ledgerKitLimits });
    await expect(ledger.reserve(request("one", 1))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
