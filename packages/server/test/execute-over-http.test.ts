import { createClient } from "@loopwright/client";
import { memoryStore, randomIds, silentLogger } from "@loopwright/core/memory";
import type { ExecuteOptions } from "@loopwright/core/protocol";
import { type ExecuteUnderTest, executeKit, runKit } from "@loopwright/testing";
import { describe, it } from "vitest";
import { listen } from "../src/node/index.ts";
import { serve } from "./serve.ts";
import { fromHere } from "./test-server.ts";

/** Retries of model calls wait for no jitter. */
const ids = { ...randomIds, random: () => 0 };

/** Agents behind a server in this process, or behind a port, and a client in front. */
function remoteExecution(hasPort: boolean): ExecuteUnderTest {
  return {
    async serve(agent) {
      const server = serve({ agents: [agent], store: memoryStore(), logger: silentLogger, ids });
      const listening = hasPort ? await listen(server) : undefined;
      const client = createClient(
        listening ? { url: listening.url } : { url: "http://localhost", fetch: (request) => server.fetch(request, fromHere) },
      );
      return {
        execute: (sessionId, input, options: ExecuteOptions = {}) => client.execute(input, { ...options, sessionId, agent: agent.name }),
        decide: (sessionId, callKey, { remember: _, ...decision }) => client.sessions.decide(sessionId, callKey, decision),
        async transcript(sessionId) {
          const { head, messages } = await client.sessions.get(sessionId);
          const byId = new Map(messages.map((message) => [message.id, message]));
          const path = [];
          for (let at = head === null ? undefined : byId.get(head); at; at = at.parent === null ? undefined : byId.get(at.parent))
            path.unshift(at.message);
          return path;
        },
        async close() {
          await server.close();
          await listening?.close();
        },
      };
    },
  };
}

describe("executions over HTTP within one process", () => runKit(it, executeKit, { make: async () => remoteExecution(false) }));
describe("executions over HTTP through a port", () => runKit(it, executeKit, { make: async () => remoteExecution(true) }));
