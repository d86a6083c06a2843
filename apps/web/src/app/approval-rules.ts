import type { ApprovalRequests } from "@loopwright/client";
import type { ApprovalRule } from "@loopwright/core/protocol";
import { createWatched, type Watched } from "./watched.ts";

/** The decisions of this person that hold for later calls in all conversations. */
export interface ApprovalRulesState {
  /** Whether the server remembers decisions, once it is known. */
  readonly remembers: boolean;
  readonly rules: readonly ApprovalRule[];
}

export interface ApprovalRules extends Watched<ApprovalRulesState> {
  /** Asks the server, unless it has answered already. A failure changes nothing: the next call asks again. */
  load(): Promise<void>;
  /** Asks the server. @throws AgentError */
  reload(): Promise<void>;
  /** @throws AgentError */
  remove(id: string): Promise<void>;
}

/** The rules of a server; empty until the first `load` has been answered. */
export function createApprovalRules(source: Pick<ApprovalRequests, "rules" | "removeRule">): ApprovalRules {
  const { read, subscribe, put } = createWatched<ApprovalRulesState>({ remembers: false, rules: [] });
  let asking: Promise<void> | undefined;
  const reload = async (): Promise<void> => put(await source.rules());
  return {
    read,
    subscribe,
    reload,
    load() {
      asking ??= reload().catch(() => {
        asking = undefined;
      });
      return asking;
    },
    async remove(id) {
      await source.removeRule(id);
      await reload();
    },
  };
}
