import type { SessionSummary } from "@loopwright/core";
import type { IndexUnderTest } from "../../src/index/index-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import { spoiledIndex } from "./spoiled-index.ts";

/** Changes every summary on its way out, in lists, hits and by id. */
function summarising(change: (summary: SessionSummary) => SessionSummary): Make<IndexUnderTest> {
  return spoiledIndex((real) => ({
    list: async (scope, options) => (await real.list(scope, options)).map(change),
    async get(scope, id) {
      const summary = await real.get(scope, id);
      return summary && change(summary);
    },
    search: async (scope, query, options) =>
      (await real.search(scope, query, options)).map((hit) => ({ ...hit, session: change(hit.session) })),
  }));
}

/** Defects of lists and summaries. */
export const listSaboteurs: readonly Saboteur<IndexUnderTest>[] = [
  {
    defect: "invents a session for every caller",
    breaks: ["empty", "only-with-facts", "scopes-apart", "removed"],
    make: spoiledIndex((real) => ({
      get: async (scope, id) =>
        (await real.get(scope, id)) ?? { id, agent: "", status: "idle", createdAt: 0, updatedAt: 0, lastSeq: 0, messageCount: 0 },
    })),
  },
  {
    defect: "lists children with all others",
    breaks: ["children-apart", "children-paged", "children-rebuilt", "children-reopened"],
    make: spoiledIndex((real) => ({
      async list(scope, options) {
        const own = await real.list(scope, options);
        if (options?.parent !== undefined) return own;
        return [...(await real.list(scope, { ...options, parent: "root" })), ...own];
      },
    })),
  },
  {
    defect: "lists the same, whose children ever are asked for",
    breaks: ["children-apart", "children-paged", "children-rebuilt", "children-reopened"],
    make: spoiledIndex((real) => ({ list: (scope, { parent: _parent, ...options } = {}) => real.list(scope, options) })),
  },
  {
    defect: "forgets who a child belongs to",
    breaks: ["children-apart"],
    make: summarising(({ parent: _parent, ...summary }) => summary),
  },
  {
    defect: "finds children in a search",
    breaks: ["children-searched"],
    make: spoiledIndex((real) => ({
      async search(scope, query, options) {
        const below = await real.list(scope, { parent: "root" });
        return [...(await real.search(scope, query, options)), ...below.map((session) => ({ session, excerpt: query }))];
      },
    })),
  },
  {
    defect: "reads all children for a list",
    breaks: ["children-bounded"],
    make: spoiledIndex((real) => ({
      async list(scope, options) {
        if (options?.parent === undefined) await real.list(scope, { parent: "root" });
        return real.list(scope, options);
      },
    })),
  },
  {
    defect: "lists the oldest first",
    breaks: ["children-apart", "children-paged", "children-rebuilt", "children-reopened", "newest-first", "pages"],
    make: spoiledIndex((real) => ({ list: async (scope, options) => (await real.list(scope, options)).toReversed() })),
  },
  {
    defect: "pages on by the moment alone",
    breaks: ["children-apart", "children-paged", "children-rebuilt", "children-reopened", "pages", "list-bounded", "list-aborted"],
    make: spoiledIndex((real) => ({
      async list(scope, options) {
        const { before, limit } = options ?? {};
        const later = (await real.list(scope)).filter(({ updatedAt }) => !before || updatedAt < before.updatedAt);
        return later.slice(0, limit);
      },
    })),
  },
  {
    defect: "lists what was only claimed",
    breaks: ["only-with-facts"],
    make: spoiledIndex((real, log) => ({
      async list(scope, options) {
        const { epoch, lastSeq } = await log.head({ scope, session: "first" });
        const claimed: SessionSummary = { id: "first", agent: "", status: "idle", createdAt: 0, updatedAt: 0, lastSeq, messageCount: 0 };
        return epoch > 0 && lastSeq === 0 ? [claimed] : real.list(scope, options);
      },
    })),
  },
  {
    defect: "knows no scopes",
    breaks: ["scopes-apart"],
    make: spoiledIndex((real) => ({
      list: async (scope, options) => [...(await real.list(scope, options)), ...(await real.list("other", options))],
    })),
  },
  {
    defect: "finds what was removed",
    breaks: ["removed"],
    make: spoiledIndex((real, log) => {
      let seen: Awaited<ReturnType<typeof real.search>> = [];
      return {
        async search(scope, query, options) {
          const hits = await real.search(scope, query, options);
          const { lastSeq } = await log.head({ scope, session: "first" });
          if (lastSeq > 0) seen = hits;
          return lastSeq > 0 ? hits : [...seen, ...hits];
        },
      };
    }),
  },
  {
    defect: "counts no costs",
    breaks: ["summary"],
    make: summarising(({ cost: _cost, ...summary }) => summary),
  },
  {
    defect: "makes no titles",
    breaks: ["derived-title"],
    make: summarising((summary) => (summary.title?.startsWith("Tell") ? { ...summary, title: summary.title.slice(0, 12) } : summary)),
  },
  {
    defect: "calls waiting sessions running",
    breaks: ["status"],
    make: summarising((summary) => (summary.status === "waiting" ? { ...summary, status: "running" } : summary)),
  },
  {
    defect: "takes people for clients",
    breaks: ["waits-for"],
    make: summarising((summary) => (summary.waitsFor ? { ...summary, waitsFor: ["client_tools"] } : summary)),
  },
  {
    defect: "loses count when it begins anew",
    breaks: ["children-rebuilt", "rebuild"],
    make: spoiledIndex((real) => ({ rebuild: async (scope) => (await real.rebuild(scope)) - 1 })),
  },
  {
    defect: "comes back empty",
    breaks: ["children-reopened", "reopen", "ruin-reopen"],
    make: async () => ({ ...(await spoiledIndex(() => ({}))()), reopen: async () => (await spoiledIndex(() => ({}))()).index }),
  },
];
