import { HttpAgent } from "@ag-ui/client";
import { pathOf } from "@loopwright/core/protocol";
import { simulatedRuns } from "@loopwright/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { AgUiEvent, AgUiMessage } from "./ag-ui-event.ts";
import { AgUiEvents } from "./ag-ui-events.ts";
import { threadMessages } from "./ag-ui-messages.ts";

/** The messages that the SDK makes of a stream. It throws where an event is not legal at its place. */
async function readBySdk(events: readonly AgUiEvent[]): Promise<readonly AgUiMessage[]> {
  const text = events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
  const fetchOf = async (): Promise<Response> => new Response(text, { headers: { "content-type": "text/event-stream" } });
  const agent = new HttpAgent({ url: "http://localhost", threadId: "t", fetch: fetchOf });
  await agent.runAgent({ runId: "page" });
  return agent.messages as unknown as readonly AgUiMessage[];
}

interface Shown extends AgUiMessage {
  readonly toolCalls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
}

/** Texts, calls and results, in the order of their ids: reasoning that came after text stands after it. */
const plain = (messages: readonly AgUiMessage[]): unknown[] =>
  (messages as readonly Shown[])
    .filter(({ role, content, toolCalls }) => role === "tool" || (role !== "user" && (Boolean(content) || toolCalls !== undefined)))
    .map(({ id, role, content, toolCalls = [], toolCallId }) => ({
      ...{ id, role, content: content ?? "", toolCallId },
      calls: toolCalls.map((call) => [call.id, call.function.name]),
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));

it("gives a stream of any simulated run that the SDK accepts, and from which it makes the messages that are stored", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
      for (const { runId, events, result, messages, snapshot } of simulatedRuns(seed)) {
        const mapped = new AgUiEvents({ threadId: "t", pageRunId: "page", runId, known: [] });
        const given = [...mapped.start(), ...events.flatMap((event) => mapped.take(event)), ...mapped.finish(result)];
        const seen = await readBySdk(given);
        const path = new Set(pathOf(snapshot).map(({ id }) => id));
        // Another branch may have left some of the run.
        if (messages.some(({ id }) => !path.has(id))) continue;
        const stored = threadMessages(snapshot).filter(({ id }) => id.startsWith(`${runId}.`));
        expect(plain(seen.filter(({ id }) => id.startsWith(`${runId}.`)))).toEqual(plain(stored));
        compared += 1;
      }
    }),
    // The same sessions in each run of the tests.
    { numRuns: 40, seed: 16 },
  );
  expect(compared).toBeGreaterThan(40);
});
