import type { SessionRef } from "@loopwright/core";
import { type DueOptions, type DueSession, refKey, type SessionLog } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { appending, spoiledLog } from "./spoiled-log.ts";

/** A log whose list of due sessions was changed. */
function listing(change: (real: SessionLog, options: DueOptions) => Promise<readonly DueSession[]>): Make<LogUnderTest> {
  return spoiledLog((real) => ({ due: (options) => change(real, options) }));
}

async function dateOf(real: SessionLog, { scope, session }: SessionRef): Promise<number | undefined> {
  const all = await real.due({ now: Number.MAX_SAFE_INTEGER, limit: 1_000 });
  return all.find(({ ref }) => ref.scope === scope && ref.session === session)?.due;
}

/** A log whose appends with an outcome of this kind change the date all the same. */
function datingOn(type: "conflict" | "fenced" | "dup"): Make<LogUnderTest> {
  return appending(async (real, ref, request) => {
    const outcome = await real.append(ref, request);
    const { due } = request;
    if (outcome.type === type && due !== undefined) await real.setDue(ref, { expectedSeq: (await real.head(ref)).lastSeq, due });
    return outcome;
  });
}

/** A log that hides sessions from a claim until one of these gives them back. */
function hiding(shown: { readonly byRelease: boolean; readonly byAppend: boolean; readonly byTime: boolean }): Make<LogUnderTest> {
  return spoiledLog((real) => {
    const hidden = new Set<string>();
    return {
      claim(ref, claim) {
        hidden.add(refKey(ref));
        return real.claim(ref, claim);
      },
      release(ref, epoch) {
        if (shown.byRelease) hidden.delete(refKey(ref));
        return real.release(ref, epoch);
      },
      append(ref, request) {
        if (shown.byAppend && request.release) hidden.delete(refKey(ref));
        return real.append(ref, request);
      },
      async due(options) {
        const found = await real.due(options);
        return found.filter(({ ref }) => !hidden.has(refKey(ref)) || (shown.byTime && ref.session === "first"));
      },
    };
  });
}

const dates: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "takes the date 0 for none",
    breaks: ["due-now"],
    make: listing(async (real, options) => (await real.due(options)).filter(({ due }) => due)),
  },
  {
    defect: "takes a session without a date for due",
    breaks: ["due-kept", "due-none"],
    make: appending((real, ref, request) => real.append(ref, { due: 0, ...request })),
  },
  {
    defect: "is a millisecond late",
    breaks: ["due-closed", "due-date", "due-postponed", "due-sooner"],
    make: listing((real, options) => real.due({ ...options, now: options.now - 1 })),
  },
  {
    defect: "is a second early",
    breaks: ["due-early", "due-postponed"],
    make: listing((real, options) => real.due({ ...options, now: options.now + 1_000 })),
  },
  {
    defect: "forgets the date with every append that has none",
    breaks: ["due-kept"],
    make: appending((real, ref, request) => real.append(ref, { due: null, ...request })),
  },
  {
    defect: "takes `null` for no change",
    breaks: ["due-off"],
    make: appending((real, ref, { due, ...request }) =>
      real.append(ref, due === null || due === undefined ? request : { ...request, due }),
    ),
  },
  {
    defect: "keeps the first date",
    breaks: ["due-closed", "due-postponed", "due-sooner"],
    make: appending(async (real, ref, { due, ...request }) => {
      const known = await dateOf(real, ref);
      return real.append(ref, due === undefined || (known !== undefined && due !== null) ? request : { ...request, due });
    }),
  },
  {
    defect: "keeps the earliest date",
    breaks: ["due-closed", "due-postponed"],
    make: appending(async (real, ref, { due, ...request }) => {
      const known = await dateOf(real, ref);
      return real.append(ref, due === undefined || (known !== undefined && due !== null && due > known) ? request : { ...request, due });
    }),
  },
  { defect: "dates also what it refuses for a conflict", breaks: ["due-conflict"], make: datingOn("conflict") },
  { defect: "dates also what it fences", breaks: ["due-fenced"], make: datingOn("fenced") },
  { defect: "dates anew what is sent again", breaks: ["due-dup"], make: datingOn("dup") },
  {
    defect: "comes back without dates",
    breaks: ["due-reopen", "ruin-due-after-reopen"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      return { ...honest, reopen: async () => ({ ...honest.log, due: async () => [] }) };
    },
  },
];

const lists: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "knows the due sessions of one scope only",
    breaks: ["due-apart", "due-order", "due-pages"],
    make: listing(async (real, options) => (await real.due(options)).filter(({ ref }) => ref.scope === "local")),
  },
  {
    defect: "lists the due sessions by id alone",
    breaks: ["due-limit", "due-order", "due-pages"],
    make: listing(async (real, options) => {
      const all = await real.due({ ...options, limit: 1_000 });
      return all.toSorted((a, b) => (a.ref.session < b.ref.session ? -1 : 1)).slice(0, options.limit ?? 100);
    }),
  },
  {
    defect: "knows no limit",
    breaks: ["due-default-limit", "due-limit"],
    make: listing((real, options) => real.due({ ...options, limit: 1_000 })),
  },
  {
    defect: "names a thousand without being asked",
    breaks: ["due-default-limit"],
    make: listing((real, options) => real.due({ limit: 1_000, ...options })),
  },
  {
    defect: "continues after a date, not after a session",
    breaks: ["due-page-gone", "due-pages"],
    make: listing(async (real, { after, ...options }) => {
      const all = await real.due({ ...options, limit: 1_000 });
      return all.filter(({ due }) => !after || due > after.due).slice(0, options.limit ?? 100);
    }),
  },
  {
    defect: "looks for the last one of the page before among the due sessions",
    breaks: ["due-page-gone"],
    make: listing(async (real, { after, ...options }) => {
      const all = await real.due({ ...options, limit: 1_000 });
      const at = all.findIndex(({ ref }) => ref.session === after?.ref.session && ref.scope === after.ref.scope);
      return after && at < 0 ? [] : all.slice(at + 1).slice(0, options.limit ?? 100);
    }),
  },
];

const owners: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "names owned sessions too",
    breaks: ["another-due", "due-leased", "due-held-work"],
    make: spoiledLog((real, clock) => ({
      due(options) {
        clock.advance(100_000);
        return real.due(options);
      },
    })),
  },
  {
    defect: "hides a claimed session until it is given back",
    breaks: ["due-lease-over"],
    make: hiding({ byRelease: true, byAppend: true, byTime: false }),
  },
  {
    defect: "hides a claimed session for good",
    breaks: ["due-lease-over", "due-release", "due-release-in-append"],
    make: hiding({ byRelease: false, byAppend: false, byTime: false }),
  },
  {
    defect: "forgets in its list the release in an append",
    breaks: ["due-release-in-append", "fenced-before-dup"],
    make: appending((real, ref, { release: _release, ...request }) => real.append(ref, request)),
  },
];

const corrections: readonly Saboteur<LogUnderTest>[] = [
  { defect: "corrects no date", breaks: ["set-due", "set-due-off"], make: spoiledLog(() => ({ async setDue() {} })) },
  {
    defect: "takes no date away",
    breaks: ["set-due-off"],
    make: spoiledLog((real) => ({ setDue: async (ref, set) => (set.due === null ? undefined : real.setDue(ref, set)) })),
  },
  {
    defect: "corrects whatever was appended since",
    breaks: ["set-due-late"],
    make: spoiledLog((real) => ({
      setDue: async (ref, { due }) => real.setDue(ref, { due, expectedSeq: (await real.head(ref)).lastSeq }),
    })),
  },
  {
    defect: "makes a session in order to date it",
    breaks: ["due-removed", "set-due-unknown"],
    make: spoiledLog((real) => {
      const made: DueSession[] = [];
      return {
        async setDue(ref, set) {
          if (set.due !== null && (await real.head(ref)).lastSeq === 0) made.push({ ref, due: set.due });
          return real.setDue(ref, set);
        },
        due: async (options) => [...made, ...(await real.due(options))],
      };
    }),
  },
  {
    defect: "forgets the date of a session that is closed",
    breaks: ["due-closed"],
    make: spoiledLog((real) => ({
      append: async (ref, request) =>
        real.append(ref, request.facts.at(-1)?.type === "session.closed" ? { ...request, due: null } : request),
    })),
  },
  {
    defect: "lets the removed be due",
    breaks: ["due-removed"],
    make: spoiledLog((real) => {
      const removed: DueSession[] = [];
      return {
        async remove(ref) {
          removed.push(...(await real.due({ now: Number.MAX_SAFE_INTEGER })).filter((one) => one.ref.session === ref.session));
          return real.remove(ref);
        },
        due: async (options) => [...removed, ...(await real.due(options))],
      };
    }),
  },
];

/** Defects in the list of sessions that need an owner. */
export const dueSaboteurs: readonly Saboteur<LogUnderTest>[] = [...dates, ...lists, ...owners, ...corrections];
