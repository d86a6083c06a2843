import type { AgentCard } from "@loopwright/client";

/** The agents of the server, once they are known. */
export interface AgentListState {
  readonly agents: readonly AgentCard[];
  /** Name of the agent that answers where none is named. */
  readonly default?: string;
}

export interface AgentList {
  read(): AgentListState;
  subscribe(listener: () => void): () => void;
  /** Asks the server, unless it has answered already. A failure leaves the list empty: the next call asks again. */
  load(): Promise<void>;
}

/** The list that `ask` gives, asked once. */
export function createAgentList(ask: () => Promise<{ readonly agents: readonly AgentCard[]; readonly default: string }>): AgentList {
  let state: AgentListState = { agents: [] };
  let asking: Promise<void> | undefined;
  const listeners = new Set<() => void>();
  return {
    read: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    load() {
      asking ??= ask().then(
        (answer) => {
          state = answer;
          for (const listener of listeners) listener();
        },
        () => {
          asking = undefined;
        },
      );
      return asking;
    },
  };
}
