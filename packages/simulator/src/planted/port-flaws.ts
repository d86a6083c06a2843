/*
 * Owns: stores that break one promise each, for trials of the checker. Everything else of them is sound.
 */
import { AgentError } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { type AppendRequest, refKey, type SessionLog, type SessionRef } from "@loopwright/core/ports";
import type { Sabotage } from "../world/simulated-world.ts";

/** A flaw that is put into a port from outside. */
export interface PortFlaw {
  readonly name: string;
  readonly sabotage: () => Sabotage;
}

const withLog = (spoil: (log: SessionLog) => Partial<SessionLog>): Sabotage => ({ log: (log) => ({ ...log, ...spoil(log) }) });

/** Treats every n-th append differently. */
function sometimes(
  every: number,
  otherwise: (log: SessionLog, ref: SessionRef, request: AppendRequest) => ReturnType<SessionLog["append"]>,
): () => Sabotage {
  return () => {
    let count = 0;
    return withLog((log) => ({
      append: (ref, request) => (++count % every === 0 ? otherwise(log, ref, request) : log.append(ref, request)),
    }));
  };
}

const answersBefore = sometimes(25, async (_, __, { expectedSeq, facts }) => ({ type: "ok", lastSeq: expectedSeq + facts.length }));

const keepsTorn = sometimes(25, async (log, ref, { release: _, ...request }) => {
  if (request.facts.length < 2) return log.append(ref, request);
  await log.append(ref, { ...request, facts: request.facts.slice(0, -1) });
  return { type: "unknown" };
});

/** Batch ids are forgotten: what was written before is a conflict. */
function forgetsBatches(): Sabotage {
  let count = 0;
  return withLog((log) => ({ append: (ref, request) => log.append(ref, { ...request, batchId: `${request.batchId}-${++count}` }) }));
}

/** The check of the number comes before that of the batch id. */
function checksNumberFirst(): Sabotage {
  return withLog((log) => ({
    async append(ref, request) {
      const { lastSeq } = await log.head(ref);
      return request.expectedSeq === lastSeq ? log.append(ref, request) : { type: "conflict", actualSeq: lastSeq };
    },
  }));
}

function ignoresEpochs(): Sabotage {
  return withLog((log) => ({
    append: (ref, { epoch: _, release, ...request }) => log.append(ref, request).then((outcome) => (release ? outcome : outcome)),
  }));
}

function leasesToEverybody(): Sabotage {
  return withLog((log) => ({
    async claim(ref, claim) {
      await log.release(ref, (await log.head(ref)).epoch);
      return log.claim(ref, claim);
    },
  }));
}

/** The expiry of a lease is judged by the wall clock of the asking process. */
function leasesByWallClock(): Sabotage {
  const until = new Map<string, number>();
  return {
    nodeLog: (log, { wallMs }) => ({
      ...log,
      async claim(ref, claim) {
        const endsAt = until.get(refKey(ref));
        if (endsAt !== undefined && wallMs() > endsAt) await log.release(ref, (await log.head(ref)).epoch);
        const outcome = await log.claim(ref, claim);
        if (outcome.type === "claimed") until.set(refKey(ref), wallMs() + claim.leaseMs);
        return outcome;
      },
      async renew(ref, lease) {
        const isRenewed = await log.renew(ref, lease);
        if (isRenewed) until.set(refKey(ref), wallMs() + lease.leaseMs);
        return isRenewed;
      },
    }),
  };
}

/** An append with an unknown outcome counts as written. */
function takesUnknownForOk(): Sabotage {
  return {
    nodeLog: (log) => ({
      ...log,
      async append(ref, request) {
        const outcome = await log.append(ref, request);
        return outcome.type === "unknown" ? { type: "ok", lastSeq: request.expectedSeq + request.facts.length } : outcome;
      },
    }),
  };
}

/** An append with an unknown outcome counts as not written, and is written again under a new batch id. */
function takesUnknownForFailed(): Sabotage {
  return {
    nodeLog: (log) => ({
      ...log,
      async append(ref, request) {
        const outcome = await log.append(ref, request);
        return outcome.type === "unknown" ? log.append(ref, { ...request, batchId: `${request.batchId}-again` }) : outcome;
      },
    }),
  };
}

/** A process that unsubscribes from a session and subscribes again within a round trip is never notified of appends again. */
function deafensReturners(): Sabotage {
  const roundTripMs = 50;
  return {
    nodeLog(log, { wallMs }) {
      const leftAt = new Map<string, number>();
      const { subscribe } = log;
      if (!subscribe) return log;
      return {
        ...log,
        subscribe(ref, listener) {
          const isDeaf = wallMs() - (leftAt.get(refKey(ref)) ?? Number.NEGATIVE_INFINITY) <= roundTripMs;
          const stop = isDeaf ? () => {} : subscribe(ref, listener);
          return () => {
            leftAt.set(refKey(ref), wallMs());
            stop();
          };
        },
      };
    },
  };
}

/** From some moment on one session cannot be read, and because of it the list of due sessions fails. */
function damageStopsSweeps(): Sabotage {
  let count = 0;
  return withLog((log) => ({
    append: (ref, request) => {
      count += 1;
      return log.append(ref, request);
    },
    due: (options) =>
      count < 20 ? log.due(options) : Promise.reject(new AgentError("SESSION_CORRUPT", { message: "One of the sessions is damaged." })),
  }));
}

const backup = { takenAt: 30, restoredAt: 45 } as const;

/** The store is reset to its state of some appends ago while the processes continue. */
function comesBackFromBackup(): Sabotage {
  const tails = new Map<string, { readonly ref: SessionRef; readonly lastSeq: number }>();
  let count = 0;
  let restored: Promise<SessionLog> | undefined;
  const restore = async (log: SessionLog): Promise<SessionLog> => {
    const older = memoryStore().log;
    for (const { ref, lastSeq } of tails.values())
      await older.append(ref, { expectedSeq: 0, batchId: "backup", facts: await log.read(ref, { limit: lastSeq }), due: 0 });
    return older;
  };
  return withLog((log) => {
    const now = async (): Promise<SessionLog> => (await restored) ?? log;
    return {
      async append(ref, request) {
        const outcome = await (await now()).append(ref, request);
        count += 1;
        if (outcome.type === "ok" && count <= backup.takenAt) tails.set(refKey(ref), { ref, lastSeq: outcome.lastSeq });
        if (count >= backup.restoredAt) restored ??= restore(log);
        return outcome;
      },
      read: async (ref, options) => (await now()).read(ref, options),
      head: async (ref) => (await now()).head(ref),
      claim: async (ref, claim) => (await now()).claim(ref, claim),
      renew: async (ref, lease) => (await now()).renew(ref, lease),
      release: async (ref, epoch) => (await now()).release(ref, epoch),
      due: async (options) => (await now()).due(options),
      setDue: async (ref, options) => (await now()).setDue(ref, options),
    };
  });
}

/** All flaws that a port can have. */
export const portFlaws: readonly PortFlaw[] = [
  { name: "the store acknowledges a batch before it has it", sabotage: answersBefore },
  { name: "the store keeps a part of a torn batch", sabotage: keepsTorn },
  { name: "the store forgets batch ids", sabotage: forgetsBatches },
  { name: "the store checks the number before the batch id", sabotage: checksNumberFirst },
  { name: "the store checks no epoch", sabotage: ignoresEpochs },
  { name: "the store leases a session to every reader that asks", sabotage: leasesToEverybody },
  { name: "leases are measured by the wall clock of the caller", sabotage: leasesByWallClock },
  { name: "an unknown outcome is taken for written", sabotage: takesUnknownForOk },
  { name: "an unknown outcome is taken for failed, and the batch gets a new id", sabotage: takesUnknownForFailed },
  { name: "a deaf subscription: a caller that comes back within a round trip is notified of no append", sabotage: deafensReturners },
  { name: "one session that cannot be read stops the sweeps", sabotage: damageStopsSweeps },
  { name: "the store is put back from a backup", sabotage: comesBackFromBackup },
  { name: "the sweeper never finds anything", sabotage: () => withLog(() => ({ due: async () => [] })) },
  {
    name: "the date of a session is not kept",
    sabotage: () => withLog((log) => ({ append: (ref, { due: _, ...request }) => log.append(ref, request) })),
  },
  {
    name: "reads begin one fact too late",
    sabotage: () => withLog((log) => ({ read: (ref, options) => log.read(ref, { ...options, from: (options?.from ?? 1) + 1 }) })),
  },
];
