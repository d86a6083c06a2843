import type { ExecuteResult } from "@loopwright/core/protocol";
import { type ComposedRun, composedRun } from "@loopwright/testing";
import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { UiChunk } from "./ui-chunk.ts";
import { UiChunks } from "./ui-chunks.ts";
import { uiMessagesOf } from "./ui-messages.ts";

const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const completed = { status: "completed", messages: [], text: "", output: undefined } as ExecuteResult;

/** What the SDK makes of a stream. It throws where a chunk does not fit. */
async function readBySdk(chunks: readonly UiChunk[], message?: UIMessage): Promise<UIMessage> {
  const { validate } = typeof uiMessageChunkSchema === "function" ? uiMessageChunkSchema() : uiMessageChunkSchema;
  for (const chunk of chunks) expect((await validate?.(chunk))?.success, JSON.stringify(chunk)).toBe(true);
  const stream = ReadableStream.from(chunks) as unknown as ReadableStream<UIMessageChunk>;
  let last = message;
  for await (const state of readUIMessageStream({ stream, terminateOnError: true, ...(message ? { message } : {}) })) last = state;
  if (!last) throw new Error("The stream has no message.");
  return last;
}

/** The parts without ids and fields that are not set. */
const plain = (parts: readonly object[]): unknown[] =>
  (JSON.parse(JSON.stringify(parts)) as Record<string, unknown>[]).map(({ type, text, state, toolCallId, input, output, errorText }) =>
    JSON.parse(JSON.stringify({ type, text, state, toolCallId, input, output, errorText })),
  );

const stored = ({ session }: ComposedRun): unknown[] => plain(uiMessagesOf(session).find(({ role }) => role === "assistant")?.parts ?? []);

it("gives a stream that the SDK accepts, and from which it makes the message that is stored", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const run = composedRun(seed);
      const chunks = new UiChunks({ runId: run.runId });
      const given = [...chunks.start(), ...run.events.flatMap((one) => chunks.take(one)), ...chunks.finish(completed)];
      const message = await readBySdk(given);
      expect(message.id).toBe(run.runId);
      expect(plain(message.parts)).toEqual(stored(run));
    }),
    { numRuns: 300 },
  );
});

it("continues the message of a page that has it up to the calls of a turn", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, fc.nat(1), async (seed, at) => {
      // The SDK shows a step with its first part.
      const run = composedRun(seed, { turnsMin: 2, beginsWithText: true });
      const { runId, events } = run;
      const afterTurn = at + 1;
      const first = new UiChunks({ runId });
      const end = events.findIndex((one) => one.type === "turn_start" && one.turn === afterTurn + 1);
      const known = events.slice(0, end === -1 ? events.length : end).filter(({ type }) => type !== "turn_end");
      const page = await readBySdk([...first.start(), ...known.flatMap((one) => first.take(one))]);
      const more = new UiChunks({ runId, afterTurn });
      const rest = [...more.start(), ...events.flatMap((one) => more.take(one)), ...more.finish(completed)];
      expect(plain((await readBySdk(rest, page)).parts)).toEqual(stored(run));
    }),
    { numRuns: 100 },
  );
});

it("closes what is open when a run is aborted or fails, at any event", async () => {
  await fc.assert(
    fc.asyncProperty(seeds, fc.nat(), async (seed, at) => {
      const { runId, events } = composedRun(seed, { turnsMax: 2 });
      const chunks = new UiChunks({ runId });
      const aborted = { status: "aborted", messages: [], text: "", error: { message: "Stopped.", fix: "" } } as unknown as ExecuteResult;
      const given = [
        ...chunks.start(),
        ...events.slice(0, at % events.length).flatMap((one) => chunks.take(one)),
        ...chunks.finish(aborted),
      ];
      const message = await readBySdk(given);
      for (const part of message.parts) if (part.type === "text" || part.type === "reasoning") expect(part.state).toBe("done");
      expect(given.at(-1)).toEqual({ type: "finish", finishReason: "interrupted" });
      expect(given.filter(({ type }) => type === "start-step")).toHaveLength(given.filter(({ type }) => type === "finish-step").length);
    }),
    { numRuns: 100 },
  );
});
