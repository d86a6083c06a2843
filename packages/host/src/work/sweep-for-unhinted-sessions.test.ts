import { manualClock, memoryStore, seededIds, silentLogger } from "@loopwright/core/memory";
import type { DueSession, SessionLog } from "@loopwright/core/ports";
import { expect, it } from "vitest";
import { createSweeper } from "./sweep-for-unhinted-sessions.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A sweeper over a log that names these sessions, and how often it has looked. */
function sweeping(limits: { readonly everyMs: number; readonly idleMs: number }) {
  const clock = manualClock();
  const found: DueSession[] = [];
  let looks = 0;
  const due: SessionLog["due"] = async () => {
    looks++;
    return found.splice(0);
  };
  createSweeper({
    ...{ log: { ...memoryStore().log, due }, clock, ids: seededIds(1), logger: silentLogger },
    ...limits,
    sessionsPerSweep: 100,
    keepsAlive: false,
    found: () => {},
    isLeftAlone: () => false,
  });
  return {
    found,
    async looksWithin(ms: number): Promise<number> {
      const before = looks;
      for (let passed = 0; passed < ms; passed += 50) {
        await turn();
        clock.advance(50);
      }
      return looks - before;
    },
  };
}

it("sweeps less and less often while there is nothing to do, and often again once something was found", async () => {
  const { found, looksWithin } = sweeping({ everyMs: 250, idleMs: 3_000 });
  await looksWithin(10_000);
  expect(await looksWithin(30_000)).toBeLessThanOrEqual(13);
  found.push({ ref: { scope: "local", session: "first" }, due: 0 });
  await looksWithin(3_000);
  found.push({ ref: { scope: "local", session: "first" }, due: 0 });
  expect(await looksWithin(3_000)).toBeGreaterThanOrEqual(3);
});

it("sweeps at one pace if `idleMs` equals `everyMs`", async () => {
  const { looksWithin } = sweeping({ everyMs: 250, idleMs: 250 });
  expect(await looksWithin(30_000)).toBeGreaterThanOrEqual(115);
});
