import { refKey } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { LogUnderTest } from "../../src/log/log-under-test.ts";
import { spoiledLog } from "./spoiled-log.ts";

/** Defects of reading and removing. */
export const lifeSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "does not know a session before its first fact",
    breaks: [
      "another-removes",
      "unknown-session",
      "read-beyond",
      "removed",
      "sessions-apart",
      "scopes-apart",
      "conflict-ahead",
      "fenced",
      "never-given",
      "read-none",
      "reads-make-nothing",
      "removed-claim",
    ],
    make: spoiledLog((real) => ({
      async read(ref, options) {
        const facts = await real.read(ref, options);
        if (facts.length === 0) throw new Error("Nothing there.");
        return facts;
      },
    })),
  },
  {
    defect: "does not count the facts",
    breaks: [
      "another-appends",
      "another-claims",
      "another-closes",
      "another-due",
      "another-read-first",
      "another-removes",
      "head",
      "corrupt-append",
      "fence-race",
    ],
    make: spoiledLog((real) => ({ head: async (ref) => ({ ...(await real.head(ref)), lastSeq: 0 }) })),
  },
  {
    defect: "reads after `from`",
    breaks: ["another-appends", "read-from", "read-limit", "read-all", "corrupt-read", "corrupt-tail"],
    make: spoiledLog((real) => ({
      read: (ref, options) => real.read(ref, options?.from ? { ...options, from: options.from + 1 } : options),
    })),
  },
  {
    defect: "reads one fact more than it may",
    breaks: ["read-limit", "unchanged"],
    make: spoiledLog((real) => ({
      read: (ref, options) => real.read(ref, options?.limit ? { ...options, limit: options.limit + 1 } : options),
    })),
  },
  {
    defect: "takes a limit of 0 for none",
    breaks: ["read-none"],
    make: spoiledLog((real) => ({
      read: (ref, options) => real.read(ref, options?.limit === 0 ? {} : options),
    })),
  },
  {
    defect: "reads four megabytes at most",
    breaks: ["read-large"],
    make: spoiledLog((real) => ({
      async read(ref, options) {
        const facts = await real.read(ref, options);
        let left = 4 * 1024 * 1024;
        return facts.filter((fact) => {
          left -= "title" in fact && fact.title ? fact.title.length : 0;
          return left > 0;
        });
      },
    })),
  },
  {
    defect: "remembers the batches of the removed",
    breaks: ["removed-batches"],
    make: spoiledLog((real) => {
      const written = new Set<string>();
      return {
        async append(ref, request) {
          const outcome = await real.append(ref, request);
          const key = `${ref.scope}/${ref.session}/${request.batchId}`;
          if (outcome.type === "ok") written.add(key);
          const isRemoved = outcome.type === "closed" && (await real.head(ref)).lastSeq === 0;
          return isRemoved && written.has(key) ? { type: "dup", lastSeq: 5 } : outcome;
        },
      };
    }),
  },
  {
    defect: "renews leases of the removed",
    breaks: ["another-removes", "removed-lease"],
    make: spoiledLog((real) => {
      const removed = new Set<string>();
      return {
        async remove(ref) {
          removed.add(ref.session);
          await real.remove(ref);
        },
        renew: async (ref, lease) => removed.has(ref.session) || real.renew(ref, lease),
      };
    }),
  },
  {
    defect: "brings a removed session back with a claim",
    breaks: ["removed-claim"],
    make: spoiledLog((real) => {
      const removed = new Set<string>();
      const reborn = new Set<string>();
      return {
        async remove(ref) {
          removed.add(ref.session);
          await real.remove(ref);
        },
        claim(ref, claim) {
          if (removed.has(ref.session)) reborn.add(ref.session);
          return real.claim(ref, claim);
        },
        append: (ref, request) => (reborn.has(ref.session) ? Promise.resolve({ type: "ok", lastSeq: 1 }) : real.append(ref, request)),
      };
    }),
  },
  {
    defect: "rejects a second removal",
    breaks: ["removed-twice"],
    make: spoiledLog((real) => {
      const removed = new Set<string>();
      return {
        async remove(ref) {
          if (removed.has(ref.session)) throw new Error("It is gone.");
          removed.add(ref.session);
          await real.remove(ref);
        },
      };
    }),
  },
  {
    defect: "forgets that a session was closed",
    breaks: ["closed-after-reopen"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      const { log } = honest;
      const append: typeof log.append = async (ref, request) => {
        const outcome = await log.append(ref, request);
        return outcome.type === "closed" && (await log.head(ref)).lastSeq > 0 ? { type: "ok", lastSeq: request.expectedSeq + 1 } : outcome;
      };
      return { ...honest, reopen: async () => ({ ...log, append }) };
    },
  },
  {
    defect: "reads the last fact again and again",
    breaks: ["read-beyond"],
    make: spoiledLog((real) => ({
      async read(ref, options) {
        const facts = await real.read(ref, options);
        return facts.length > 0 || !options?.from ? facts : (await real.read(ref)).slice(-1);
      },
    })),
  },
  {
    defect: "reads a thousand facts at most",
    breaks: ["read-all"],
    make: spoiledLog((real) => ({ read: (ref, options) => real.read(ref, { limit: 1_000, ...options }) })),
  },
  {
    defect: "hands out its own list",
    breaks: ["late-calls", "read-snapshot"],
    make: spoiledLog((real) => {
      const lists = new Map<string, Awaited<ReturnType<typeof real.read>>[number][]>();
      return {
        async read(ref, options) {
          if (options) return real.read(ref, options);
          const key = refKey(ref);
          const list = lists.get(key) ?? [];
          lists.set(key, list);
          list.splice(0, list.length, ...(await real.read(ref)));
          return list;
        },
        async append(ref, request) {
          const outcome = await real.append(ref, request);
          const list = lists.get(refKey(ref));
          if (outcome.type === "ok" && list) list.splice(0, list.length, ...(await real.read(ref)));
          return outcome;
        },
      };
    }),
  },
  {
    defect: "knows no scopes",
    breaks: ["scopes-apart", "due-apart"],
    make: spoiledLog((real) => ({
      append: (ref, request) => real.append(ref.scope === "other" ? { ...ref, scope: "local" } : ref, request),
      read: (ref, options) => real.read(ref.scope === "other" ? { ...ref, scope: "local" } : ref, options),
    })),
  },
  {
    defect: "takes any text for an id",
    breaks: ["bad-ids", "joined-ids", "long-ids", "prefix-ids"],
    make: spoiledLog((real) => ({
      append: (ref, request) => real.append({ ...ref, session: ref.session.replace(/[^a-z0-9]/g, "x").slice(0, 9) || "x" }, request),
    })),
  },
  {
    defect: "removes the whole scope",
    breaks: ["removed"],
    make: spoiledLog((real) => ({
      async remove(ref) {
        await real.remove(ref);
        const neighbour = { ...ref, session: "second" };
        if ((await real.read(neighbour)).length > 0) await real.remove(neighbour);
      },
    })),
  },
  {
    defect: "removes nothing",
    breaks: [
      "another-removes",
      "removed",
      "never-again",
      "reopen",
      "subscribe-removed",
      "due-removed",
      "removed-batches",
      "removed-claim",
      "removed-lease",
    ],
    make: spoiledLog(() => ({ async remove() {} })),
  },
  {
    defect: "forgets that a session was removed",
    breaks: [
      "another-removes",
      "never-again",
      "reopen",
      "subscribe-removed",
      "due-removed",
      "removed-batches",
      "removed-claim",
      "removed-lease",
    ],
    make: spoiledLog((real) => {
      const renamed = new Map<string, string>();
      const now = (ref: Parameters<typeof real.read>[0]): typeof ref => ({ ...ref, session: renamed.get(ref.session) ?? ref.session });
      return {
        append: (ref, request) => real.append(now(ref), request),
        read: (ref, options) => real.read(now(ref), options),
        head: (ref) => real.head(now(ref)),
        async remove(ref) {
          renamed.set(ref.session, `${ref.session}-again`);
        },
      };
    }),
  },
  {
    defect: "comes back empty",
    breaks: [
      "late-calls",
      "reopen",
      "dup-after-reopen",
      "closed-after-reopen",
      "corrupt-after-reopen",
      "corrupt-append-after-reopen",
      "tamper-reopen",
      "due-reopen",
      "ruin-due-after-reopen",
    ],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      return { ...honest, reopen: async () => (await spoiledLog(() => ({}))()).log };
    },
  },
  {
    defect: "gives the answers that a closing store owes to the store that is opened next",
    breaks: ["late-calls"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      const { log } = honest;
      let isClosing = false;
      let owed = 0;
      const late: typeof log.read = (ref, options) => {
        if (isClosing) owed++;
        return log.read(ref, options);
      };
      const next: typeof log.read = async (ref, options) => (owed-- > 0 ? [] : log.read(ref, options));
      return {
        ...honest,
        log: { ...log, read: late },
        async reopen() {
          isClosing = true;
          await Promise.resolve();
          isClosing = false;
          return { ...log, read: next };
        },
      };
    },
  },
];
