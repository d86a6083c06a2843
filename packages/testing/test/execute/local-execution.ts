import { type AgentSession, createSession, execute } from "@loopwright/core";
import { memoryStore, randomIds } from "@loopwright/core/memory";
import type { ExecuteUnderTest } from "../../src/execute/execute-under-test.ts";

/** Retries wait for no jitter. */
const hasty = { ...randomIds, random: () => 0 };

/** Executions in this process, over a store in memory. */
export const localExecution: ExecuteUnderTest = {
  async serve(agent) {
    const store = memoryStore();
    const sessions = new Map<string, AgentSession>();
    const sessionOf = (id: string): AgentSession => {
      const session = sessions.get(id) ?? createSession({ agent, id, store, ids: hasty });
      sessions.set(id, session);
      return session;
    };
    return {
      execute: (id, input, options) => execute(sessionOf(id), input, options),
      decide: (id, callKey, decision) => sessionOf(id).decide(callKey, decision),
      transcript: async (id) => (await sessionOf(id).ready()).messages,
      async close() {
        for (const session of sessions.values()) await session[Symbol.asyncDispose]();
      },
    };
  },
};
