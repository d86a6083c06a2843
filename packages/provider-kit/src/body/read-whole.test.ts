import { describe, expect, it } from "vitest";
import { modelTransport } from "../transport/model-transport.ts";
import { bodyLimits } from "./body-limits.ts";
import { readNdjson } from "./ndjson.ts";
import { readWholeJson, readWholeText } from "./read-whole.ts";
import { readSse } from "./sse.ts";

const tooLong = (limit: string, max: number) => ({ code: "MODEL_PROTOCOL", retryable: false, details: { limit, max } });

/** A body of `total` bytes in pieces, and whether it was left before its end. */
function bodyOf(total: number, pieceBytes = 1024 * 1024): { readonly body: ReadableStream<Uint8Array>; readonly isLeft: () => boolean } {
  const piece = new Uint8Array(pieceBytes).fill(120);
  let sent = 0;
  let left = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sent >= total) return controller.close();
        controller.enqueue(piece.subarray(0, Math.min(pieceBytes, total - sent)));
        sent += pieceBytes;
      },
      cancel: () => {
        left = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, isLeft: () => left };
}

describe("an answer in one piece", () => {
  it("may have as many bytes as its limit", async () => {
    const { body } = bodyOf(bodyLimits.wholeBytes);
    expect((await readWholeText(new Response(body))).length).toBe(bodyLimits.wholeBytes);
  });

  it("is refused over its limit, and the rest is left unread", async () => {
    const { body, isLeft } = bodyOf(bodyLimits.wholeBytes + 1);
    await expect(readWholeJson(new Response(body))).rejects.toMatchObject(tooLong("wholeBytes", bodyLimits.wholeBytes));
    expect(isLeft()).toBe(true);
  });

  it("is refused unread if its length is declared", async () => {
    const { body, isLeft } = bodyOf(10);
    const headers = { "content-length": String(bodyLimits.wholeBytes + 1) };
    await expect(readWholeText(new Response(body, { headers }))).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
    expect(isLeft()).toBe(true);
  });

  it("keeps characters that are cut between two pieces", async () => {
    const bytes = new TextEncoder().encode('{"say":"\u{1f30d}"}');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await readWholeJson(new Response(body))).toEqual({ say: "\u{1f30d}" });
  });

  it("is empty without a body", async () => {
    expect(await readWholeText(new Response(null))).toBe("");
  });
});

describe("a streamed answer", () => {
  const all = async (reads: AsyncIterable<unknown>): Promise<void> => {
    for await (const _ of reads);
  };

  it.each([
    ["server-sent events", readSse],
    ["lines of JSON", readNdjson],
  ])("of %s is refused over the limit of all its bytes", async (_, read) => {
    const comment = new TextEncoder().encode(": ping\n\n".repeat(100));
    let left = false;
    const cancel = (): void => {
      left = true;
    };
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(comment), cancel });
    const options = { streamBytesMax: comment.length * 10 };
    await expect(all(read(body, options))).rejects.toMatchObject(tooLong("streamBytes", options.streamBytesMax));
    expect(left).toBe(true);
  });
});

describe("the body of an error", () => {
  const answering =
    (body: ReadableStream<Uint8Array>, headers: Record<string, string> = {}): typeof fetch =>
    async () =>
      new Response(body, { status: 502, headers });

  it("is read up to its limit, and its status and headers are kept", async () => {
    const { body, isLeft } = bodyOf(200 * 1024 * 1024);
    const transport = modelTransport(answering(body, { "retry-after": "7", "content-length": "209715200" }), { provider: "Vendor" });
    const response = await transport("http://vendor.test");
    expect([response.status, response.headers.get("retry-after"), response.headers.get("content-length")]).toEqual([502, "7", null]);
    expect((await response.text()).length).toBe(bodyLimits.errorBytes);
    expect(isLeft()).toBe(true);
  });

  it("is used up to the point where it breaks off", async () => {
    const pieces = [new TextEncoder().encode("Bad gate")];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.error(new TypeError("terminated"));
      },
    });
    const response = await modelTransport(answering(body), { provider: "Vendor" })("http://vendor.test");
    expect([response.status, await response.text()]).toEqual([502, "Bad gate"]);
  });

  it("fails with the reason if the call is aborted meanwhile", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      pull(stream) {
        controller.abort(reason);
        stream.error(reason);
      },
    });
    const transport = modelTransport(answering(body), { provider: "Vendor" });
    await expect(transport("http://vendor.test", { signal: controller.signal })).rejects.toBe(reason);
  });
});
