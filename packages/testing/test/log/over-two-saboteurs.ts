import type { SessionRef } from "@loopwright/core";
import { type AppendRequest, refKey, type SessionLog } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make, StoreKit } from "../../src/kit/store-case.ts";
import { idOverTwo } from "../../src/log/log-over-two.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { faultyLog } from "./faulty-log.ts";
import { freshBatchId } from "./spoiled-log.ts";

const subscribed = ["subscribe", "subscribe-refused", "subscribe-scopes", "subscribe-twice", "subscribe-written"];
const unsubscribed = ["unsubscribe", "unsubscribe-inside"];
const written = ["closed", "conflict-behind", "dup", "dup-at-tail", "dup-of-many", "dup-of-the-last", "owner-conflict", "owner-writes"];

/**
 * What a defect breaks over two processes where that is not what it breaks in one: the sessions of both schedules lie in one store, so that a defect that
 * confuses sessions breaks more, and one that knows a session by its name breaks less.
 */
const otherwise: { readonly [defect: string]: readonly string[] } = {
  "remembers the batches it refused": ["conflict-ahead", "conflict-forgets"],
  "takes any text for an id": [
    ...[...written, "fenced", "fenced-before-dup", "never-given", "never-again", "removed", "removed-batches", "removed-claim"],
    ...[...subscribed, ...unsubscribed],
  ],
  "removes the whole scope": [],
  "notifies of a fact before it is written": [],
  "notifies of sessions of one id in all scopes": [...subscribed, ...unsubscribed, "subscribe-removed"],
  "notifies every subscriber of every session": [...subscribed, ...unsubscribed, "subscribe-removed"],
  "counts epochs over all sessions": [
    ...["epochs-rise", "first-claim", "leases-apart", "own-claim", "release", "release-in-append", "release-twice"],
  ],
};

/** Saboteurs of one process, which break what they break over two processes as well. */
export function brokenOverTwo(
  kit: StoreKit<LogUnderTest>,
  saboteurs: readonly Saboteur<LogUnderTest>[],
): readonly Saboteur<LogUnderTest>[] {
  const ids = new Set(kit.map(({ id }) => id));
  return saboteurs.map((each) => {
    const more = (otherwise[each.defect] ?? each.breaks).map(idOverTwo).filter((id) => ids.has(id));
    return { ...each, breaks: [...each.breaks, ...more] };
  });
}

/** A log in memory that each process sees in its own way: `spoil` is asked anew for every one of them. */
function perProcess(spoil: (real: SessionLog) => Partial<SessionLog>): Make<LogUnderTest> {
  return async () => {
    const { clock: _, log: real, ...subject } = faultyLog();
    const open = (): SessionLog => ({ ...real, ...spoil(real) });
    const log = open();
    return { ...subject, log, reopen: async () => log, another: async () => open() };
  };
}

const over = (...ids: readonly string[]): readonly string[] => ids.map(idOverTwo);

/** Defects that show only where two processes have one store open. */
export const logOverTwoSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "trusts the epoch that its own process was given last",
    breaks: [
      "another-claims",
      ...over("fenced", "fenced-before-closed", "fenced-before-conflict", "fenced-before-dup", "fenced-keeps-lease"),
    ],
    make: perProcess((real) => {
      const epochs = new Map<string, number>();
      return {
        async claim(ref, claim) {
          const answer = await real.claim(ref, claim);
          if (answer.type === "claimed") epochs.set(refKey(ref), answer.epoch);
          return answer;
        },
        async append(ref, request) {
          const isTrusted = request.epoch !== undefined && epochs.get(refKey(ref)) === request.epoch;
          return real.append(ref, isTrusted ? { ...request, epoch: (await real.head(ref)).epoch } : request);
        },
      };
    }),
  },
  {
    defect: "remembers only the batches of its own process",
    breaks: ["another-appends", ...over("dup", "dup-at-once", "dup-at-tail", "dup-before-closed", "dup-of-many", "dup-of-the-last")],
    make: perProcess((real) => {
      const own = new Set<string>();
      return {
        async append(ref, request) {
          const name = `${refKey(ref)} ${request.batchId}`;
          const isOwn = own.has(name);
          own.add(name);
          const outcome = await real.append(ref, request);
          if (outcome.type !== "dup" || isOwn) return outcome;
          return real.append(ref, { ...request, batchId: freshBatchId() });
        },
      };
    }),
  },
  {
    defect: "trusts the tail that its own process has seen last",
    breaks: ["another-appends", "one-of-two", ...over("conflict-behind", "owner-conflict")],
    make: perProcess((real) => {
      const tails = new Map<string, number>();
      return {
        async append(ref, request) {
          const isTrusted = (tails.get(refKey(ref)) ?? 0) === request.expectedSeq;
          const outcome = await real.append(ref, request);
          if ("lastSeq" in outcome) tails.set(refKey(ref), outcome.lastSeq);
          if (outcome.type !== "conflict" || !isTrusted) return outcome;
          tails.set(refKey(ref), outcome.actualSeq);
          return outcome.actualSeq > request.expectedSeq ? real.append(ref, { ...request, expectedSeq: outcome.actualSeq }) : outcome;
        },
      };
    }),
  },
  {
    defect: "knows a session as closed only in the process that closed it",
    breaks: ["another-closes", ...over("closed", "closed-before-conflict")],
    make: perProcess((real) => {
      const closed = new Set<string>();
      const closes = ({ facts }: AppendRequest): boolean => facts.some(({ type }) => type === "session.closed");
      return {
        async append(ref, request) {
          if (closes(request)) closed.add(refKey(ref));
          const outcome = await real.append(ref, request);
          if (outcome.type !== "closed" || closed.has(refKey(ref)) || (await real.head(ref)).lastSeq === 0) return outcome;
          return { type: "ok", lastSeq: request.expectedSeq + request.facts.length };
        },
      };
    }),
  },
  {
    defect: "knows a session as removed only in the process that removed it",
    breaks: ["another-removes", ...over("never-again", "removed-batches", "removed-claim")],
    make: perProcess((real) => {
      const removed = new Set<string>();
      return {
        async remove(ref) {
          removed.add(refKey(ref));
          await real.remove(ref);
        },
        async append(ref, request) {
          const outcome = await real.append(ref, request);
          if (outcome.type !== "closed" || removed.has(refKey(ref)) || (await real.head(ref)).lastSeq > 0) return outcome;
          return { type: "ok", lastSeq: request.expectedSeq + request.facts.length };
        },
      };
    }),
  },
  {
    defect: "notifies its listeners only of what their own process appends",
    breaks: [
      ...["subscribe-again", "subscribe-again-early"],
      ...over("subscribe", "subscribe-refused", "subscribe-removed", "subscribe-scopes", "subscribe-twice", "subscribe-written"),
      ...over("unsubscribe-inside", "unsubscribe"),
    ],
    make: perProcess((real) => {
      const listeners = new Map<string, Set<(lastSeq: number) => void>>();
      const notify = (ref: SessionRef, lastSeq: number): void => {
        for (const listener of listeners.get(refKey(ref)) ?? []) listener(lastSeq);
      };
      return {
        async append(ref, request) {
          const outcome = await real.append(ref, request);
          if (outcome.type === "ok") notify(ref, outcome.lastSeq);
          return outcome;
        },
        async remove(ref) {
          await real.remove(ref);
          notify(ref, 0);
        },
        subscribe(ref, listener) {
          const own = (lastSeq: number): void => listener(lastSeq);
          const all = listeners.get(refKey(ref)) ?? new Set();
          listeners.set(refKey(ref), all.add(own));
          return () => all.delete(own);
        },
      };
    }),
  },
  {
    defect: "takes the tail that its own process has written for the tail",
    breaks: ["another-appends"],
    make: perProcess((real) => {
      const tails = new Map<string, number>();
      return {
        async append(ref, request) {
          const isOwnTail = tails.get(refKey(ref)) === request.expectedSeq;
          const outcome = await real.append(ref, request);
          const written =
            outcome.type === "conflict" && isOwnTail ? await real.append(ref, { ...request, expectedSeq: outcome.actualSeq }) : outcome;
          if (written.type === "ok") tails.set(refKey(ref), written.lastSeq);
          return written;
        },
      };
    }),
  },
  {
    defect: "reads again what its own process has read, until it writes",
    breaks: [
      ...["another-read-first", "subscribe-written-over-two"],
      ...["tamper-changed", "tamper-missing", "tamper-inserted", "tamper-append", "tamper-reopen"],
    ],
    make: perProcess((real) => {
      const read = new Map<string, ReturnType<SessionLog["read"]>>();
      return {
        async append(ref, request) {
          read.delete(refKey(ref));
          return real.append(ref, request).finally(() => read.delete(refKey(ref)));
        },
        async remove(ref) {
          read.delete(refKey(ref));
          await real.remove(ref);
        },
        async read(ref, options) {
          if (options) return real.read(ref, options);
          const facts = read.get(refKey(ref)) ?? real.read(ref);
          // An empty log and one that cannot be read are looked at anew.
          if ((await facts).length > 0) read.set(refKey(ref), facts);
          return facts;
        },
      };
    }),
  },
  {
    defect: "knows only the dates that its own process has given",
    breaks: ["another-due"],
    make: perProcess((real) => {
      const dated = new Set<string>();
      return {
        append(ref, request) {
          if (request.due !== undefined) dated.add(refKey(ref));
          return real.append(ref, request);
        },
        setDue(ref, options) {
          dated.add(refKey(ref));
          return real.setDue(ref, options);
        },
        due: async (options) => (await real.due(options)).filter(({ ref }) => dated.has(refKey(ref))),
      };
    }),
  },
];

/** The same of leases. */
export const leaseOverTwoSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "sees only the leases that its own process was given",
    breaks: [
      ...over("command-keeps-lease", "expiry", "held-changes-nothing", "late-renew", "lease-length", "one-holder", "outage"),
      ...over("refused-keeps-lease", "remaining", "renew-ahead", "renew", "two-claimants"),
    ],
    make: perProcess((real) => {
      const own = new Set<string>();
      return {
        async claim(ref, claim) {
          const answer = await real.claim(ref, claim);
          if (answer.type === "claimed") own.add(refKey(ref));
          if (answer.type === "claimed" || own.has(refKey(ref))) return answer;
          await real.release(ref, (await real.head(ref)).epoch);
          own.add(refKey(ref));
          return real.claim(ref, claim);
        },
      };
    }),
  },
  {
    defect: "renews whatever its own process was given last",
    breaks: over("renew-after-take-over", "renew-many"),
    make: perProcess((real) => {
      const epochs = new Map<string, number>();
      return {
        async claim(ref, claim) {
          const answer = await real.claim(ref, claim);
          if (answer.type === "claimed") epochs.set(refKey(ref), answer.epoch);
          return answer;
        },
        async renew(ref, lease) {
          const isTrusted = epochs.get(refKey(ref)) === lease.epoch;
          return real.renew(ref, isTrusted ? { ...lease, epoch: (await real.head(ref)).epoch } : lease);
        },
      };
    }),
  },
  {
    defect: "releases what another process holds by now",
    breaks: over("release-old"),
    make: perProcess((real) => {
      const epochs = new Map<string, number>();
      return {
        async claim(ref, claim) {
          const answer = await real.claim(ref, claim);
          if (answer.type === "claimed") epochs.set(refKey(ref), answer.epoch);
          return answer;
        },
        release: async (ref, epoch) => real.release(ref, epochs.get(refKey(ref)) === epoch ? (await real.head(ref)).epoch : epoch),
      };
    }),
  },
];
