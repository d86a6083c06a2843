import { pathOf, type SessionSnapshot } from "@loopwright/core/protocol";
import { simulatedRuns } from "@loopwright/testing";
import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { UiChunk } from "./ui-chunk.ts";
import { UiChunks } from "./ui-chunks.ts";
import { uiMessagesOf } from "./ui-messages.ts";

/** What the SDK makes of a stream. It throws where a chunk does not fit. */
async function readBySdk(chunks: readonly UiChunk[], message?: UIMessage): Promise<UIMessage | undefined> {
  const { validate } = typeof uiMessageChunkSchema === "function" ? uiMessageChunkSchema() : uiMessageChunkSchema;
  for (const chunk of chunks) expect((await validate?.(chunk))?.success, JSON.stringify(chunk)).toBe(true);
  const stream = ReadableStream.from(chunks) as unknown as ReadableStream<UIMessageChunk>;
  let last = message;
  for await (const state of readUIMessageStream({ stream, terminateOnError: true, ...(message ? { message } : {}) })) last = state;
  return last;
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly output?: unknown;
  readonly state?: string;
  readonly preliminary?: boolean;
}

/** Texts, and calls with what they gave: a denial without a request is an error in a stream, because the SDK knows a denial as the answer to a request alone. */
const plain = (parts: readonly object[]): unknown[] =>
  (JSON.parse(JSON.stringify(parts)) as Part[])
    // A message that came before the first answer is one of its own where the page reads the chat.
    .filter(({ type }) => type !== "step-start" && type !== "steering-message")
    .map(({ type, text, toolCallId, output, state, preliminary }) => {
      // What a tool has given so far is not stored before its end.
      const isOpen = preliminary === true;
      return [type, text, toolCallId, isOpen ? undefined : output, isOpen ? "input-available" : (storedStates[state ?? ""] ?? state)];
    });

/** A decision is stored with the result of its call. */
const storedStates: { readonly [state: string]: string } = { "output-denied": "output-error", "approval-responded": "input-available" };

/** Another branch has left some of the run. */
function isLeft(session: SessionSnapshot, runId: string): boolean {
  const path = new Set(pathOf(session).map(({ id }) => id));
  return session.messages.some((message) => message.runId === runId && !path.has(message.id));
}

it("gives a stream of any simulated run that the SDK accepts, and from which it makes the message that is stored", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
      for (const { runId, events, result, snapshot } of simulatedRuns(seed)) {
        const chunks = new UiChunks({ runId });
        const given = [...chunks.start(), ...events.flatMap((event) => chunks.take(event)), ...chunks.finish(result)];
        // The SDK throws the error of a failed run, after its parts.
        const message = await readBySdk(given.filter(({ type }) => type !== "error"));
        const stored = uiMessagesOf(snapshot).find(({ id, role }) => id === runId && role === "assistant");
        if (!stored || isLeft(snapshot, runId)) continue;
        expect(plain(message?.parts ?? [])).toEqual(plain(stored.parts));
        compared += 1;
      }
    }),
    // The same sessions in each run of the tests.
    { numRuns: 40, seed: 16 },
  );
  expect(compared).toBeGreaterThan(40);
});

it("continues any simulated run at a page that has it up to a question: the page has the message that is stored by then", async () => {
  let continued = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
      for (const { runId, executions } of simulatedRuns(seed)) {
        if (executions.length === 1) continue;
        let page: UIMessage | undefined;
        for (const [at, { events, result, snapshot }] of executions.entries()) {
          const before = executions.slice(0, at).flatMap((one) => one.events.filter((event) => "seq" in event));
          const turns = before.flatMap((event) => (event.type === "turn_start" ? [event.turn] : []));
          const afterTurn = turns.at(-1);
          const chunks = new UiChunks({ runId, ...(afterTurn === undefined ? {} : { afterTurn }) });
          const given = [...chunks.start(), ...[...before, ...events].flatMap((event) => chunks.take(event)), ...chunks.finish(result)];
          page = await readBySdk(
            given.filter(({ type }) => type !== "error"),
            page,
          );
          if (isLeft(snapshot, runId)) continue;
          const stored = uiMessagesOf(snapshot).find(({ id, role }) => id === runId && role === "assistant");
          expect(plain(page?.parts ?? [])).toEqual(plain(stored?.parts ?? []));
          if (at > 0) continued += 1;
        }
      }
    }),
    { numRuns: 60, seed: 16 },
  );
  expect(continued).toBeGreaterThan(20);
});
