import type { LedgerLimit } from "@loopwright/core/memory";
import type { LedgerOutcome, LedgerRequest } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { windowCases } from "./window-cases.ts";

/** The limits that a ledger under test has; other accounts have none. */
export const ledgerKitLimits: { readonly [account: string]: LedgerLimit | readonly LedgerLimit[] } = {
  tokens: { tokens: 100 },
  money: { costUsd: 1 },
  both: { tokens: 1_000, costUsd: 1 },
  windows: [
    { tokens: 100, per: "day" },
    { tokens: 150, per: "month" },
  ],
  tokyo: { tokens: 100, per: "day", timeZone: "Asia/Tokyo" },
};

type Wish = Partial<Omit<LedgerRequest, "ask">> & { readonly tokens?: number; readonly costUsd?: number };

const minute = 60_000;

/** Requests under ids of their own, each good for a minute. */
function asking({ ledger, now }: LedgerUnderTest): (wish: Wish) => Promise<LedgerOutcome> {
  let count = 0;
  return async ({ tokens = 10, costUsd, id = `id${++count}`, accounts = ["tokens"], expiresAt = now() + minute }) =>
    ledger.reserve({ id, accounts, ask: { tokens, ...(costUsd === undefined ? {} : { costUsd }) }, expiresAt });
}

const reported = (tokens: number, costUsd?: number) =>
  ({ tokens, ...(costUsd === undefined ? {} : { costUsd }), source: "reported" }) as const;

let probes = 0;

/** How many tokens the account has left, found by asking for them one after the other. */
async function leftOf(under: LedgerUnderTest, account = "tokens"): Promise<number> {
  const has = async (tokens: number): Promise<boolean> => {
    const id = `probe${++probes}`;
    const { type } = await asking(under)({ id, accounts: [account], tokens });
    await under.ledger.release(id);
    return type === "reserved";
  };
  let [least, most] = [0, 2_000];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (await has(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}

/** The promises of `UsageLedger`. */
export const usageLedgerKit: StoreKit<LedgerUnderTest> = [
  {
    id: "up-to-limit",
    promise: "what fits is reserved, up to the limit itself; what would exceed it is refused with account, unit, limit, and what is left",
    async run(make) {
      const ask = asking(await make());
      expectSame(await ask({ tokens: 60 }), { type: "reserved" }, "the first");
      expectSame(await ask({ tokens: 41 }), { type: "refused", account: "tokens", which: "tokens", limit: 100, left: 40 }, "one too many");
      expectSame(await ask({ tokens: 40 }), { type: "reserved" }, "the rest");
      expectSame((await ask({ tokens: 1 })).type, "refused", "one more");
    },
  },
  {
    id: "money",
    promise: "money has limits of its own, and sums of cents do not drift; an amount without a price counts as none",
    async run(make) {
      const ask = asking(await make());
      for (let count = 0; count < 10; count++)
        expectSame((await ask({ accounts: ["money"], tokens: 5_000, costUsd: 0.1 })).type, "reserved", `dime ${count + 1}`);
      const refused = { type: "refused", account: "money", which: "costUsd", limit: 1, left: 0 };
      expectSame(await ask({ accounts: ["money"], costUsd: 0.01 }), refused, "a cent more");
      expectSame((await ask({ accounts: ["money"] })).type, "reserved", "without a price");
    },
  },
  {
    id: "unlimited",
    promise: "an account without a limit is never refused",
    async run(make) {
      const ask = asking(await make());
      expectSame((await ask({ accounts: ["free"], tokens: 1e9, costUsd: 1e6 })).type, "reserved", "a large amount");
      expectSame((await ask({ accounts: ["money"], tokens: 1e9, costUsd: 0 })).type, "reserved", "tokens where money is limited");
    },
  },
  {
    id: "all-or-nothing",
    promise: "a request for several accounts counts for each of them, and for none where one is refused",
    async run(make) {
      const under = await make();
      const ask = asking(under);
      expectSame((await ask({ accounts: ["both", "tokens"], tokens: 70 })).type, "reserved", "both");
      expectSame([await leftOf(under, "both"), await leftOf(under)], [930, 30], "what is left");
      const refused = await ask({ accounts: ["both", "tokens"], tokens: 40 });
      expectSame(refused, { type: "refused", account: "tokens", which: "tokens", limit: 100, left: 30 }, "the second");
      expectSame([await leftOf(under, "both"), await leftOf(under)], [930, 30], "what is left after the refusal");
    },
  },
  {
    id: "settle",
    promise: "what was spent takes the place of what was reserved, less or more",
    async run(make) {
      const under = await make();
      const ask = asking(under);
      await ask({ id: "less", tokens: 50 });
      await under.ledger.settle("less", reported(20));
      expectSame(await leftOf(under), 80, "left after less");
      await ask({ id: "more", tokens: 50 });
      await under.ledger.settle("more", { tokens: 90, source: "estimated" });
      expectSame(await leftOf(under), 0, "left after more");
      await ask({ id: "paid", accounts: ["both"], costUsd: 0.9 });
      await under.ledger.settle("paid", reported(10, 0.2));
      expectSame((await ask({ accounts: ["both"], costUsd: 0.8 })).type, "reserved", "the money that was not spent");
    },
  },
  {
    id: "release",
    promise: "what is released counts no longer, and its id may be reserved again",
    async run(make) {
      const under = await make();
      const ask = asking(under);
      await ask({ id: "one", tokens: 100 });
      await under.ledger.release("one");
      expectSame(await leftOf(under), 100, "what is left");
      expectSame((await ask({ id: "one", tokens: 80 })).type, "reserved", "once more");
      expectSame(await leftOf(under), 20, "what is left then");
    },
  },
  {
    id: "reserve-twice",
    promise: "a known id is reserved already and counts once, also when its account is full or it is settled",
    async run(make) {
      const under = await make();
      const ask = asking(under);
      for (const time of ["first", "second"]) expectSame((await ask({ id: "one", tokens: 100 })).type, "reserved", `the ${time} time`);
      await under.ledger.settle("one", reported(40));
      expectSame((await ask({ id: "one", tokens: 100 })).type, "reserved", "after it was settled");
      expectSame(await leftOf(under), 60, "what is left");
    },
  },
  {
    id: "settle-twice",
    promise: "only the first settlement of an id counts",
    async run(make) {
      const under = await make();
      await asking(under)({ id: "one", tokens: 50 });
      await under.ledger.settle("one", reported(20));
      await under.ledger.settle("one", reported(20));
      await under.ledger.settle("one", reported(70));
      expectSame(await leftOf(under), 80, "what is left");
    },
  },
  {
    id: "release-settled",
    promise: "releasing twice is releasing once, and releasing what is settled changes nothing",
    async run(make) {
      const under = await make();
      const ask = asking(under);
      await ask({ id: "one", tokens: 30 });
      await ask({ id: "two", tokens: 30 });
      await under.ledger.settle("one", reported(30));
      await under.ledger.release("one");
      await under.ledger.release("two");
      await under.ledger.release("two");
      expectSame(await leftOf(under), 70, "what is left");
    },
  },
  {
    id: "unknown",
    promise: "settling or releasing an id that is unknown, refused or released does nothing",
    async run(make) {
      const under = await make();
      const ask = asking(under);
      await ask({ id: "refused", tokens: 101 });
      await ask({ id: "released", tokens: 10 });
      await under.ledger.release("released");
      for (const id of ["unknown", "refused", "released"]) {
        await under.ledger.settle(id, reported(50));
        await under.ledger.release(id);
      }
      expectSame(await leftOf(under), 100, "what is left");
    },
  },
  {
    id: "asked-again",
    promise: "a refused id may be reserved when there is room",
    async run(make) {
      const under = await make();
      const ask = asking(under);
      await ask({ id: "large", tokens: 80 });
      expectSame((await ask({ id: "late", tokens: 50 })).type, "refused", "while it is full");
      await under.ledger.settle("large", reported(10));
      expectSame((await ask({ id: "late", tokens: 50 })).type, "reserved", "when there is room");
      expectSame(await leftOf(under), 40, "what is left");
    },
  },
  {
    id: "at-once",
    promise: "of many requests at once only as many are reserved as fit",
    async run(make) {
      const under = await make();
      const ask = asking(under);
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => ask({ accounts: ["both", "tokens"] })));
      expectSame(outcomes.filter(({ type }) => type === "reserved").length, 10, "reserved");
      expectSame([await leftOf(under, "both"), await leftOf(under)], [900, 0], "what is left");
    },
  },
  {
    id: "unsettled",
    promise: "a reservation that is never settled stays spent, also after it has expired",
    async run(make) {
      const under = await make();
      const ask = asking(under);
      await ask({ id: "lost", tokens: 70 });
      await under.pass(minute / 2);
      expectSame(await leftOf(under), 30, "left while it is open");
      await under.pass(minute);
      expectSame(await leftOf(under), 30, "left after it has expired");
      expectThat((await ask({ tokens: 31 })).type === "refused", "more than what is left was reserved");
    },
  },
  ...windowCases,
];
