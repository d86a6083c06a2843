import { createClient, viewOf } from "@loopwright/client";
import { contextEngine } from "@loopwright/context";
import { createAgent, textOf } from "@loopwright/core";
import { fixedPrices, memoryStore, scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { expect, it } from "vitest";

const summaryUsage = { input: 1_000, output: 100 };
const asksForSummary = (text: string): boolean => /summar/i.test(text);

/** The input tokens that events report. */
const sumOf = (events: readonly object[]): number =>
  events.reduce((sum, event) => sum + ((event as { readonly usage?: { readonly input?: number } }).usage?.input ?? 0), 0);

it("a compaction is read over HTTP with its stretch, what is pinned, both sizes, the model of its summary, and what that cost", async () => {
  const provider = scripted(
    ({ messages, system }) =>
      asksForSummary(JSON.stringify([system, messages.at(-1)]))
        ? { text: "They plan a garden without a lawn.", usage: summaryUsage }
        : { text: "A long answer. ".repeat(40) },
    { capabilities: { contextTokens: 900 } },
  );
  const context = contextEngine({ compaction: { summary: true, pin: (message) => textOf(message).startsWith("Remember:") } });
  const prices = fixedPrices({ "scripted-1": { inputUsd: 1, outputUsd: 10 } });
  const agent = createAgent({ name: "planner", provider, context, prices });
  const server = createServer({ runtime: createRuntime({ agents: [agent], store: memoryStore() }), insecure: true });
  const client = createClient({ url: "http://localhost", fetch: (request) => server.fetch(request) });
  await client.sessions.create({ id: "garden" });
  for (const words of ["Plan a garden.", "Remember: no lawn.", "Beds?", "Paths?", "Trees?", "Herbs?", "Fences?", "Ponds?", "Sheds?"])
    await client.execute(words, { sessionId: "garden" }).result();

  const response = await server.fetch(
    new Request("http://localhost/api/sessions/garden/events", { headers: { Accept: "application/json" } }),
  );
  const { events } = (await response.json()) as { readonly events: readonly { readonly type: string; readonly seq: number }[] };
  const compactions = events.filter(({ type }) => type === "context_compacted");
  const [first] = compactions;
  expect(first).toMatchObject({
    from: expect.any(String),
    to: expect.any(String),
    summary: expect.stringContaining("without a lawn"),
    tokensBefore: expect.any(Number),
    tokensAfter: expect.any(Number),
    model: "scripted-1",
    usage: summaryUsage,
    cost: { totalUsd: 0.002 },
  });
  const sizes = first as unknown as { readonly tokensBefore: number; readonly tokensAfter: number };
  expect(sizes.tokensAfter).toBeLessThan(sizes.tokensBefore);
  const view = viewOf(await client.sessions.get("garden"));
  const remember = view.path.find(({ message }) => textOf(message) === "Remember: no lawn.")?.id;
  expect(compactions.flatMap((one) => (one as { readonly pinned?: readonly string[] }).pinned ?? [])).toContain(remember);
  // What the summaries took is part of the session's sum.
  expect(view.usage?.input).toBe(sumOf(events.filter(({ type }) => type === "message_end" || type === "context_compacted")));
  await server.close();
});
