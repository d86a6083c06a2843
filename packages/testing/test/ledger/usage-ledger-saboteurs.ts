import { type LedgerLimit, type LedgerLimits, type MemoryLedger, manualClock, memoryLedger } from "@loopwright/core/memory";
import type { LedgerOutcome, LedgerRequest, UsageLedger } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { LedgerUnderTest } from "../../src/ledger/ledger-under-test.ts";
import { ledgerKitLimits } from "../../src/ledger/usage-ledger-kit.ts";

/** An honest ledger for the kit. */
export async function makeMemoryLedger(
  limits: LedgerLimits = ledgerKitLimits,
): Promise<LedgerUnderTest & { readonly ledger: MemoryLedger }> {
  const clock = manualClock();
  return {
    ledger: memoryLedger({ limits, clock }),
    now: () => clock.now(),
    pass: async (ms) => clock.advance(ms),
  };
}

type Spoil = (honest: MemoryLedger, under: LedgerUnderTest) => Partial<UsageLedger>;

const spoiled = (spoil: Spoil) => async (): Promise<LedgerUnderTest> => {
  const under = await makeMemoryLedger();
  const { ledger } = under;
  const honest: UsageLedger = {
    reserve: (request) => ledger.reserve(request),
    settle: (id, spent) => ledger.settle(id, spent),
    release: (id) => ledger.release(id),
  };
  return { ...under, ledger: { ...honest, ...spoil(ledger, under) } };
};

const changed = (change: (request: LedgerRequest) => LedgerRequest): (() => Promise<LedgerUnderTest>) =>
  spoiled((honest) => ({ reserve: (request) => honest.reserve(change(request)) }));

const priced = (change: (costUsd: number) => number): (() => Promise<LedgerUnderTest>) =>
  changed((request) => ({ ...request, ask: { ...request.ask, costUsd: change(request.ask.costUsd ?? 0) } }));

const limited =
  (change: (limit: LedgerLimit, at: number) => readonly LedgerLimit[]): (() => Promise<LedgerUnderTest>) =>
  () =>
    makeMemoryLedger((account) => [ledgerKitLimits[account] ?? []].flat().flatMap(change));

const farAway = Number.MAX_SAFE_INTEGER;

/** Waits between its look at the sums and its entry in them. */
const careless: Spoil = (_, { now }) => {
  const sums = memoryLedger({ limits: () => ({}), clock: { ...manualClock(), now } });
  const refusalOf = ({ accounts, ask }: LedgerRequest): LedgerOutcome | undefined => {
    for (const account of accounts) {
      const [limit = {}] = [ledgerKitLimits[account] ?? []].flat();
      const { tokens = Number.POSITIVE_INFINITY, costUsd = Number.POSITIVE_INFINITY } = limit;
      const spent = sums.spent(account);
      if (spent.tokens + ask.tokens > tokens)
        return { type: "refused", account, which: "tokens", limit: tokens, left: tokens - spent.tokens };
      if (spent.costUsd + (ask.costUsd ?? 0) > costUsd + 1e-9)
        return { type: "refused", account, which: "costUsd", limit: costUsd, left: costUsd - spent.costUsd };
    }
    return undefined;
  };
  const known = new Set<string>();
  return {
    async reserve(request) {
      const refusal = known.has(request.id) ? undefined : refusalOf(request);
      await Promise.resolve();
      if (!refusal) known.add(request.id);
      return refusal ?? sums.reserve(request);
    },
    settle: (id, spent) => sums.settle(id, spent),
    release(id) {
      sums.release(id);
      known.delete(id);
    },
  };
};

/** Defects of usage ledgers. */
export const usageLedgerSaboteurs: readonly Saboteur<LedgerUnderTest>[] = [
  {
    defect: "refuses what reaches a limit of money exactly",
    breaks: ["money", "settle"],
    make: priced((costUsd) => costUsd * 1.000_001),
  },
  {
    defect: "allows one token more than the limit",
    breaks: [
      "all-or-nothing",
      "asked-again",
      "at-once",
      "release",
      "release-settled",
      "reserve-twice",
      "settle",
      "settle-twice",
      "unknown",
      "unsettled",
      "up-to-limit",
      "window-settled",
      "window-zone",
      "windows",
    ],
    make: changed((request) => ({ ...request, ask: { ...request.ask, tokens: request.ask.tokens - 1 } })),
  },
  {
    defect: "does not name the account that is full",
    breaks: ["up-to-limit", "money", "all-or-nothing", "window-settled", "windows"],
    make: spoiled((honest) => ({
      async reserve(request) {
        const outcome = await honest.reserve(request);
        return outcome.type === "refused" ? { ...outcome, account: "" } : outcome;
      },
    })),
  },
  {
    defect: "gives the limit for what is left of it",
    breaks: ["up-to-limit", "money", "all-or-nothing", "window-settled", "windows"],
    make: spoiled((honest) => ({
      async reserve(request) {
        const outcome = await honest.reserve(request);
        return outcome.type === "refused" ? { ...outcome, left: outcome.limit } : outcome;
      },
    })),
  },
  { defect: "counts no money", breaks: ["money"], make: priced(() => 0) },
  {
    defect: "takes an unknown price for a dollar",
    breaks: ["all-or-nothing", "at-once", "money"],
    make: priced((costUsd) => costUsd || 1),
  },
  {
    defect: "limits accounts that have no limit",
    breaks: ["unlimited"],
    make: spoiled((honest) => ({
      reserve: (request) =>
        request.ask.tokens > 1e6 ? { type: "refused", account: "free", which: "tokens", limit: 1e6, left: 0 } : honest.reserve(request),
    })),
  },
  {
    defect: "counts for the accounts before the one that refuses",
    breaks: ["all-or-nothing", "at-once"],
    make: spoiled((honest) => ({
      reserve(request) {
        const outcome = honest.reserve(request) as LedgerOutcome;
        if (outcome.type === "refused") {
          const accounts = request.accounts.slice(0, request.accounts.indexOf(outcome.account));
          honest.reserve({ ...request, id: `half of ${request.id}`, accounts });
        }
        return outcome;
      },
    })),
  },
  {
    defect: "counts for the first account alone",
    breaks: ["all-or-nothing", "at-once"],
    make: changed((request) => ({ ...request, accounts: request.accounts.slice(0, 1) })),
  },
  {
    defect: "does not settle",
    breaks: ["asked-again", "release-settled", "reserve-twice", "settle", "settle-twice"],
    make: spoiled(() => ({ settle: () => {} })),
  },
  {
    defect: "adds what was spent to what was reserved",
    breaks: ["asked-again", "reserve-twice", "settle", "settle-twice", "unknown"],
    make: spoiled((honest) => ({
      settle(id, spent) {
        honest.reserve({ id: `spent ${id}`, accounts: ["tokens", "both"], ask: spent, expiresAt: farAway });
      },
    })),
  },
  {
    defect: "does not release",
    breaks: [
      "all-or-nothing",
      "asked-again",
      "at-once",
      "release",
      "release-settled",
      "reserve-twice",
      "settle",
      "settle-twice",
      "unknown",
      "unsettled",
      "window-settled",
    ],
    make: spoiled(() => ({ release: () => {} })),
  },
  {
    defect: "keeps a released id for ever",
    breaks: ["release"],
    make: spoiled((honest) => {
      const released = new Set<string>();
      return {
        reserve: (request) => (released.has(request.id) ? { type: "reserved" } : honest.reserve(request)),
        release(id) {
          released.add(id);
          honest.release(id);
        },
      };
    }),
  },
  {
    defect: "counts a known id again",
    breaks: ["reserve-twice"],
    make: spoiled((honest) => {
      const names = new Map<string, string>();
      let count = 0;
      return {
        reserve(request) {
          const id = `${request.id} ${++count}`;
          names.set(request.id, id);
          return honest.reserve({ ...request, id });
        },
        settle: (id, spent) => honest.settle(names.get(id) ?? id, spent),
        release: (id) => honest.release(names.get(id) ?? id),
      };
    }),
  },
  {
    defect: "settles again",
    breaks: ["settle-twice"],
    make: spoiled((honest) => {
      const settled = new Set<string>();
      let count = 0;
      return {
        settle(id, spent) {
          if (settled.has(id)) honest.reserve({ id: `again ${++count}`, accounts: ["tokens"], ask: spent, expiresAt: farAway });
          settled.add(id);
          honest.settle(id, spent);
        },
      };
    }),
  },
  {
    defect: "releases what is settled",
    breaks: ["release-settled", "unknown"],
    make: spoiled((honest) => {
      const spendings = new Map<string, number>();
      return {
        settle(id, spent) {
          spendings.set(id, spent.tokens);
          honest.settle(id, spent);
        },
        release(id) {
          const tokens = -(spendings.get(id) ?? 0);
          honest.reserve({ id: `back ${id}`, accounts: ["tokens"], ask: { tokens }, expiresAt: farAway });
          honest.release(id);
        },
      };
    }),
  },
  {
    defect: "books what is settled under an unknown id",
    breaks: ["unknown"],
    make: spoiled((honest) => {
      const known = new Set<string>();
      return {
        reserve(request) {
          known.add(request.id);
          return honest.reserve(request);
        },
        settle(id, spent) {
          if (!known.has(id)) honest.reserve({ id, accounts: ["tokens"], ask: spent, expiresAt: farAway });
          honest.settle(id, spent);
        },
      };
    }),
  },
  {
    defect: "refuses for ever what it refused once",
    breaks: ["asked-again"],
    make: spoiled((honest) => {
      const refused = new Map<string, LedgerOutcome>();
      return {
        reserve(request) {
          const outcome = refused.get(request.id) ?? (honest.reserve(request) as LedgerOutcome);
          if (outcome.type === "refused" && request.id === "late") refused.set(request.id, outcome);
          return outcome;
        },
      };
    }),
  },
  {
    defect: "waits between its look at the sums and its entry",
    breaks: ["at-once", "window-settled", "window-zone", "windows"],
    make: spoiled(careless),
  },
  {
    defect: "gives back what has expired",
    breaks: ["unsettled"],
    make: spoiled((honest, { now }) => {
      const expiries = new Map<string, number>();
      return {
        reserve(request) {
          for (const [id, expiresAt] of expiries) if (expiresAt < now()) honest.release(id);
          expiries.set(request.id, request.expiresAt);
          return honest.reserve(request);
        },
      };
    }),
  },
  {
    defect: "counts all days together",
    breaks: ["windows", "window-settled", "window-zone"],
    make: limited(({ per: _, ...limit }) => [limit]),
  },
  {
    defect: "refuses without the end of the window",
    breaks: ["windows", "window-settled"],
    make: spoiled((honest) => ({
      reserve(request) {
        const outcome = honest.reserve(request) as LedgerOutcome;
        if (outcome.type !== "refused") return outcome;
        const { resetsAt: _, ...rest } = outcome;
        return rest;
      },
    })),
  },
  {
    defect: "ends the days of all zones at midnight of UTC",
    breaks: ["window-zone"],
    make: limited(({ timeZone: _, ...limit }) => [limit]),
  },
  {
    defect: "looks at the first limit of an account alone",
    breaks: ["windows"],
    make: limited((limit, at) => (at === 0 ? [limit] : [])),
  },
  {
    defect: "counts what is settled for the day on which it is settled",
    breaks: ["window-settled"],
    make: spoiled((honest, { now }) => {
      const requests = new Map<string, LedgerRequest>();
      return {
        reserve(request) {
          requests.set(request.id, { ...request, expiresAt: now() });
          return honest.reserve(request);
        },
        settle(id, spent) {
          const request = requests.get(id);
          const isLater = request && new Date(request.expiresAt).getUTCDate() !== new Date(now()).getUTCDate();
          if (!isLater) return honest.settle(id, spent);
          honest.release(id);
          honest.reserve({ ...request, id: `late ${id}`, ask: spent, expiresAt: farAway });
        },
      };
    }),
  },
];
