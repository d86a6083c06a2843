import { AgentError, type Fact, isAgentError, type SessionRef } from "@loopwright/core";
import type { SessionLog } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { freshBatchId, spoiledLog } from "./spoiled-log.ts";

/** The facts that can be read one by one. */
async function soundFacts(real: SessionLog, ref: SessionRef, { from = 1, limit = 1_000 } = {}): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  for (let seq = from; seq <= (await real.head(ref)).lastSeq && facts.length < limit; seq++)
    facts.push(...(await real.read(ref, { from: seq, limit: 1 }).catch(() => [])));
  return facts;
}

/** A log that mends a damaged session in its own way when it is read. */
function reading(
  mend: (real: SessionLog, ref: SessionRef, options: { from?: number; limit?: number }) => Promise<readonly Fact[]>,
): Make<LogUnderTest> {
  return spoiledLog((real) => ({
    read: (ref, options = {}) =>
      real.read(ref, options).catch((error: unknown) => {
        if (!isAgentError(error, "SESSION_CORRUPT")) throw error;
        return mend(real, ref, options);
      }),
  }));
}

/** A log that takes facts behind the damage. */
function writingBehind(log: SessionLog): SessionLog {
  return {
    ...log,
    append: (ref, request) =>
      log.append(ref, request).catch((error: unknown) => {
        if (isAgentError(error, "SESSION_CORRUPT")) return { type: "ok", lastSeq: request.expectedSeq + request.facts.length };
        throw error;
      }),
  };
}

const damages: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "leaves damaged facts out",
    breaks: [
      ...["corrupt-after-reopen", "corrupt-append", "corrupt-append-after-reopen", "corrupt-append-another"],
      ...["corrupt-read", "corrupt-tail", "tamper-changed", "tamper-missing", "tamper-inserted"],
      ...["tamper-append", "tamper-another", "tamper-reopen"],
    ],
    make: reading((real, ref, options) => soundFacts(real, ref, options)),
  },
  {
    defect: "takes damage at the end for a torn write",
    breaks: ["corrupt-tail"],
    make: reading(async (real, ref, options) => {
      const { lastSeq } = await real.head(ref);
      const facts = await soundFacts(real, ref);
      if (facts.length === lastSeq - 1 && facts.at(-1)?.seq === lastSeq - 1) return facts.slice((options.from ?? 1) - 1);
      return real.read(ref, options);
    }),
  },
  {
    defect: "writes behind the damage",
    breaks: ["corrupt-append", "ruin-reported", "tamper-append"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      const { log } = honest;
      return { ...honest, log: writingBehind(log) };
    },
  },
  {
    defect: "knows of damage only until it is closed",
    breaks: ["corrupt-append-after-reopen"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      return { ...honest, reopen: async () => writingBehind(honest.log) };
    },
  },
  {
    defect: "notifies no other process of damage",
    breaks: ["corrupt-append-another"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      return { ...honest, another: async () => writingBehind(honest.log) };
    },
  },
  {
    defect: "closes the whole store for one damaged session",
    breaks: ["corrupt-others", "ruin-others"],
    make: spoiledLog((real) => {
      let isDamaged = false;
      return {
        async append(ref, request) {
          if (isDamaged) throw new AgentError("SESSION_CORRUPT", { message: "The store is damaged." });
          return real.append(ref, request);
        },
        async read(ref, options) {
          try {
            return await real.read(ref, options);
          } catch (error) {
            isDamaged = true;
            throw error;
          }
        },
      };
    }),
  },
  {
    defect: "forgets damage when it is closed",
    breaks: ["corrupt-after-reopen", "tamper-reopen"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      const { log } = honest;
      return { ...honest, reopen: async () => ({ ...log, read: (ref, options) => log.read(ref, options).catch(() => []) }) };
    },
  },
];

const shortages: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "writes what fits of a batch",
    breaks: ["full"],
    make: spoiledLog((real) => ({
      async append(ref, request) {
        const outcome = await real.append(ref, request);
        if (outcome.type === "full" && request.expectedSeq > 0)
          await real.append(ref, { ...request, batchId: freshBatchId(), facts: request.facts.slice(0, 1) });
        return outcome;
      },
    })),
  },
  {
    defect: "remembers the batches for which there was no space",
    breaks: ["full-again"],
    make: spoiledLog((real) => {
      const refused = new Set<string>();
      return {
        async append(ref, request) {
          if (refused.has(request.batchId)) return { type: "dup", lastSeq: 0 };
          const outcome = await real.append(ref, request);
          if (outcome.type === "full") refused.add(request.batchId);
          return outcome;
        },
      };
    }),
  },
  {
    defect: "tries again under another batch id when an answer is lost",
    breaks: ["unknown"],
    make: spoiledLog((real) => ({
      async append(ref, request) {
        const outcome = await real.append(ref, request);
        if (outcome.type !== "unknown") return outcome;
        const { lastSeq } = await real.head(ref);
        return real.append(ref, { ...request, batchId: freshBatchId(), expectedSeq: lastSeq });
      },
    })),
  },
];

/** Defects under damage, without space, and with lost answers. */
export const faultSaboteurs: readonly Saboteur<LogUnderTest>[] = [...damages, ...shortages];
