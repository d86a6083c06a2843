import type { LeaseRenewal, SessionLog } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { spoiledLog } from "../log/spoiled-log.ts";

/** A log that renews many leases at once, and answers as the test decides. */
const renewingAll = (
  answer: (answers: readonly boolean[], renewals: readonly LeaseRenewal[], real: SessionLog) => unknown,
): Saboteur<LogUnderTest>["make"] =>
  spoiledLog((real) => ({
    async renewAll(renewals) {
      const answers: boolean[] = [];
      for (const { ref, ...lease } of renewals) answers.push(await real.renew(ref, lease));
      return (await answer(answers, renewals, real)) as readonly boolean[];
    },
  }));

/** Defects of keeping a lease and of giving it back. */
export const keepingSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "has leases that never end",
    breaks: ["expiry", "renew-after-take-over", "fence-after-expiry", "head-lease", "one-holder", "lease-length", "remaining", "two-heirs"],
    make: spoiledLog((real) => ({ claim: (ref, claim) => real.claim(ref, { ...claim, leaseMs: 10 ** 9 }) })),
  },
  {
    defect: "takes a second from a lease whenever another asks for it",
    breaks: ["outage"],
    make: spoiledLog((real) => ({
      async claim(ref, claim) {
        const answer = await real.claim(ref, claim);
        if (answer.type === "held") await real.renew(ref, { epoch: (await real.head(ref)).epoch, leaseMs: answer.remainingMs - 1_000 });
        return answer;
      },
    })),
  },
  {
    defect: "ends a lease four fifths after its renewal",
    breaks: ["expiry", "lease-length", "outage", "renew-many-lengths"],
    make: spoiledLog((real) => ({
      claim: (ref, claim) => real.claim(ref, { ...claim, leaseMs: claim.leaseMs * 0.8 }),
      renew: (ref, lease) => real.renew(ref, { ...lease, leaseMs: lease.leaseMs * 0.8 }),
    })),
  },
  {
    defect: "answers for all leases what is true of the last one",
    breaks: ["renew-many"],
    make: renewingAll((answers) => answers.map(() => answers.at(-1) ?? false)),
  },
  {
    defect: "leaves out of its answers the leases that do not stand",
    breaks: ["renew-many"],
    make: renewingAll((answers) => answers.filter(Boolean)),
  },
  {
    defect: "gives many leases the time of the first one",
    breaks: ["renew-many-lengths"],
    make: renewingAll(async (answers, renewals, real) => {
      for (const { ref, epoch } of renewals) await real.renew(ref, { epoch, leaseMs: renewals[0]?.leaseMs ?? 0 });
      return answers;
    }),
  },
  {
    defect: "records which node gave a lease back",
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
    breaks: ["late-renew", "lease-length", "outage", "renew", "renew-many-lengths"],
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
    breaks: ["renew-after-take-over", "renew-ahead", "renew-many"],
    make: spoiledLog((real) => ({
      async renew(ref, { leaseMs }) {
        return real.renew(ref, { epoch: (await real.head(ref)).epoch, leaseMs });
      },
    })),
  },
  {
    defect: "releases nothing",
    breaks: ["epoch-after-reopen", "epochs-rise", "release", "release-in-append", "release-twice", "renew-many", "renew-released"],
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
    breaks: ["renew-many", "renew-released"],
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
