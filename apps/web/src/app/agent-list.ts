import type { AgentCard } from "@loopwright/client";
import { createWatched, type Watched } from "./watched.ts";

/** The agents of the server, once they are known. */
export interface AgentListState {
  readonly agents: readonly AgentCard[];
  /** Name of the agent that answers where none is named. */
  readonly default?: string;
}

export interface AgentList extends Watched<AgentListState> {
  /** Asks the server, unless it has answered already. A failure leaves the list empty: the next call asks again. */
  load(): Promise<void>;
}

/** The list that `ask` gives, asked once. */
export function createAgentList(ask: () => Promise<AgentListState>): AgentList {
  const { read, subscribe, put } = createWatched<AgentListState>({ agents: [] });
  let asking: Promise<void> | undefined;
  return {
    read,
    subscribe,
    load() {
      asking ??= ask().then(put, () => {
        asking = undefined;
      });
      return asking;
    },
  };
}
