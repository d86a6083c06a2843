import { AgentError, type ModelChunk } from "@loopwright/core";
import type { ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { collectAnswer } from "@loopwright/testing";
import { describe, expect, it, vi } from "vitest";
import { drainBytesMax } from "../body/byte-source.ts";
import { ndjson, sse } from "../body/framing.ts";
import { streamBroken } from "../errors/error-from-fetch.ts";
import { errorFromStatus } from "../errors/error-from-status.ts";
import { createStreamingProvider } from "./create-streaming-provider.ts";
import type { StreamingVendor, VendorConnection } from "./streaming-vendor.ts";

interface LittleEvent {
  readonly say?: string;
  readonly ping?: true;
  readonly end?: true;
}

const request: ModelRequest = { model: "little-1", messages: [{ role: "user", content: "Hello." }] };
const capabilities = { streaming: true, tools: true, vision: false, promptCaching: false };

type Little = StreamingVendor<{ readonly data: string }, LittleEvent, string>;

interface Changes extends Partial<Little> {
  readonly connection?: Partial<VendorConnection<string>>;
}

/** A vendor that sends words and then its end, one server-sent event each. */
function littleVendor(transport: typeof fetch, { connection, ...own }: Changes = {}): Little {
  return {
    name: "little",
    label: "Little",
    defaultModel: "little-1",
    transport,
    framing: sse,
    capabilities: () => capabilities,
    bodyOf: (_, { streaming }) => JSON.stringify({ streaming }),
    connect: () => ({
      secrets: ["little-key"],
      send: ({ body, signal, fetch }) => fetch("http://little.example", { method: "POST", body, signal }),
      ...connection,
    }),
    createDecoder: () => {
      let ended = false;
      const take = ({ say, end }: LittleEvent, out: ModelChunk[]): void => {
        if (say !== undefined) out.push({ type: "text", index: 0, delta: say });
        ended ||= end === true;
      };
      return {
        get ended() {
          return ended;
        },
        take,
        takeWhole: (events: readonly LittleEvent[], out) => {
          for (const event of events) take(event, out);
        },
        finish: (out) => {
          if (!ended) throw streamBroken("Little", "its end");
          out.push({ type: "end", stopReason: "stop" });
        },
      };
    },
    parse: ({ data }) => JSON.parse(data),
    failureOf: ({ status, headers, text, secrets }) => errorFromStatus({ provider: "Little", status, headers, message: text, secrets }),
    ...own,
  };
}

const little = (transport: typeof fetch, changes?: Changes): ModelProvider => createStreamingProvider(littleVendor(transport, changes));

const framed = (...events: readonly LittleEvent[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const answering = (body: string | readonly string[] | null, type = "text/event-stream", status = 200) =>
  vi.fn<typeof fetch>(async () => {
    const pieces = typeof body === "string" ? [body] : body;
    const encoder = new TextEncoder();
    const stream = pieces && ReadableStream.from(pieces.map((piece) => encoder.encode(piece)));
    return new Response(stream as ReadableStream<Uint8Array> | null, { status, headers: { "content-type": type } });
  });

async function readAll(provider: ModelProvider, asked: ModelRequest = request): Promise<(readonly ModelChunk[])[]> {
  const batches: (readonly ModelChunk[])[] = [];
  for await (const batch of provider.stream(asked, { signal: new AbortController().signal, attempt: 1 })) batches.push(batch);
  return batches;
}

const hi: ModelChunk = { type: "text", index: 0, delta: "hi" };
const end: ModelChunk = { type: "end", stopReason: "stop" };

describe("a provider made of request, decoder and errors", () => {
  it("gives one array for each read, a sign of life for a read without a chunk, and the end in the read that holds it", async () => {
    const provider = little(answering([framed({ say: "hi" }), framed({ ping: true }), framed({ say: "hi" }, { end: true })]));
    expect(await readAll(provider)).toEqual([[hi], [{ type: "alive" }], [hi, end]]);
  });

  it("takes nothing that follows the vendor's own end", async () => {
    expect(await readAll(little(answering([framed({ say: "hi" }, { end: true }, { say: "more" }), framed({ say: "more" })])))).toEqual([
      [hi, end],
    ]);
  });

  it.each([
    ["a streamed call that is answered in one piece", '[{"say":"hi"},{"end":true}]', "application/json", true],
    ["an unstreamed call that is answered with a stream", framed({ say: "hi" }, { end: true }), "text/event-stream", false],
    ["an unstreamed call whose answer has no type", '[{"say":"hi"},{"end":true}]', "", false],
    ["a streamed call whose answer has no type", framed({ say: "hi" }, { end: true }), "", true],
  ])("reads %s", async (_, body, type, stream) => {
    expect((await readAll(little(answering(body, type)), { ...request, stream })).flat()).toEqual([hi, end]);
  });

  it("asks for one piece where the model cannot stream, and reads a line-framed answer in one piece whatever its type", async () => {
    const transport = answering('[{"say":"hi"},\n{"end":true}]', "application/x-ndjson");
    const lines = little(transport, {
      framing: { ...ndjson, map: sse.map } as unknown as typeof sse,
      capabilities: () => ({ ...capabilities, streaming: false }),
    });
    expect((await readAll(lines)).flat()).toEqual([hi, end]);
    expect(transport.mock.calls[0]?.[1]?.body).toBe('{"streaming":false}');
  });

  it.each([
    ["a stream that stops early", framed({ say: "hi" }), "text/event-stream", [[hi]], "MODEL_STREAM_BROKEN"],
    ["text that is not JSON", `${framed({ say: "hi" })}data: {broken\n\n`, "text/event-stream", [[hi]], "MODEL_PROTOCOL"],
    ["a field of another type", `${framed({ say: "hi" })}data: {"say":{}}\n\n`, "text/event-stream", [[hi]], "MODEL_PROTOCOL"],
    ["an answer in one piece without an end", '[{"say":"hi"}]', "application/json", [[hi]], "MODEL_STREAM_BROKEN"],
    ["JSON of another shape", "null", "application/json", [], "MODEL_PROTOCOL"],
    ["a page of HTML", "<html>", "text/html; charset=utf-8", [], "MODEL_PROTOCOL"],
    ["an answer without a body", null, "text/event-stream", [], "MODEL_PROTOCOL"],
  ])("gives what came before %s, then throws", async (_, body, type, given, code) => {
    const batches: (readonly ModelChunk[])[] = [];
    const stream = little(answering(body, type)).stream(request, { signal: new AbortController().signal, attempt: 1 });
    const reading = (async () => {
      for await (const batch of stream) batches.push(batch);
    })();
    await expect(reading).rejects.toMatchObject({ code });
    expect(batches).toEqual(given);
    // A stream that has thrown is over.
    expect(await stream[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });

  it("gives the vendor's error for a status of one, with a short body and the connection's secrets", async () => {
    const failureOf = vi.fn(({ status }) => new AgentError("MODEL_OVERLOADED", { message: `Busy (${status}).` }));
    const provider = little(answering("x".repeat(100_000), "text/plain", 503), { failureOf });
    await expect(readAll(provider)).rejects.toMatchObject({ code: "MODEL_OVERLOADED", message: "Busy (503)." });
    const [failure] = failureOf.mock.calls[0] ?? [];
    expect(failure).toMatchObject({ status: 503, secrets: ["little-key"], text: "x".repeat(64 * 1024) });
  });

  it("lets the connection explain trouble of the network, but not an abort", async () => {
    const explain = (error: AgentError): AgentError => new AgentError(error.code, { message: "Start the server.", cause: error });
    const refusing: typeof fetch = async () => {
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) });
    };
    await expect(readAll(little(refusing, { connection: { explain } }))).rejects.toMatchObject({
      code: "MODEL_UNREACHABLE",
      message: "Start the server.",
    });
    const aborted = AbortSignal.abort(new AgentError("MODEL_TIMEOUT", { message: "Late." }));
    const call = collectAnswer(little(refusing, { connection: { explain } }), request, { signal: aborted });
    await expect(call).rejects.toMatchObject({ message: "Late." });
  });
});

describe("the connection of a provider", () => {
  it("is made with the first read of the first call, once, and again after it has failed", async () => {
    let attempts = 0;
    const transport = answering(framed({ end: true }));
    const bodyOf = vi.fn(() => "{}");
    const connect = vi.fn(() => {
      if (++attempts === 1) throw new AgentError("MODEL_KEY_MISSING", { message: "No key." });
      return { secrets: [], send: ({ fetch }: { fetch: typeof globalThis.fetch }) => fetch("http://little.example") };
    });
    const provider = little(transport, { connect, bodyOf });
    provider.stream(request, { signal: new AbortController().signal, attempt: 1 });
    expect(connect).not.toHaveBeenCalled();
    await expect(readAll(provider)).rejects.toMatchObject({ code: "MODEL_KEY_MISSING" });
    await readAll(provider);
    await readAll(provider);
    expect(connect).toHaveBeenCalledTimes(2);
    expect(transport).toHaveBeenCalledTimes(2);
    // What the vendor cannot do is refused without a key.
    bodyOf.mockImplementation(() => {
      throw new AgentError("MODEL_UNSUPPORTED", { message: "No images." });
    });
    await expect(readAll(little(transport, { connect: () => Promise.reject(new Error("asked")), bodyOf }))).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
    });
  });

  it("looks at the default model and the label when they are needed", () => {
    const looked = vi.fn(() => "little-2");
    const provider = createStreamingProvider(Object.defineProperty(littleVendor(answering("")), "defaultModel", { get: looked }));
    expect(looked).not.toHaveBeenCalled();
    expect(provider.defaultModel).toBe("little-2");
  });
});

describe("the end of a call", () => {
  it("leaves no listener on the signal that it was given, however the call ends", async () => {
    const controller = new AbortController();
    const adding = vi.spyOn(controller.signal, "addEventListener");
    const removing = vi.spyOn(controller.signal, "removeEventListener");
    const io = { signal: controller.signal, attempt: 1 };
    const drainStream = async (body: string, status = 200) => {
      for await (const _ of little(answering(body, "text/event-stream", status)).stream(request, io));
    };
    await drainStream(framed({ end: true }));
    await expect(drainStream(framed({ say: "hi" }))).rejects.toThrow();
    await expect(drainStream("no", 500)).rejects.toThrow();
    for await (const _ of little(answering([framed({ say: "hi" }), framed({ end: true })])).stream(request, io)) break;
    expect(adding).toHaveBeenCalledTimes(4);
    expect(new Set(removing.mock.calls.map(([, listener]) => listener))).toEqual(
      new Set(adding.mock.calls.map(([, listener]) => listener)),
    );
  });

  it("closes the connection of a call that is left before its answer has begun", async () => {
    const left = Promise.withResolvers<void>();
    const holding: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => {
          left.resolve();
          reject(init.signal?.reason);
        });
        begun.resolve();
      });
    const begun = Promise.withResolvers<void>();
    const stream = little(holding).stream(request, { signal: new AbortController().signal, attempt: 1 })[Symbol.asyncIterator]();
    const first = stream.next().catch((error: unknown) => error);
    await begun.promise;
    await stream.return?.();
    await left.promise;
    expect(await first).toBeInstanceOf(Error);
  });

  it("sends nothing when it is left, or aborted, while it connects", async () => {
    const transport = answering(framed({ end: true }));
    for (const leave of ["return", "abort"]) {
      const connecting = Promise.withResolvers<VendorConnection<string>>();
      const controller = new AbortController();
      const provider = little(transport, { connect: () => connecting.promise });
      const stream = provider.stream(request, { signal: controller.signal, attempt: 1 })[Symbol.asyncIterator]();
      const first = stream.next().catch((error: unknown) => error);
      const reason = new Error("No longer wanted.");
      if (leave === "return") await stream.return?.();
      else controller.abort(reason);
      connecting.resolve({ secrets: [], send: ({ fetch }) => fetch("http://little.example") });
      expect(await first).toEqual(leave === "return" ? { done: true, value: undefined } : reason);
    }
    expect(transport).not.toHaveBeenCalled();
  });

  /** A body that gives the end, then what `more` gives to each further read, and nothing before it is read. */
  const endless = (more: (controller: ReadableStreamDefaultController<Uint8Array>, read: number) => void | Promise<void>) => {
    const cancel = vi.fn();
    let reads = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void | Promise<void> => {
      if (++reads > 1) return more(controller, reads - 1);
      controller.enqueue(new TextEncoder().encode(framed({ say: "hi" }, { end: true })));
    };
    const body = new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 });
    return { cancel, transport: (async () => new Response(body, { headers: { "content-type": "text/event-stream" } })) as typeof fetch };
  };

  it("is over at the vendor's own end while the body continues, which is read to its end in the background", async () => {
    const held = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    const { cancel, transport } = endless(async (controller, count) => {
      if (count === 1) {
        await held.promise;
        return controller.enqueue(new TextEncoder().encode(": bye\n\n"));
      }
      controller.close();
      read.resolve();
    });
    expect((await readAll(little(transport))).flat()).toEqual([hi, end]);
    held.resolve();
    await read.promise;
    expect(cancel).not.toHaveBeenCalled();
  });

  it("closes a connection on which more comes after the end than is worth reading", async () => {
    const { cancel, transport } = endless((controller) => controller.enqueue(new Uint8Array(drainBytesMax / 4)));
    const closed = new Promise((resolve) => cancel.mockImplementation(resolve));
    expect((await readAll(little(transport))).flat()).toEqual([hi, end]);
    await closed;
  });
});
