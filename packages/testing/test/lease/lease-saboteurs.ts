import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { spoiledLog } from "../log/spoiled-log.ts";
import { keepingSaboteurs } from "./keeping-saboteurs.ts";

/** Defects of leases. */
export const leaseSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "begins with epoch 0",
    breaks: [
      "first-claim",
      "own-claim",
      "leases-apart",
      "expiry",
      "release",
      "release-in-append",
      "epoch-after-reopen",
      "epochs-rise",
      "release-twice",
      "two-heirs",
    ],
    make: spoiledLog((real) => ({
      async claim(ref, claim) {
        const answer = await real.claim(ref, claim);
        return answer.type === "claimed" ? { ...answer, epoch: answer.epoch - 1 } : answer;
      },
    })),
  },
  {
    defect: "gives the session to every caller",
    breaks: [
      "command-keeps-lease",
      "expiry",
      "held-changes-nothing",
      "late-renew",
      "lease-after-reopen",
      "lease-length",
      "one-holder",
      "outage",
      "refused-keeps-lease",
      "remaining",
      "renew",
      "renew-ahead",
      "renew-many-lengths",
    ],
    make: spoiledLog((real) => ({
      async claim(ref, claim) {
        await real.release(ref, (await real.head(ref)).epoch);
        return real.claim(ref, claim);
      },
    })),
  },
  {
    defect: "looks for a lease before, not with, the claim",
    breaks: ["two-claimants", "two-heirs"],
    make: spoiledLog((real) => ({
      async claim(ref, claim) {
        const { lease } = await real.head(ref);
        const answer = await real.claim(ref, claim);
        return answer.type === "held" && !lease ? { type: "claimed", epoch: 1, lastSeq: 0 } : answer;
      },
    })),
  },
  {
    defect: "hides the lease",
    breaks: ["head-lease", "renew-after-take-over", "release-old", "remaining"],
    make: spoiledLog((real) => ({
      async head(ref) {
        const { lease: _lease, ...head } = await real.head(ref);
        return head;
      },
    })),
  },
  {
    defect: "shows a lease that is over",
    breaks: ["expiry", "lease-length", "release", "renew-many", "renew-many-lengths"],
    make: spoiledLog((real) => ({
      async head(ref) {
        const head = await real.head(ref);
        return head.epoch > 0 ? { lease: { node: "one", remainingMs: 15_000 }, ...head } : head;
      },
    })),
  },
  {
    defect: "lets no node claim twice",
    breaks: ["own-claim", "release-old", "renew-many"],
    make: spoiledLog((real) => ({
      async claim(ref, claim) {
        const { lease } = await real.head(ref);
        return lease ? { type: "held", ...lease } : real.claim(ref, claim);
      },
    })),
  },
  {
    defect: "counts epochs over all sessions",
    breaks: ["leases-apart"],
    make: spoiledLog((real) => {
      let count = 0;
      return {
        async claim(ref, claim) {
          const answer = await real.claim(ref, claim);
          if (answer.type !== "claimed") return answer;
          count++;
          return { ...answer, epoch: count };
        },
      };
    }),
  },
  {
    defect: "counts epochs to 32",
    breaks: ["epochs-rise"],
    make: spoiledLog((real) => ({
      async claim(ref, claim) {
        const answer = await real.claim(ref, claim);
        return answer.type === "claimed" ? { ...answer, epoch: ((answer.epoch - 1) % 32) + 1 } : answer;
      },
    })),
  },
  {
    defect: "fences an owner whenever another asks",
    breaks: ["held-changes-nothing", "outage"],
    make: spoiledLog((real) => {
      const asked = new Set<string>();
      return {
        async claim(ref, claim) {
          const answer = await real.claim(ref, claim);
          if (answer.type === "held") asked.add(ref.session);
          return answer;
        },
        renew: async (ref, lease) => !asked.has(ref.session) && real.renew(ref, lease),
      };
    }),
  },
  {
    defect: "gives every lease 15 seconds",
    breaks: ["lease-length", "outage", "renew-many-lengths"],
    make: spoiledLog((real) => ({
      claim: (ref, claim) => real.claim(ref, { ...claim, leaseMs: 15_000 }),
      renew: (ref, lease) => real.renew(ref, { ...lease, leaseMs: 15_000 }),
    })),
  },
  {
    defect: "states the whole time of a lease instead of what remains",
    breaks: ["remaining"],
    make: spoiledLog((real) => ({
      async head(ref) {
        const head = await real.head(ref);
        return head.lease ? { ...head, lease: { ...head.lease, remainingMs: 15_000 } } : head;
      },
    })),
  },
  {
    defect: "lets many become heirs at once",
    breaks: ["two-heirs"],
    make: spoiledLog((real) => ({
      async claim(ref, claim) {
        const { lease, epoch } = await real.head(ref);
        const answer = await real.claim(ref, claim);
        return answer.type === "held" && !lease && epoch > 0 ? { type: "claimed", epoch: epoch + 1, lastSeq: 0 } : answer;
      },
    })),
  },
  {
    defect: "takes any epoch that is not old",
    breaks: ["renew-ahead"],
    make: spoiledLog((real) => ({
      async renew(ref, { epoch, leaseMs }) {
        const current = (await real.head(ref)).epoch;
        return real.renew(ref, { leaseMs, epoch: Math.min(epoch, current) });
      },
    })),
  },
  {
    defect: "fences an owner as soon as its lease is over",
    breaks: ["fence-after-expiry"],
    make: spoiledLog((real) => ({
      async append(ref, request) {
        const { epoch, lease } = await real.head(ref);
        return request.epoch === epoch && !lease ? { type: "fenced", currentEpoch: epoch } : real.append(ref, request);
      },
    })),
  },
  ...keepingSaboteurs,
];
