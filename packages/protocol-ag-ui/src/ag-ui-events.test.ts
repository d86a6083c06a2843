import { HttpAgent } from "@ag-ui/client";
import type { ExecuteResult } from "@loopwright/core/protocol";
import { type ComposedRun, composedRun } from "@loopwright/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { AgUiEvent, AgUiMessage } from "./ag-ui-event.ts";
import { AgUiEvents } from "./ag-ui-events.ts";
import { threadMessages } from "./ag-ui-messages.ts";

const completed = { status: "completed", messages: [], text: "", output: undefined } as ExecuteResult;
const user: AgUiMessage = { id: "m1", role: "user", content: "Hello" };
const options = { threadId: "t", pageRunId: "page" };
const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });

/** The messages that the SDK makes of a stream. It throws where an event is not legal at its place. */
async function readBySdk(events: readonly AgUiEvent[], known: readonly AgUiMessage[]): Promise<readonly AgUiMessage[]> {
  const text = events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
  const fetchOf = async (): Promise<Response> => new Response(text, { headers: { "content-type": "text/event-stream" } });
  const initialMessages = known as unknown as NonNullable<ConstructorParameters<typeof HttpAgent>[0]["initialMessages"]>;
  const agent = new HttpAgent({ url: "http://localhost", threadId: "t", initialMessages, fetch: fetchOf });
  await agent.runAgent({ runId: "page" });
  return agent.messages as unknown as readonly AgUiMessage[];
}

const parsed = (text: unknown): unknown => (typeof text === "string" ? JSON.parse(text) : text);

/** The messages of the answer, in the order of their ids: reasoning that came after text stands after it. Arguments as values, no empty texts. */
const plain = (messages: readonly AgUiMessage[]): unknown[] =>
  messages
    .filter(({ role }) => role !== "user")
    .map(({ error: _, toolCalls, content, ...message }) => ({
      ...message,
      content: content ?? "",
      calls: ((toolCalls ?? []) as readonly { id: string; function: { name: string; arguments: string } }[]).map(
        ({ id, function: called }) => [...[id, called.name, parsed(called.arguments)]],
      ),
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/** An answer without any part is none for the SDK. */
const isShown = ({ role, content, toolCalls }: AgUiMessage): boolean => role === "tool" || Boolean(content) || toolCalls !== undefined;
const stored = ({ session }: ComposedRun): unknown[] => plain(threadMessages(session).filter(isShown));

it("gives a stream that the SDK accepts, and from which it makes the messages that are stored", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const run = composedRun(seed);
      const mapped = new AgUiEvents({ ...options, runId: run.runId, known: [user] });
      const given = [...mapped.start(), ...run.events.flatMap((one) => mapped.take(one)), ...mapped.finish(completed)];
      expect(plain((await readBySdk(given, [user])).filter(isShown))).toEqual(stored(run));
    }),
    { numRuns: 200 },
  );
});

it("continues the run of a page that has it up to the calls of a turn", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, fc.nat(1), async (seed, at) => {
      const run = composedRun(seed, { turnsMin: 2 });
      const { runId, events } = run;
      const afterTurn = at + 1;
      const first = new AgUiEvents({ ...options, runId, known: [user] });
      const end = events.findIndex((one) => one.type === "turn_start" && one.turn === afterTurn + 1);
      const before = events.slice(0, end === -1 ? events.length : end);
      const page = await readBySdk([...first.start(), ...before.flatMap((one) => first.take(one)), ...first.finish(completed)], [user]);
      const more = new AgUiEvents({ ...options, runId, afterTurn, known: page });
      const rest = [...more.start(), ...events.flatMap((one) => more.take(one)), ...more.finish(completed)];
      expect(plain((await readBySdk(rest, page)).filter(isShown))).toEqual(stored(run));
    }),
    { numRuns: 100 },
  );
});

it("closes what is open when a run is aborted, at any event", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, fc.nat(), async (seed, at) => {
      const { runId, events } = composedRun(seed, { turnsMax: 2 });
      const mapped = new AgUiEvents({ ...options, runId, known: [user] });
      const aborted = { status: "aborted", messages: [], text: "", error: { message: "Stopped.", fix: "" } } as unknown as ExecuteResult;
      const given = [
        ...mapped.start(),
        ...events.slice(0, at % events.length).flatMap((one) => mapped.take(one)),
        ...mapped.finish(aborted),
      ];
      await readBySdk(given, [user]);
      expect(given.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "cancelled" } });
    }),
    { numRuns: 100 },
  );
});
