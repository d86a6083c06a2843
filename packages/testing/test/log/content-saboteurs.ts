import type { FactDraft, SessionRef } from "@loopwright/core";
import { type AppendOutcome, refKey } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { appending, freshBatchId, spoiledLog } from "./spoiled-log.ts";

/** Changes every text of the facts on their way in. */
function rewriting(change: (text: string) => string): Make<LogUnderTest> {
  const rewrite = (facts: readonly FactDraft[]): readonly FactDraft[] =>
    JSON.parse(JSON.stringify(facts), (_key, value: unknown) => (typeof value === "string" ? change(value) : value));
  return appending((real, ref, request) => real.append(ref, { ...request, facts: rewrite(request.facts) }));
}

/** Copies a value by hand, and calls back at every object. */
function copyOf(value: unknown, set: (target: object, key: string, member: unknown) => void): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => copyOf(each, set));
  const copy = {};
  for (const [key, member] of Object.entries(value)) set(copy, key, copyOf(member, set));
  return copy;
}

function copying(set: (target: object, key: string, member: unknown) => void): Make<LogUnderTest> {
  const copyFacts = (facts: readonly FactDraft[]): readonly FactDraft[] => {
    const copied: FactDraft[] = [];
    for (const fact of facts) copied.push({ ...fact, ...Object(copyOf(fact, set)) });
    return copied;
  };
  return appending((real, ref, request) => real.append(ref, { ...request, facts: copyFacts(request.facts) }));
}

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

/** A log that knows sessions by another ref. */
function known(by: (ref: SessionRef) => SessionRef): Make<LogUnderTest> {
  return spoiledLog((real) => ({
    append: (ref, request) => real.append(by(ref), request),
    read: (ref, options) => real.read(by(ref), options),
  }));
}

const contents: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "drops half characters",
    breaks: ["surrogates"],
    make: rewriting((text) => text.replace(/\p{Surrogate}/gu, "")),
  },
  {
    defect: "joins the pieces of long text wrongly",
    breaks: ["long-unicode"],
    make: rewriting((text) => (text.length > 65_536 && /[^ -~]/.test(text) ? `${text.slice(0, 65_535)}\uFFFD${text.slice(65_536)}` : text)),
  },
  {
    defect: "writes nothing that is nested deeper than 62",
    breaks: ["depth"],
    make: appending(async (real, ref, request) => (depthOf(request.facts[0]) > 62 ? { type: "full" } : real.append(ref, request))),
  },
  {
    defect: "copies objects by assignment",
    breaks: ["proto-key"],
    make: copying((target, key, member) => Reflect.set(target, key, member)),
  },
  {
    defect: "takes an empty key for none",
    breaks: ["odd-keys"],
    make: copying((target, key, member) => {
      if (key !== "") Object.defineProperty(target, key, { value: member, enumerable: true });
    }),
  },
  {
    defect: "writes equal facts once",
    breaks: ["equal-facts", "own-numbers"],
    make: appending(async (real, ref, request) => {
      const facts = [...new Map(request.facts.map((fact) => [JSON.stringify(fact), fact])).values()];
      const isShorter = facts.length < request.facts.length;
      return real.append(ref, isShorter ? { ...request, facts } : request);
    }),
  },
  {
    defect: "keeps the newest title only",
    breaks: ["unchanged"],
    make: spoiledLog((real) => ({
      async read(ref, options) {
        const facts = await real.read(ref, options);
        const { lastSeq } = await real.head(ref);
        return options?.limit === 1 && lastSeq === 5 ? facts.map((fact) => ({ ...fact, title: "" })) : facts;
      },
    })),
  },
  {
    defect: "writes a batch in two halves",
    breaks: ["whole-batches"],
    make: spoiledLog((real) => ({
      async append(ref, request) {
        const { lastSeq } = await real.head(ref);
        if (request.facts.length !== 3 || lastSeq !== request.expectedSeq || request.epoch !== undefined) return real.append(ref, request);
        const half = await real.append(ref, { ...request, batchId: freshBatchId(), facts: request.facts.slice(0, 1) });
        for (let turn = 0; turn < 10; turn++) await Promise.resolve();
        return half.type === "ok" ? real.append(ref, { ...request, expectedSeq: half.lastSeq, facts: request.facts.slice(1) }) : half;
      },
    })),
  },
];

const names: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "knows the beginning of a batch id only",
    breaks: ["batch-ids"],
    make: appending((real, ref, request) => real.append(ref, { ...request, batchId: request.batchId.slice(0, 100) })),
  },
  {
    defect: "joins scope and session with a hyphen",
    breaks: ["joined-ids"],
    make: known(({ scope, session }) => {
      const [head = "", ...rest] = `${scope}-${session}`.split("-");
      return rest.length === 2 ? { scope: head, session: rest.join("-") } : { scope, session };
    }),
  },
  {
    defect: "removes by the beginning of an id",
    breaks: ["prefix-ids"],
    make: spoiledLog((real) => {
      const refs = new Map<string, SessionRef>();
      return {
        append(ref, request) {
          refs.set(refKey(ref), ref);
          return real.append(ref, request);
        },
        async remove(removed) {
          await real.remove(removed);
          for (const ref of refs.values())
            if (ref.scope === removed.scope && ref.session.startsWith(removed.session)) await real.remove(ref);
        },
      };
    }),
  },
  {
    defect: "knows 63 characters of an id",
    breaks: ["long-ids"],
    make: known(({ scope, session }) => ({ scope, session: session.length > 64 ? session : session.slice(0, 63) })),
  },
  {
    defect: "makes a session that it is asked about",
    breaks: ["reads-make-nothing"],
    make: spoiledLog((real) => ({
      async release(ref, epoch) {
        const { epoch: current } = await real.head(ref);
        if (current === 0 && ref.session === "second") await real.claim(ref, { node: "nobody", leaseMs: 1 });
        return real.release(ref, epoch);
      },
    })),
  },
  {
    defect: "forgets all but the last 256 batches",
    breaks: ["dup-of-old"],
    make: spoiledLog((real) => {
      const order: string[] = [];
      return {
        async append(ref, request): Promise<AppendOutcome> {
          const outcome = await real.append(ref, request);
          if (outcome.type === "ok") order.push(request.batchId);
          const isOld = outcome.type === "dup" && order.length > 256 && order.indexOf(request.batchId) < order.length - 256;
          return isOld ? real.append(ref, { ...request, batchId: freshBatchId() }) : outcome;
        },
      };
    }),
  },
  {
    defect: "takes other facts under a used batch id",
    breaks: ["dup-of-the-last", "unknown"],
    make: spoiledLog((real) => {
      const written = new Map<string, string>();
      return {
        async append(ref, request) {
          const outcome = await real.append(ref, request);
          const [key, text] = [`${ref.scope}/${ref.session}/${request.batchId}`, JSON.stringify(request.facts)];
          if (outcome.type === "ok") written.set(key, text);
          const differs = outcome.type === "dup" && written.get(key) !== text;
          return differs ? real.append(ref, { ...request, batchId: freshBatchId() }) : outcome;
        },
      };
    }),
  },
  {
    defect: "answers the fifth and later copies of a batch with a seq of their own",
    breaks: ["dup-of-many"],
    make: spoiledLog((real) => {
      let copies = 0;
      return {
        async append(ref, request) {
          const outcome = await real.append(ref, request);
          return outcome.type === "dup" && request.facts.length === 2 && ++copies > 4
            ? { ...outcome, lastSeq: outcome.lastSeq + 1 }
            : outcome;
        },
      };
    }),
  },
];

/** Defects of what facts and ids may be. */
export const contentSaboteurs: readonly Saboteur<LogUnderTest>[] = [...contents, ...names];
