import { pathOf } from "@loopwright/core/protocol";
import { simulatedRuns } from "@loopwright/testing";
import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { UiChunk } from "./ui-chunk.ts";
import { UiChunks } from "./ui-chunks.ts";
import { uiMessagesOf } from "./ui-messages.ts";

/** What the SDK makes of a stream. It throws where a chunk does not fit. */
async function readBySdk(chunks: readonly UiChunk[]): Promise<UIMessage | undefined> {
  const { validate } = typeof uiMessageChunkSchema === "function" ? uiMessageChunkSchema() : uiMessageChunkSchema;
  for (const chunk of chunks) expect((await validate?.(chunk))?.success, JSON.stringify(chunk)).toBe(true);
  const stream = ReadableStream.from(chunks) as unknown as ReadableStream<UIMessageChunk>;
  let last: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream, terminateOnError: true })) last = state;
  return last;
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly output?: unknown;
  readonly state?: string;
}

/** Texts, and calls with what they gave: a denial without a request is an error in a stream, because the SDK knows a denial as the answer to a request alone. */
const plain = (parts: readonly object[]): unknown[] =>
  (JSON.parse(JSON.stringify(parts)) as Part[])
    // A message that came before the first answer is one of its own where the page reads the chat.
    .filter(({ type }) => type !== "step-start" && type !== "steering-message")
    .map(({ type, text, toolCallId, output, state }) => [
      type,
      text,
      toolCallId,
      output,
      state === "output-denied" ? "output-error" : state,
    ]);

it("gives a stream of any simulated run that the SDK accepts, and from which it makes the message that is stored", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 - 1 }), async (seed) => {
      for (const { runId, events, result, messages, snapshot } of simulatedRuns(seed)) {
        const path = new Set(pathOf(snapshot).map(({ id }) => id));
        const chunks = new UiChunks({ runId });
        const given = [...chunks.start(), ...events.flatMap((event) => chunks.take(event)), ...chunks.finish(result)];
        // The SDK throws the error of a failed run, after its parts.
        const message = await readBySdk(given.filter(({ type }) => type !== "error"));
        const stored = uiMessagesOf(snapshot).find(({ id, role }) => id === runId && role === "assistant");
        // Another branch may have left some of the run.
        if (!stored || messages.some(({ id }) => !path.has(id))) continue;
        expect(plain(message?.parts ?? [])).toEqual(plain(stored.parts));
        compared += 1;
      }
    }),
    // The same sessions in each run of the tests.
    { numRuns: 40, seed: 16 },
  );
  expect(compared).toBeGreaterThan(40);
});
