import { HttpAgent } from "@ag-ui/client";
import { pathOf, type SessionSnapshot } from "@loopwright/core/protocol";
import { simulatedRuns } from "@loopwright/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { AgUiEvent, AgUiMessage } from "./ag-ui-event.ts";
import { AgUiEvents } from "./ag-ui-events.ts";
import { threadMessages } from "./ag-ui-messages.ts";

type PageMessages = NonNullable<ConstructorParameters<typeof HttpAgent>[0]["initialMessages"]>;

/** The messages that the SDK makes of a stream for a page that has some. It throws where an event is not legal at its place. */
async function readBySdk(events: readonly AgUiEvent[], known: readonly AgUiMessage[] = []): Promise<readonly AgUiMessage[]> {
  const text = events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
  const fetchOf = async (): Promise<Response> => new Response(text, { headers: { "content-type": "text/event-stream" } });
  const agent = new HttpAgent({
    ...{ url: "http://localhost", threadId: "t", fetch: fetchOf },
    initialMessages: known as unknown as PageMessages,
  });
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

/** Another branch has left some of the run. */
function isLeft(session: SessionSnapshot, runId: string): boolean {
  const path = new Set(pathOf(session).map(({ id }) => id));
  return session.messages.some((message) => message.runId === runId && !path.has(message.id));
}

it("gives a stream of any simulated run that the SDK accepts, and from which it makes the messages that are stored", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
      for (const { runId, events, result, snapshot } of simulatedRuns(seed)) {
        const mapped = new AgUiEvents({ threadId: "t", pageRunId: "page", runId, known: [] });
        const given = [...mapped.start(), ...events.flatMap((event) => mapped.take(event)), ...mapped.finish(result)];
        const seen = await readBySdk(given);
        if (isLeft(snapshot, runId)) continue;
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

it("continues any simulated run at a page that has it up to a question: the page has the messages that are stored by then", async () => {
  let continued = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
      for (const { runId, executions } of simulatedRuns(seed)) {
        if (executions.length === 1) continue;
        let page: readonly AgUiMessage[] = [];
        for (const [at, { events, result, snapshot }] of executions.entries()) {
          const before = executions.slice(0, at).flatMap((one) => one.events.filter((event) => "seq" in event));
          const turns = before.flatMap((event) => (event.type === "turn_start" ? [event.turn] : []));
          const afterTurn = turns.at(-1);
          const mapped = new AgUiEvents({
            ...{ threadId: "t", pageRunId: `page${at}`, runId, known: page },
            ...(afterTurn === undefined ? {} : { afterTurn }),
          });
          const given = [...mapped.start(), ...[...before, ...events].flatMap((event) => mapped.take(event)), ...mapped.finish(result)];
          page = await readBySdk(given, page);
          if (isLeft(snapshot, runId)) continue;
          const stored = threadMessages(snapshot).filter(({ id }) => id.startsWith(`${runId}.`));
          expect(plain(page.filter(({ id }) => id.startsWith(`${runId}.`)))).toEqual(plain(stored));
          if (at > 0) continued += 1;
        }
      }
    }),
    { numRuns: 60, seed: 16 },
  );
  expect(continued).toBeGreaterThan(20);
});
