import type { SessionRef } from "@loopwright/core";
import { memoryQueue } from "@loopwright/core/memory";
import type { RunQueue } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { QueueUnderTest } from "../../src/queue/queue-under-test.ts";

type Take = Parameters<RunQueue["work"]>[0];

function spoiled(spoil: (real: RunQueue) => Partial<RunQueue>): Make<QueueUnderTest> {
  return async () => {
    const real = memoryQueue();
    const queue = { ...real, ...spoil(real) };
    return { queue, other: queue, patienceMs: 30 };
  };
}

/** A queue whose hints were changed on their way to the workers. */
const handing = (change: (take: Take, real: RunQueue) => Take): Make<QueueUnderTest> =>
  spoiled((real) => ({ work: (take, options) => real.work(change(take, real), options) }));

/** A queue that loses some offers. */
const losing = (loses: (ref: SessionRef, before: readonly SessionRef[]) => boolean): Make<QueueUnderTest> =>
  spoiled((real) => {
    const offered: SessionRef[] = [];
    return {
      async offer(ref) {
        const isLost = loses(ref, offered);
        offered.push(ref);
        if (!isLost) await real.offer(ref);
      },
    };
  });

/** A queue that picks what it delivers next from all that waits. */
const picking = (pick: (waiting: readonly SessionRef[]) => SessionRef | undefined): Make<QueueUnderTest> =>
  spoiled((real) => {
    const waiting = new Set<SessionRef>();
    let tickets = 0;
    return {
      async offer({ scope, session }) {
        waiting.add({ scope, session });
        await real.offer({ scope: "tickets", session: `t${tickets++}` });
      },
      work: (take, options) =>
        real.work(async () => {
          const next = pick([...waiting]);
          if (!next) return;
          waiting.delete(next);
          await take(next);
        }, options),
    };
  });

/** Defects of run queues. */
export const queueSaboteurs: readonly Saboteur<QueueUnderTest>[] = [
  {
    defect: "hands on the session without its scope",
    breaks: ["all", "failing", "handed", "left", "nodes", "scopes", "turns", "waits"],
    make: handing(
      (take) =>
        ({ session }) =>
          take({ scope: "", session }),
    ),
  },
  {
    defect: "notifies only the workers that are there",
    breaks: ["backlog", "scopes", "turns", "waits"],
    make: spoiled((real) => {
      let workers = 0;
      return {
        offer: async (ref) => (workers > 0 ? real.offer(ref) : undefined),
        work(take, options) {
          workers++;
          return real.work(take, options);
        },
      };
    }),
  },
  {
    defect: "hands one hint to two workers",
    breaks: ["all"],
    make: handing((take) => async (ref) => {
      await take(ref);
      if (ref.session === "s7") await take(ref);
    }),
  },
  {
    defect: "loses every tenth hint",
    breaks: ["all", "backlog"],
    make: losing((_ref, before) => before.length % 10 === 9),
  },
  {
    defect: "merges sessions of one id",
    breaks: ["scopes"],
    make: losing((ref, before) => before.some(({ scope, session }) => session === ref.session && scope !== ref.scope)),
  },
  {
    defect: "remembers for ever what it has handed on",
    breaks: ["after", "close", "under-way"],
    make: losing((ref, before) => before.some(({ scope, session }) => session === ref.session && scope === ref.scope)),
  },
  {
    defect: "forgets hints for what is under way",
    breaks: ["under-way"],
    make: spoiled((real) => {
      const underWay = new Set<string>();
      return {
        offer: async (ref) => (underWay.has(ref.session) ? undefined : real.offer(ref)),
        work: (take, options) =>
          real.work(async (ref) => {
            underWay.add(ref.session);
            await take(ref).finally(() => underWay.delete(ref.session));
          }, options),
      };
    }),
  },
  {
    defect: "keeps its hints to its own node",
    breaks: ["nodes"],
    make: async () => ({ queue: memoryQueue(), other: memoryQueue(), patienceMs: 30 }),
  },
  {
    defect: "gives a worker all there is",
    breaks: ["concurrency", "left"],
    make: spoiled((real) => ({ work: (take) => real.work(take, { concurrency: 1_000 }) })),
  },
  {
    defect: "gives a worker one session at a time",
    breaks: ["concurrency"],
    make: spoiled((real) => ({ work: (take) => real.work(take, { concurrency: 1 }) })),
  },
  {
    defect: "hands on again what a worker has failed at",
    breaks: ["failing"],
    make: handing((take) => (ref) => take(ref).catch(() => take(ref))),
  },
  {
    defect: "loses the place of a worker that fails",
    breaks: ["failing"],
    make: handing((take) => (ref) => take(ref).catch(() => new Promise(() => {}))),
  },
  {
    defect: "continues a worker that was stopped",
    breaks: ["stop", "stop-waits"],
    make: spoiled((real) => ({
      work(take, options) {
        real.work(take, options);
        return { async stop() {} };
      },
    })),
  },
  {
    defect: "does not wait for what a stopped worker has under way",
    breaks: ["stop-waits"],
    make: spoiled((real) => ({
      work(take, options) {
        const worker = real.work(take, options);
        return {
          async stop() {
            void worker.stop();
          },
        };
      },
    })),
  },
  {
    defect: "gives all that waits to a worker, which loses it when it is stopped",
    breaks: ["left"],
    make: spoiled((real) => ({
      work(take, { concurrency }) {
        let places = concurrency;
        let isStopped = false;
        const free: (() => void)[] = [];
        const worker = real.work(
          async (ref) => {
            if (places === 0) await new Promise<void>((resolve) => free.push(resolve));
            else places--;
            if (!isStopped) await take(ref).catch(() => {});
            const next = free.shift();
            if (next) next();
            else places++;
          },
          { concurrency: 1_000 },
        );
        return {
          stop() {
            isStopped = true;
            return worker.stop();
          },
        };
      },
    })),
  },
  {
    defect: "closes in the middle of the work",
    breaks: ["close"],
    make: spoiled((real) => ({
      async close() {
        void real.close();
      },
    })),
  },
  {
    defect: "takes hints when it is closed",
    breaks: ["close"],
    make: spoiled((real) => ({ offer: (ref) => real.offer(ref).catch(() => {}) })),
  },
  {
    defect: "delivers in the order of the offers, whatever their scope",
    breaks: ["backlog"],
    make: picking(([first]) => first),
  },
  {
    defect: "prefers the scope with the fewest hints",
    breaks: ["turns"],
    make: picking((waiting) => {
      const countOf = (ref: SessionRef): number => waiting.filter(({ scope }) => scope === ref.scope).length;
      return waiting.toSorted((one, other) => countOf(one) - countOf(other))[0];
    }),
  },
];
