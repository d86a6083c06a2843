import type { LoopwrightClient } from "@loopwright/client";
import type { ExecuteStream } from "@loopwright/core/protocol";
import { type SimulatedRun, simulatedRuns } from "@loopwright/testing";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler } from "@modelcontextprotocol/server";
import fc from "fast-check";
import { expect, it } from "vitest";
import { agentServer } from "../src/agent-server.ts";
import { modern } from "./mcp-server.ts";

/** A client of the server that has this run alone: each request to execute gives its next execution. */
function clientOf({ executions }: SimulatedRun): { readonly client: LoopwrightClient; readonly left: () => number } {
  const left = [...executions];
  const execute = (): ExecuteStream => {
    const execution = left.shift();
    if (!execution) throw new Error("The run has ended.");
    async function* events() {
      yield* execution?.events ?? [];
    }
    const stream = { sessionId: "simulated", result: async () => execution.result, abort: async () => false };
    return { ...stream, [Symbol.asyncIterator]: events } as unknown as ExecuteStream;
  };
  const sessions = { get: async () => ({ participants: ["anne"] }), decide: async () => ({}) };
  return { client: { execute, sessions } as unknown as LoopwrightClient, left: () => left.length };
}

/** A host of the SDK whose requests reach this server without a connection. It answers every question by yes. */
async function connect(client: LoopwrightClient): Promise<Client> {
  const agents = [{ name: "helper" }] as unknown as Parameters<typeof agentServer>[0]["agents"];
  const fetchOf: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const setup = { client, user: "anne", scope: "garden", headers: request.headers, signal: request.signal, running: new Map() };
    return createMcpHandler(() => agentServer({ agents, tools: undefined }, setup), { responseMode: "auto" }).fetch(request);
  };
  const host = new Client({ name: "host", version: "1.0.0" }, { ...modern, capabilities: { elicitation: {} } });
  host.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { allow: true } }));
  await host.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch: fetchOf }));
  return host;
}

it("gives an answer to each call of any simulated run that the SDK accepts: its text is that of the transcript, and the progress what was streamed", async () => {
  const statuses = { completed: 0, waiting: 0, failed: 0 };
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
      for (const run of simulatedRuns(seed)) {
        const { client, left } = clientOf(run);
        const host = await connect(client);
        // The SDK checks what is structured by the schema of the list.
        await host.listTools();
        while (left() > 0) {
          const first = run.executions.length - left();
          const pieces: string[] = [];
          const counts: number[] = [];
          const result = await host.callTool(
            { name: "ask_helper", arguments: { input: "Go." }, _meta: { "loopwright/idempotencyKey": run.runId } },
            {
              onprogress({ progress, message = "" }) {
                // The SDK itself reports that it asks.
                if (message.startsWith("Fulfilling input required")) return;
                pieces.push(message);
                counts.push(progress);
              },
            },
          );
          const given = run.executions.slice(first, run.executions.length - left());
          const streamed = given.flatMap(({ events }) => events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : [])));
          expect(pieces.join("")).toBe(streamed.join(""));
          if (given.length === 1) expect(counts).toEqual([...new Set(counts)].sort((one, other) => one - other));
          const { text, status } = result.structuredContent as { readonly text: string; readonly status: keyof typeof statuses };
          const { result: end } = given.at(-1) ?? {};
          expect(status).toBe(
            { completed: "completed", awaiting_tool_execution: "waiting", error: "failed", aborted: "failed" }[end?.status ?? "error"],
          );
          if (status === "failed") expect([result.isError, text]).toEqual([true, expect.stringContaining(end?.error?.code ?? "?")]);
          else
            expect(status === "completed" ? text : text.startsWith(end?.text.trim() ?? "?")).toBe(
              status === "completed" ? end?.text : true,
            );
          statuses[status] += 1;
        }
        await host.close();
      }
    }),
    { numRuns: 10, seed: 16 },
  );
  expect(Math.min(...Object.values(statuses)), JSON.stringify(statuses)).toBeGreaterThan(0);
});
