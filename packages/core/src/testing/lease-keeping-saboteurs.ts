import type { LogUnderTest } from "./log-under-test.ts";
import type { Saboteur } from "./saboteur.ts";
import { spoiledLog } from "./spoiled-log.ts";

/** Defects of keeping a lease and of giving it back. */
export const keepingSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "has leases that never end",
    breaks: ["expiry", "renew-after-take-over", "fence-after-expiry", "head-lease", "one-holder", "lease-length", "remaining", "two-heirs"],
    make: spoiledLog((real) => ({ claim: (ref, claim) => real.claim(ref, { ...claim, leaseMs: 10 ** 9 }) })),
  },
  {
    defect: "writes down who gave a lease back",
    breaks: ["claim-writes-nothing"],
    make: spoiledLog((real) => {
      const notes = new Set<string>();
      return {
        async release(ref, epoch) {
          if ((await real.head(ref)).epoch === epoch && epoch === 1) notes.add(ref.session);
          await real.release(ref, epoch);
        },
        async read(ref, options) {
          const facts = await real.read(ref, options);
          return notes.has(ref.session)
            ? [...facts, { seq: facts.length + 1, type: "session.changed", title: "released", at: 0, v: 1 }]
            : facts;
        },
      };
    }),
  },
  {
    defect: "rejects a release of nothing",
    breaks: ["release-twice"],
    make: spoiledLog((real) => ({
      async release(ref, epoch) {
        if (!(await real.head(ref)).lease) throw new Error("Nothing to release.");
        await real.release(ref, epoch);
      },
    })),
  },
  {
    defect: "comes back without leases",
    breaks: ["lease-after-reopen"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      return {
        ...honest,
        async reopen() {
          await honest.log.release({ scope: "local", session: "first" }, 1);
          return honest.log;
        },
      };
    },
  },
  {
    defect: "forgets renewals",
    breaks: ["renew", "late-renew", "lease-length"],
    make: spoiledLog((real) => ({
      renew: async (ref, { epoch }) => (await real.renew(ref, { epoch, leaseMs: 1 })) && real.renew(ref, { epoch, leaseMs: 0 }),
    })),
  },
  {
    defect: "renews no lease that is over",
    breaks: ["late-renew", "lease-length"],
    make: spoiledLog((real) => ({
      async renew(ref, lease) {
        return (await real.head(ref)).lease !== undefined && real.renew(ref, lease);
      },
    })),
  },
  {
    defect: "renews for old owners",
    breaks: ["renew-after-take-over", "renew-ahead"],
    make: spoiledLog((real) => ({
      async renew(ref, { leaseMs }) {
        return real.renew(ref, { epoch: (await real.head(ref)).epoch, leaseMs });
      },
    })),
  },
  {
    defect: "releases nothing",
    breaks: ["release", "renew-released", "release-in-append", "epoch-after-reopen", "epochs-rise", "release-twice"],
    make: spoiledLog((real) => ({
      async release() {},
      append: (ref, { release: _release, ...request }) => real.append(ref, request),
    })),
  },
  {
    defect: "releases whatever runs",
    breaks: ["release-old", "renew-ahead"],
    make: spoiledLog((real) => ({
      async release(ref) {
        await real.release(ref, (await real.head(ref)).epoch);
      },
    })),
  },
  {
    defect: "renews what was given back",
    breaks: ["renew-released"],
    make: spoiledLog((real) => ({
      async renew(ref, lease) {
        return (await real.renew(ref, lease)) || (await real.head(ref)).epoch === lease.epoch;
      },
    })),
  },
  {
    defect: "forgets the release in an append",
    breaks: ["release-in-append"],
    make: spoiledLog((real) => ({ append: (ref, { release: _release, ...request }) => real.append(ref, request) })),
  },
  {
    defect: "releases also when it refuses the append",
    breaks: ["refused-keeps-lease"],
    make: spoiledLog((real) => ({
      async append(ref, request) {
        const outcome = await real.append(ref, request);
        if (request.release && request.epoch !== undefined) await real.release(ref, request.epoch);
        return outcome;
      },
    })),
  },
  {
    defect: "lets commands release",
    breaks: ["command-keeps-lease"],
    make: spoiledLog((real) => ({
      async append(ref, request) {
        const outcome = await real.append(ref, request);
        if (request.release && outcome.type === "ok") await real.release(ref, (await real.head(ref)).epoch);
        return outcome;
      },
    })),
  },
  {
    defect: "begins again with epoch 1",
    breaks: ["epoch-after-reopen", "lease-after-reopen"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      return { ...honest, reopen: async () => (await spoiledLog(() => ({}))()).log };
    },
  },
];
