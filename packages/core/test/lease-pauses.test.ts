import { describe, expect, it } from "vitest";
import { claimLease, type Lease } from "../src/driver/ownership/held-lease.ts";
import { memoryStore } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import type { SessionLog } from "../src/ports/index.ts";
import { stoppable } from "./stoppable-clock.ts";

const leaseMs = 20_000;
const ref = { scope: "local", session: "s" };

/** A lease whose renewals reach the store at once; their answers wait until they are let through. */
async function held() {
  const time = manualClock();
  const clock = stoppable(time);
  const { log: real } = memoryStore({ clock });
  const answers: (() => void)[] = [];
  const log: SessionLog = {
    ...real,
    async renew(one, lease) {
      const isRenewed = await real.renew(one, lease);
      await new Promise<void>((resolve) => answers.push(resolve));
      return isRenewed;
    },
  };
  let lost = 0;
  const claimed = await claimLease({ log, ref, clock, node: "one", leaseMs, onLost: () => void lost++ });
  if (claimed.type === "held") throw new Error("Another holds the lease.");
  const { lease } = claimed;
  const calm = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return {
    clock,
    time,
    real,
    lease,
    answers,
    calm,
    losses: () => lost,
    /** Time passes, with a turn of the event loop twice a second. */
    async live(ms: number) {
      for (let left = ms; left > 0; left -= 500) {
        time.advance(Math.min(left, 500));
        await calm();
      }
    },
    async answer(index: number) {
      answers[index]?.();
      await calm();
    },
  };
}

/** What became of waiting for the store's word. */
function waiting(lease: Lease): { readonly isOver: boolean; readonly over: Promise<void> } {
  let isOver = false;
  const over = lease.confirm().then(() => {
    isOver = true;
  });
  return {
    over,
    get isOver() {
      return isOver;
    },
  };
}

describe("a lease whose process stood still", () => {
  it("is sure only after an answer to a renewal that was sent since", async () => {
    const { clock, time, lease, answers, calm, live, answer } = await held();
    await live(3_000);
    expect(answers).toHaveLength(1);
    clock.stop();
    time.advance(5_000);
    clock.wake();
    await calm();
    expect(answers).toHaveLength(2);
    const word = waiting(lease);
    await answer(0);
    expect([lease.isConfirmed, word.isOver]).toEqual([false, false]);
    await answer(1);
    expect([lease.isConfirmed, word.isOver]).toEqual([true, true]);
    lease.drop();
  });

  it("is lost, which is noticed before anything continues, when the answer comes after its time", async () => {
    const { clock, time, real, lease, answers, losses, live, answer, calm } = await held();
    await live(1_000);
    clock.stop();
    time.advance(5_000);
    clock.wake();
    await calm();
    const word = waiting(lease);
    expect(answers).toHaveLength(1);
    // It stands still once more, for so long that another takes over; the answer is read before any of its timers has its turn.
    clock.stop();
    time.advance(60_000);
    expect(await real.claim(ref, { node: "two", leaseMs })).toMatchObject({ type: "claimed" });
    let lossesWhenPublished: number | undefined;
    void word.over.then(() => {
      lossesWhenPublished = losses();
    });
    await answer(0);
    expect(lossesWhenPublished).toBe(1);
  });
});
