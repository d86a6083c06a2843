import type { IndexQuery, ListQuery } from "@loopwright/core/ports";
import type { IndexUnderTest } from "../../src/index/index-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import { spoiledIndex } from "./spoiled-index.ts";

const everything = { limit: Number.MAX_SAFE_INTEGER };

const deaf = <Query extends IndexQuery>({ signal: _, ...query }: Query): Omit<Query, "signal"> => query;

/** Defects of what an index costs, and of giving up. */
export const indexWorkSaboteurs: readonly Saboteur<IndexUnderTest>[] = [
  {
    defect: "looks at all sessions for each page",
    breaks: ["list-bounded"],
    make: spoiledIndex((real) => ({
      list: async (scope, options) => (await real.list(scope, { ...options, ...everything })).slice(0, options?.limit),
    })),
  },
  { defect: "looks at all sessions for each search", breaks: ["search-bounded"], make: spoiledIndex(() => ({}), Number.MAX_SAFE_INTEGER) },
  {
    defect: "lists for those that have gone",
    breaks: ["list-aborted"],
    make: spoiledIndex((real) => ({ list: (scope, options: ListQuery = {}) => real.list(scope, deaf(options)) })),
  },
  {
    defect: "searches for those that have gone",
    breaks: ["search-aborted"],
    make: spoiledIndex((real) => ({ search: (scope, query, options = {}) => real.search(scope, query, deaf(options)) })),
  },
];
