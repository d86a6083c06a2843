import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { timersOf } from "../../test/timers-of.ts";
import { eventStreamResponse } from "./event-stream-response.ts";

// Only what the stream itself uses: other code of this process keeps its real intervals and dates.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const text = (chunk: { readonly value?: Uint8Array | undefined }): string => new TextDecoder().decode(chunk.value);

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  const { body } = response;
  if (!body) throw new Error("There is no body.");
  return body.getReader();
}

it("reads a frame when the client has taken the one before", async () => {
  let made = 0;
  async function* frames() {
    for (; made < 3; made++) yield `data: ${made}\n\n`;
  }
  const response = eventStreamResponse(frames(), { headers: { "x-dialect": "v1" } });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("x-dialect")).toBe("v1");
  const reader = readerOf(response);
  await Promise.resolve();
  expect(made).toBe(0);
  expect(text(await reader.read())).toBe("data: 0\n\n");
  expect(made).toBe(0);
  expect(text(await reader.read())).toBe("data: 1\n\n");
  expect(text(await reader.read())).toBe("data: 2\n\n");
  expect((await reader.read()).done).toBe(true);
});

it("sends a comment after each 15 seconds without a frame, and loses no frame by it", async () => {
  const late = Promise.withResolvers<string>();
  async function* frames() {
    yield await late.promise;
  }
  const waiting = timersOf("event-stream-response.ts");
  const reader = readerOf(eventStreamResponse(frames()));
  for (let silence = 0; silence < 2; silence++) {
    const read = reader.read();
    await Promise.resolve();
    expect(waiting.size).toBe(1);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(text(await read)).toBe(": keep-alive\n\n");
  }
  const read = reader.read();
  late.resolve("data: late\n\n");
  expect(text(await read)).toBe("data: late\n\n");
  expect((await reader.read()).done).toBe(true);
  expect(waiting).toEqual(new Set());
});

it("reports a client that leaves before the end", async () => {
  const left = vi.fn();
  async function* frames() {
    for (let at = 0; ; at++) yield `data: ${at}\n\n`;
  }
  const reader = readerOf(eventStreamResponse(frames(), { left }));
  await reader.read();
  expect(left).not.toHaveBeenCalled();
  await reader.cancel();
  expect(left).toHaveBeenCalledOnce();
});
