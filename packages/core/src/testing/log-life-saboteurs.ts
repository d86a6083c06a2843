import type { LogUnderTest } from "./log-under-test.ts";
import type { Saboteur } from "./saboteur.ts";
import { spoiledLog } from "./spoiled-log.ts";

/** Defects of reading, removing and telling. */
export const lifeSaboteurs: readonly Saboteur<LogUnderTest>[] = [
  {
    defect: "does not know a session before its first fact",
    breaks: ["unknown-session", "read-beyond", "removed", "sessions-apart", "scopes-apart", "conflict-ahead", "fenced"],
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
    breaks: ["head"],
    make: spoiledLog((real) => ({ head: async (ref) => ({ ...(await real.head(ref)), lastSeq: 0 }) })),
  },
  {
    defect: "reads after `from`",
    breaks: ["read-from", "read-limit", "read-all"],
    make: spoiledLog((real) => ({
      read: (ref, options) => real.read(ref, options?.from ? { ...options, from: options.from + 1 } : options),
    })),
  },
  {
    defect: "reads one fact more than it may",
    breaks: ["read-limit"],
    make: spoiledLog((real) => ({
      read: (ref, options) => real.read(ref, options?.limit ? { ...options, limit: options.limit + 1 } : options),
    })),
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
    breaks: ["read-snapshot"],
    make: spoiledLog((real) => {
      const lists = new Map<string, Awaited<ReturnType<typeof real.read>>[number][]>();
      return {
        async read(ref, options) {
          if (options) return real.read(ref, options);
          const key = `${ref.scope}/${ref.session}`;
          const list = lists.get(key) ?? [];
          lists.set(key, list);
          list.splice(0, list.length, ...(await real.read(ref)));
          return list;
        },
        async append(ref, request) {
          const outcome = await real.append(ref, request);
          const list = lists.get(`${ref.scope}/${ref.session}`);
          if (outcome.type === "ok" && list) list.splice(0, list.length, ...(await real.read(ref)));
          return outcome;
        },
      };
    }),
  },
  {
    defect: "knows no scopes",
    breaks: ["scopes-apart"],
    make: spoiledLog((real) => ({
      append: (ref, request) => real.append(ref.scope === "other" ? { ...ref, scope: "local" } : ref, request),
      read: (ref, options) => real.read(ref.scope === "other" ? { ...ref, scope: "local" } : ref, options),
    })),
  },
  {
    defect: "takes any text for an id",
    breaks: ["bad-ids"],
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
    breaks: ["removed", "never-again", "reopen", "subscribe-removed"],
    make: spoiledLog(() => ({ async remove() {} })),
  },
  {
    defect: "forgets that a session was removed",
    breaks: ["never-again", "reopen", "subscribe-removed"],
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
    breaks: ["reopen", "dup-after-reopen"],
    make: async () => {
      const honest = await spoiledLog(() => ({}))();
      return { ...honest, reopen: async () => (await spoiledLog(() => ({}))()).log };
    },
  },
  {
    defect: "tells subscribers nothing",
    breaks: ["subscribe", "unsubscribe", "subscribe-removed"],
    make: spoiledLog(() => ({ subscribe: () => () => {} })),
  },
  {
    defect: "tells nobody of a removal",
    breaks: ["subscribe-removed"],
    make: spoiledLog((real) => ({
      subscribe: (ref, listener) => real.subscribe?.(ref, (lastSeq) => lastSeq > 0 && listener(lastSeq)) ?? (() => {}),
    })),
  },
  {
    defect: "tells everybody of every session",
    breaks: ["subscribe"],
    make: spoiledLog((real) => ({
      subscribe(ref, listener) {
        const stops = ["first", "second"].map((session) => real.subscribe?.({ ...ref, session }, listener));
        return () => {
          for (const stop of stops) stop?.();
        };
      },
    })),
  },
  {
    defect: "goes on telling those who left",
    breaks: ["unsubscribe"],
    make: spoiledLog((real) => ({
      subscribe(ref, listener) {
        real.subscribe?.(ref, listener);
        return () => {};
      },
    })),
  },
];
