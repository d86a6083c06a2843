import { AgentError } from "@loopwright/core";
import type { IndexUnderTest } from "../../src/index/index-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import { spoiledIndex } from "./spoiled-index.ts";

const unreadable = (): AgentError => new AgentError("STORE_UNAVAILABLE", { message: "Something in the store cannot be read." });
const none = (): Promise<never> => Promise.reject(unreadable());

/** Defects in the face of a session that cannot be read. */
export const ruinedIndexSaboteurs: readonly Saboteur<IndexUnderTest>[] = [
  {
    defect: "lists nothing as long as one session cannot be read",
    breaks: ["ruin-list", "ruin-rebuild", "ruin-reopen"],
    make: spoiledIndex((real, _, isRuined) => ({ list: (scope, options) => (isRuined() ? none() : real.list(scope, options)) })),
  },
  {
    defect: "finds nothing as long as one session cannot be read",
    breaks: ["ruin-list", "ruin-rebuild", "ruin-reopen"],
    make: spoiledIndex((real, _, isRuined) => ({
      search: (scope, query, options) => (isRuined() ? none() : real.search(scope, query, options)),
    })),
  },
  {
    defect: "cannot make the projection anew as long as one session cannot be read",
    breaks: ["ruin-rebuild"],
    make: spoiledIndex((real, _, isRuined) => ({ rebuild: (scope) => (isRuined() ? none() : real.rebuild(scope)) })),
  },
];
