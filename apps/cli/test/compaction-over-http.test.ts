import { createClient } from "@loopwright/client";
import { contextEngine } from "@loopwright/context";
import { createAgent, textOf } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import type { DurableEvent } from "@loopwright/core/protocol";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { expect, it, onTestFinished } from "vitest";

/** A server whose agent has a small window, the engine, and a model of its own for summaries. */
function scene() {
  const summaries = scripted(() => ({ text: "They talked about gardens.", usage: { input: 300, output: 20 } }));
  const provider = scripted(() => ({ text: "A long answer. ".repeat(40) }), { capabilities: { contextTokens: 900 } });
  const context = contextEngine({
    compaction: { summary: { provider: summaries, model: "small-1" }, pin: (message) => textOf(message).startsWith("Remember:") },
  });
  const agent = createAgent({ name: "helper", provider, context });
  const server = createServer({ runtime: createRuntime({ agents: [agent], store: memoryStore() }) });
  onTestFinished(() => server.close());
  const fetch = async (request: Request): Promise<Response> => server.fetch(request, { remoteAddress: "127.0.0.1" });
  const read = async <T>(path: string): Promise<T> =>
    (await (await fetch(new Request(`http://localhost${path}`, { headers: { Accept: "application/json" } }))).json()) as T;
  return { client: createClient({ url: "http://localhost", fetch }), read };
}

interface Events {
  readonly events: readonly DurableEvent[];
}

const compactionsIn = (events: readonly DurableEvent[]) => events.filter((event) => event.type === "context_compacted");

it("a compaction has the same fields in the stream of its run, in the events of the session and in the view of the run", async () => {
  const { client, read } = scene();
  const streamed: DurableEvent[] = [];
  const runIds: string[] = [];
  for (const input of ["Plan a garden.", "Remember: no lawn.", "Trees?", "Herbs?", "Paths?", "Fences?", "Benches?", "Ponds?", "Sheds?"]) {
    const stream = client.execute(input, { sessionId: "garden", agent: "helper" });
    for await (const event of stream) if ("seq" in event) streamed.push(event);
    runIds.push((await stream.result()).runId ?? "");
  }
  const compactions = compactionsIn(streamed);
  const [first] = compactions;
  expect(first).toMatchObject({
    summary: "They talked about gardens.",
    model: "small-1",
    usage: { input: 300, output: 20 },
    from: expect.any(String),
    to: expect.any(String),
    tokensBefore: expect.any(Number),
    tokensAfter: expect.any(Number),
  });
  expect(compactions.flatMap(({ pinned = [] }) => pinned).length).toBeGreaterThan(0);
  for (const { tokensBefore = 0, tokensAfter = 0 } of compactions) expect(tokensAfter).toBeLessThan(tokensBefore);
  expect(compactionsIn((await read<Events>("/api/sessions/garden/events?limit=500")).events)).toEqual(compactions);
  const runs = await Promise.all(runIds.map((id) => read<Events>(`/api/sessions/garden/runs/${id}`)));
  expect(runs.flatMap(({ events }) => compactionsIn(events))).toEqual(compactions);
});
