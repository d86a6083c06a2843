import type { FactDraft } from "@loopwright/core";
import { appendLimits } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { appending, freshBatchId, spoiledLog } from "./spoiled-log.ts";

/** Changes the facts on their way in. */
function writing(change: (facts: readonly FactDraft[]) => readonly FactDraft[]): Make<LogUnderTest> {
  return appending((real, ref, request) => real.append(ref, { ...request, facts: change(request.facts) }));
}

/** Keys of the sample facts that a strict parser would know. */
const sampleKeys = ["nothing", "fraction", "large", "whole", "no", "list", "object", "deep"];

/** Defects of writing. */
export const writingSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "numbers from 0",
    breaks: ["first-seq", "gap-free", "own-numbers", "many-writers", "read-from", "read-limit", "reopen", "read-large"],
    make: spoiledLog((real) => ({
      read: async (ref, options) => (await real.read(ref, options)).map((fact) => ({ ...fact, seq: fact.seq - 1 })),
    })),
  },
  {
    defect: "turns a batch round",
    breaks: ["gap-free", "full-batch", "large-batch", "unknown-fields", "many-sessions", "dup-of-many", "read-large"],
    make: writing((facts) => facts.toReversed()),
  },
  {
    defect: "takes no more than 100 facts",
    breaks: ["full-batch", "no-oversized-batch", "read-all"],
    make: writing((facts) => facts.slice(0, 100)),
  },
  {
    defect: "cuts long text",
    breaks: ["large-fact", "large-batch", "no-oversized-fact", "no-oversized-sum", "full", "full-again", "long-unicode"],
    make: writing((facts) =>
      facts.map((fact) => (fact.type === "session.changed" && fact.title ? { ...fact, title: fact.title.slice(0, 65_536) } : fact)),
    ),
  },
  {
    defect: "has no room for 1 MiB at once",
    breaks: ["large-batch", "no-oversized-sum", "full-again", "read-large"],
    make: appending(async (real, ref, request) =>
      JSON.stringify(request.facts).length > 500_000 ? { type: "full" } : real.append(ref, request),
    ),
  },
  {
    defect: "takes a batch without facts",
    breaks: ["no-empty-batch"],
    make: appending(async (real, ref, request) => (request.facts.length === 0 ? { type: "ok", lastSeq: 0 } : real.append(ref, request))),
  },
  {
    defect: "splits a batch that is too large",
    breaks: ["no-oversized-batch"],
    make: appending(async (real, ref, request) => {
      if (request.facts.length <= 256) return real.append(ref, request);
      await real.append(ref, { ...request, facts: request.facts.slice(0, 256) });
      return real.append(ref, { ...request, batchId: freshBatchId(), expectedSeq: 256, facts: request.facts.slice(256) });
    }),
  },
  {
    defect: "leaves out facts that are too large",
    breaks: ["no-oversized-fact"],
    make: writing((facts) => facts.filter((fact) => new TextEncoder().encode(JSON.stringify(fact)).length < appendLimits.factBytes)),
  },
  {
    defect: "keeps to no limit of a batch's bytes",
    breaks: ["no-oversized-sum"],
    make: appending(async (real, ref, request) => {
      const half = request.facts.length >> 1;
      if (JSON.stringify(request.facts).length <= appendLimits.batchBytes) return real.append(ref, request);
      await real.append(ref, { ...request, facts: request.facts.slice(0, half) });
      return real.append(ref, {
        ...request,
        batchId: freshBatchId(),
        expectedSeq: request.expectedSeq + half,
        facts: request.facts.slice(half),
      });
    }),
  },
  {
    defect: "normalises text",
    breaks: ["unicode"],
    make: writing((facts) => JSON.parse(JSON.stringify(facts).normalize("NFC"))),
  },
  {
    defect: "drops what is null",
    breaks: ["json-values"],
    make: writing((facts) => JSON.parse(JSON.stringify(facts), (_key, value: unknown) => (value === null ? undefined : value))),
  },
  {
    defect: "drops fields it does not know",
    breaks: ["unknown-fields", "depth", "odd-keys", "proto-key"],
    make: writing((facts) =>
      facts.map((fact) => JSON.parse(JSON.stringify(fact, ["type", "title", "metadata", "at", "v", "epoch", "seq", ...sampleKeys]))),
    ),
  },
  {
    defect: "stamps facts itself",
    breaks: ["stamps"],
    make: writing((facts) => facts.map((fact) => ({ ...fact, v: fact.v === 7 ? 1 : fact.v }))),
  },
  {
    defect: "believes the caller's numbers",
    breaks: ["own-numbers"],
    make: spoiledLog((real) => {
      const believed = new Map<string, number>();
      return {
        append: (ref, request) => {
          for (const fact of request.facts)
            if ("seq" in fact && typeof fact.seq === "number") believed.set(JSON.stringify({ ...fact, seq: 0 }), fact.seq);
          return real.append(ref, request);
        },
        read: async (ref, options) =>
          (await real.read(ref, options)).map((fact) => ({ ...fact, seq: believed.get(JSON.stringify({ ...fact, seq: 0 })) ?? fact.seq })),
      };
    }),
  },
];
