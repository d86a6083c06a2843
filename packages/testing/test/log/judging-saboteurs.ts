import type { SessionRef } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { appending, freshBatchId, spoiledLog } from "./spoiled-log.ts";

const isKnown = (real: SessionLog, ref: SessionRef): Promise<boolean> => real.head(ref).then(({ lastSeq }) => lastSeq > 0);

const judges: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "checks the tail before, not with, the write",
    breaks: ["one-of-two"],
    make: spoiledLog((real) => ({
      async append(ref, request) {
        const { lastSeq } = await real.head(ref);
        const outcome = await real.append(ref, request);
        const wasTail = lastSeq === request.expectedSeq && outcome.type === "conflict";
        return wasTail ? real.append(ref, { ...request, expectedSeq: outcome.actualSeq }) : outcome;
      },
    })),
  },
  {
    defect: "loses the second try of a writer",
    breaks: ["many-writers"],
    make: appending((real, ref, request) =>
      request.batchId.endsWith("try 1") ? Promise.resolve({ type: "ok", lastSeq: request.expectedSeq + 1 }) : real.append(ref, request),
    ),
  },
  {
    defect: "gives what was written to one session to another",
    breaks: [
      "late-calls",
      ...["many-sessions", "sessions-apart", "joined-ids", "corrupt-after-reopen", "corrupt-append", "corrupt-append-after-reopen"],
      ...["corrupt-append-another", "corrupt-read", "corrupt-tail"],
      "ruin-others",
      "ruin-reported",
      ...["tamper-changed", "tamper-missing", "tamper-inserted", "tamper-append", "tamper-another", "tamper-reopen"],
    ],
    make: spoiledLog((real) => {
      let last: SessionRef | undefined;
      return {
        append(ref, request) {
          last ??= ref;
          return real.append(ref, request);
        },
        read: async (ref, options) => real.read(last && last.scope === ref.scope && (await isKnown(real, last)) ? last : ref, options),
      };
    }),
  },
  {
    defect: "writes on a conflict",
    breaks: [
      "another-appends",
      "one-of-two",
      "conflict-behind",
      "conflict-ahead",
      "conflict-forgets",
      "due-conflict",
      "owner-conflict",
      "subscribe-refused",
    ],
    make: appending(async (real, ref, request) => {
      const outcome = await real.append(ref, request);
      return outcome.type === "conflict" ? real.append(ref, { ...request, expectedSeq: outcome.actualSeq }) : outcome;
    }),
  },
  {
    defect: "writes a part of a refused batch",
    breaks: ["conflict-behind"],
    make: appending(async (real, ref, request) => {
      const outcome = await real.append(ref, request);
      if (outcome.type === "conflict" && request.facts.length > 1)
        await real.append(ref, { expectedSeq: outcome.actualSeq, batchId: freshBatchId(), facts: request.facts.slice(0, 1) });
      return outcome;
    }),
  },
  {
    defect: "leaves room for what it has not seen",
    breaks: ["conflict-ahead", "conflict-forgets"],
    make: appending(async (real, ref, request) => {
      const { lastSeq } = await real.head(ref);
      return real.append(ref, request.expectedSeq > lastSeq + 1 ? { ...request, expectedSeq: lastSeq } : request);
    }),
  },
  {
    defect: "remembers the batches it refused",
    breaks: ["conflict-forgets"],
    make: spoiledLog((real) => {
      const refused = new Set<string>();
      return {
        async append(ref, request) {
          if (refused.has(request.batchId)) return { type: "dup", lastSeq: 0 };
          const outcome = await real.append(ref, request);
          if (outcome.type === "conflict" && (await real.head(ref)).lastSeq === 0) refused.add(request.batchId);
          return outcome;
        },
      };
    }),
  },
];

const rememberers: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "forgets batch ids",
    breaks: [
      "another-appends",
      "another-closes",
      "dup",
      "dup-at-tail",
      "dup-at-once",
      "dup-after-reopen",
      "dup-before-closed",
      "batch-ids",
      "dup-of-many",
      "dup-of-old",
      "dup-of-the-last",
      "unknown",
    ],
    make: appending((real, ref, request) => real.append(ref, { ...request, batchId: freshBatchId() })),
  },
  {
    defect: "answers a duplicate with the tail of today",
    breaks: ["another-closes", "dup", "dup-before-closed", "batch-ids", "dup-of-old"],
    make: appending(async (real, ref, request) => {
      const outcome = await real.append(ref, request);
      return outcome.type === "dup" ? { type: "dup", lastSeq: (await real.head(ref)).lastSeq } : outcome;
    }),
  },
  {
    defect: "looks for conflicts before duplicates",
    breaks: ["another-appends", "another-closes", "dup", "dup-before-closed", "batch-ids", "unknown"],
    make: appending(async (real, ref, request) => {
      const { lastSeq, epoch } = await real.head(ref);
      const outcome = await real.append(ref, request);
      const isFirst = outcome.type !== "dup" || request.expectedSeq === lastSeq;
      return isFirst || (request.epoch ?? epoch) !== epoch ? outcome : { type: "conflict", actualSeq: (await real.head(ref)).lastSeq };
    }),
  },
  {
    defect: "keeps batch ids for the whole scope",
    breaks: [
      "due-held-work",
      "dup-per-session",
      "many-sessions",
      "removed",
      "never-again",
      "reopen",
      "bad-ids",
      "due-default-limit",
      "due-limit",
      "due-order",
      "due-page-gone",
      "due-pages",
      "fence-race",
      "long-ids",
      "prefix-ids",
      "removed-twice",
      "set-due-off",
      "ruin-due",
      "ruin-due-after-reopen",
      "ruin-others",
    ],
    make: spoiledLog((real) => {
      const seen = new Map<string, string>();
      return {
        append(ref, request) {
          const key = `${ref.scope} ${request.batchId}`;
          const owner = seen.get(key) ?? ref.session;
          seen.set(key, owner);
          return owner === ref.session ? real.append(ref, request) : Promise.resolve({ type: "dup", lastSeq: 1 });
        },
      };
    }),
  },
  {
    defect: "forgets batch ids when it is closed",
    breaks: ["dup-after-reopen"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      return {
        ...honest,
        reopen: async () => ({ ...honest.log, append: (ref, request) => honest.log.append(ref, { ...request, batchId: freshBatchId() }) }),
      };
    },
  },
];

/** Defects of telling conflicts and duplicates. */
export const judgingSaboteurs: readonly Saboteur<LogUnderTest>[] = [...judges, ...rememberers];
