import { createParser } from "eventsource-parser";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bodyOf, cutAt, pieces } from "../../test/bodies.ts";
import { readSse, type SseEvent } from "./sse.ts";

async function read(body: ReadableStream<Uint8Array>): Promise<readonly SseEvent[]> {
  const events: SseEvent[] = [];
  for await (const batch of readSse(body)) {
    expect(batch.length).toBeGreaterThan(0);
    events.push(...batch);
  }
  return events;
}

function reference(text: string): readonly SseEvent[] {
  const events: SseEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event: event ?? "", data }) });
  parser.feed(text);
  return events;
}

const fragment = fc.oneof(
  fc.constantFrom(
    "data: ",
    "data:",
    "data",
    "event: ",
    "event:",
    "event",
    "id: 7",
    "retry: 5",
    ": note",
    ":",
    "datax: 1",
    "[DONE]",
    " ",
    "\0",
  ),
  fc.constantFrom('{"a":"b"}', "€", "𝄞", "é", "\u2028", "日本"),
  fc.string({ maxLength: 6, unit: "binary" }),
);
const lineEnd = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r");
const stream = fc.tuple(
  fc.constantFrom("", "", "\uFEFF"),
  fc.array(fc.oneof(fragment, lineEnd), { maxLength: 60 }).map((parts) => parts.join("")),
);

describe("readSse", () => {
  it("F2: agrees with eventsource-parser on any text, however its bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(stream, fc.array(fc.nat(1_000)), async ([mark, text], cuts) => {
        // Lone surrogates do not survive UTF-8: both sides get what does.
        const bytes = new TextEncoder().encode(mark + text);
        const decoded = new TextDecoder().decode(bytes);
        // eventsource-parser is lenient with a CR at the very end; both ends are made plain.
        expect(await read(bodyOf(cutAt(new TextEncoder().encode(`${mark + text}\n`), cuts)))).toEqual(reference(`${decoded}\n`));
      }),
      { numRuns: 400 },
    );
  });

  const text = '\uFEFFevent: a\r\ndata: {"t":"𝄞 é €"}\r\n\r\n: ping\r\rdata: 1\ndata:2\r\ndata\n\nid: 3\nretry: 9\n\ndata: [DONE]\n\n';
  const expected = [
    { event: "a", data: '{"t":"𝄞 é €"}' },
    { event: "", data: "1\n2\n" },
    { event: "", data: "[DONE]" },
  ];
  it.each([1, 2, 3, 5, 13, 1_000])("F2: gives the same events in pieces of %i bytes", async (size) => {
    expect(await read(bodyOf(pieces(text, size)))).toEqual(expected);
  });

  it("gives one array per read that completed an event", async () => {
    const batches: number[] = [];
    const body = bodyOf(["data: 1\n\ndata: 2\n\nda", "ta: 3", "\n\n", ": ping\n\n"].map((part) => new TextEncoder().encode(part)));
    for await (const batch of readSse(body)) batches.push(batch.length);
    expect(batches).toEqual([2, 1]);
  });

  it("drops an event without its blank line, so that a cut answer is never taken for a whole one", async () => {
    expect(await read(bodyOf(pieces("data: 1\n\ndata: 2\n", 4)))).toEqual([{ event: "", data: "1" }]);
  });

  it("forgets the name of an event without data", async () => {
    expect(await read(bodyOf(pieces("event: a\n\ndata: 1\n\n", 4)))).toEqual([{ event: "", data: "1" }]);
  });

  it("F2: reads a line of a million characters in one-byte reads", async () => {
    const long = "x".repeat(1_000_000);
    expect(await read(bodyOf(pieces(`data: ${long}\n\n`, 1)))).toEqual([{ event: "", data: long }]);
  });

  it("never looks at a pending line again before its end has come", async () => {
    // Work is counted and not timed: each character may be searched a fixed number of times.
    let searched = 0;
    const indexOf = String.prototype.indexOf;
    String.prototype.indexOf = function (this: string, needle: string, from = 0) {
      searched += this.length - from;
      return indexOf.call(this, needle, from);
    };
    const line = `data: ${"x".repeat(100_000)}\n\n`;
    try {
      await read(bodyOf(pieces(line, 10)));
    } finally {
      String.prototype.indexOf = indexOf;
    }
    expect(searched).toBeLessThan(line.length * 3);
  });

  it("cancels the body when the reader leaves early", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("data: 1\n\n")),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of readSse(body)) break;
    expect(cancelled).toBe(true);
  });

  it("passes on what the body throws, after the events that were whole", async () => {
    const events: SseEvent[] = [];
    let reads = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (reads++ === 0) controller.enqueue(new TextEncoder().encode("data: 1\n\ndata: 2"));
          else controller.error(new TypeError("terminated"));
        },
      },
      { highWaterMark: 0 },
    );
    const reading = (async () => {
      for await (const batch of readSse(body)) events.push(...batch);
    })();
    await expect(reading).rejects.toThrow("terminated");
    expect(events).toEqual([{ event: "", data: "1" }]);
  });

  it.each([
    ["a line", "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
    ["an event of many lines", "data: xx\ndata: xx\ndata: xx\ndata: xx\ndata: xx\ndata: xx\ndata: xx\n\n"],
  ])("refuses %s over the limit and cancels the body", async (_, endless) => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(endless)),
      cancel: () => {
        cancelled = true;
      },
    });
    const reading = (async () => {
      for await (const _batch of readSse(body, { pendingCharsMax: 16 }));
    })();
    await expect(reading).rejects.toMatchObject({ code: "MODEL_PROTOCOL", retryable: false });
    expect(cancelled).toBe(true);
  });
});
