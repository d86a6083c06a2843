import { expectSame } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const dayMs = 86_400_000;
const nineHoursMs = 9 * 3_600_000;

/** Reserves tokens of an account with windows. */
function asking({ ledger, now }: LedgerUnderTest, account: string) {
  let count = 0;
  return async (tokens: number, id = `${account}${++count}`) =>
    ledger.reserve({ id, accounts: [account], ask: { tokens }, expiresAt: now() + 10 * dayMs });
}

/** Passes time until this long before a day ends, by a clock that is ahead of UTC; the day after it belongs to the same month. */
async function beforeMidnight({ now, pass }: LedgerUnderTest, leadMs: number, aheadMs = 0): Promise<void> {
  const left = (): number => dayMs - ((now() + aheadMs) % dayMs);
  if (left() <= leadMs) await pass(leadMs);
  await pass(left() - leadMs);
  while (new Date(now()).getUTCMonth() !== new Date(now() + dayMs).getUTCMonth()) await pass(dayMs);
}

/** The refusal of a full window, with its end. */
function full({ now }: LedgerUnderTest, limit: number, per: "day" | "month") {
  const today = new Date(now());
  const [year, month, day] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()];
  const resetsAt = per === "day" ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
  return { type: "refused", account: "windows", which: "tokens", limit, per, resetsAt, left: 0 };
}

/** The promises of `UsageLedger` about windows of time. */
export const windowCases: StoreKit<LedgerUnderTest> = [
  {
    id: "windows",
    promise:
      "a limit per day begins again at midnight, one per month with the month; each bounds its own sum, and a refusal names the end of its window",
    async run(make) {
      const under = await make();
      const ask = asking(under, "windows");
      await beforeMidnight(under, 60_000);
      expectSame((await ask(100)).type, "reserved", "a full day");
      expectSame(await ask(1), full(under, 100, "day"), "one more on that day");
      await under.pass(60_000);
      expectSame((await ask(50)).type, "reserved", "the next day");
      expectSame(await ask(1), full(under, 150, "month"), "one more in that month");
      await under.pass(32 * dayMs);
      expectSame((await ask(100)).type, "reserved", "the next month");
    },
  },
  {
    id: "window-settled",
    promise: "what was spent counts for the day of its reservation, also when it is settled or released on the next",
    async run(make) {
      const under = await make();
      const { ledger, pass } = under;
      const ask = asking(under, "windows");
      await beforeMidnight(under, 60_000);
      await ask(30, "settled");
      await ask(20, "released");
      await pass(60_000);
      await ledger.settle("settled", { tokens: 40, source: "reported" });
      await ledger.release("released");
      expectSame((await ask(100)).type, "reserved", "all of the next day");
      expectSame(await ask(1), full(under, 100, "day"), "one more on the next day");
    },
  },
  {
    id: "window-zone",
    promise: "a day ends at midnight of its zone",
    async run(make) {
      const under = await make();
      const ask = asking(under, "tokyo");
      await beforeMidnight(under, 60_000, nineHoursMs);
      expectSame((await ask(100)).type, "reserved", "a full day");
      await under.pass(59_000);
      expectSame((await ask(1)).type, "refused", "one more on that day");
      await under.pass(1_000);
      expectSame((await ask(100)).type, "reserved", "after midnight in Tokyo, in the afternoon of UTC");
      await under.pass(nineHoursMs);
      expectSame((await ask(1)).type, "refused", "after midnight of UTC");
    },
  },
];
