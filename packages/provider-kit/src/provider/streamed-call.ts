import { AgentError, isAgentError, type ModelChunk } from "@loopwright/core";
import type { ModelCallIo, ModelRequest } from "@loopwright/core/ports";
import { readWholeJson } from "../body/read-whole.ts";
import { DecodedReads, type Decoding } from "../decoder/decoded-reads.ts";
import { errorFromFetch } from "../errors/error-from-fetch.ts";
import { CallSignal } from "./call-signal.ts";
import type { Connected, StreamingVendor, VendorConnection } from "./streaming-vendor.ts";

type Chunks = readonly ModelChunk[];

interface CallOptions<Body> {
  readonly request: ModelRequest;
  readonly io: ModelCallIo;
  readonly connect: () => Promise<Connected<Body>>;
}

const nothingMore: IteratorResult<never, undefined> = { done: true, value: undefined };

/** The answer to one call. The request is sent with the first read; after it, each read is the body reader's own promise. */
export class StreamedCall<Read, Event, Body> implements AsyncIterableIterator<Chunks, undefined> {
  readonly #vendor: StreamingVendor<Read, Event, Body>;
  readonly #options: CallOptions<Body>;
  #isOpened = false;
  #isEnded = false;
  #call: CallSignal | undefined;
  #chunks: AsyncIterator<Chunks, undefined> | undefined;

  constructor(vendor: StreamingVendor<Read, Event, Body>, options: CallOptions<Body>) {
    this.#vendor = vendor;
    this.#options = options;
  }

  next(): Promise<IteratorResult<Chunks, undefined>> {
    if (this.#chunks) return this.#chunks.next();
    if (this.#isOpened || this.#isEnded) return Promise.resolve(nothingMore);
    this.#isOpened = true;
    return this.#open();
  }

  async return(): Promise<IteratorResult<Chunks, undefined>> {
    const isLeft = !this.#isEnded;
    this.#isEnded = true;
    await this.#chunks?.return?.();
    if (isLeft) this.#call?.abort();
    return nothingMore;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #open(): Promise<IteratorResult<Chunks, undefined>> {
    const { request, io, connect } = this.#options;
    io.signal.throwIfAborted();
    const capabilities = this.#vendor.capabilities(request.model);
    const streaming = capabilities.streaming && request.stream !== false;
    const body = this.#vendor.bodyOf(request, { capabilities, streaming });
    const { connection, fetch } = await connect();
    if (this.#isEnded) return nothingMore;
    const call = new CallSignal(io.signal);
    this.#call = call;
    try {
      call.signal.throwIfAborted();
      const response = await connection.send({ request, body, streaming, signal: call.signal, fetch });
      if (!response.ok) throw await this.#failureOf(response, connection.secrets);
      this.#chunks = this.#chunksOf(response, { connection, streaming });
    } catch (error) {
      throw this.#fail(error, { connection, isAnswered: false });
    }
    return await this.#chunks.next();
  }

  #chunksOf(response: Response, { connection, streaming }: { connection: VendorConnection<Body>; streaming: boolean }) {
    const vendor = this.#vendor;
    const type = response.headers.get("content-type") ?? "";
    if (type.startsWith("text/html")) throw noAnswer(vendor.label, "a page of HTML");
    if (response.body === null) throw noAnswer(vendor.label, "nothing");
    const decoding: Decoding<Read, Event> = {
      decoder: vendor.createDecoder({ secrets: connection.secrets, response }),
      parse: (read) => vendor.parse(read),
      signal: this.#options.io.signal,
      fail: (error) => this.#fail(error, { connection, isAnswered: true }),
      onEnd: () => this.#end(),
    };
    const reads = new DecodedReads(decoding);
    return (vendor.framing.isFramed(type) ?? streaming) ? vendor.framing.map(response.body, reads) : wholeAnswer(response, reads);
  }

  #end(): void {
    this.#isEnded = true;
    this.#call?.release();
  }

  async #failureOf(response: Response, secrets: readonly string[]): Promise<AgentError> {
    const { status, headers } = response;
    return this.#vendor.failureOf({ status, headers, text: await response.text(), secrets });
  }

  /** Closes the call and gives what to throw. */
  #fail(error: unknown, { connection, isAnswered }: { connection: VendorConnection<Body>; isAnswered: boolean }): unknown {
    this.#isEnded = true;
    this.#call?.abort();
    const { signal } = this.#options.io;
    if (signal.aborted) return signal.reason;
    const made = errorFromFetch(error, { provider: this.#vendor.label, signal, ...(isAnswered ? { streaming: true } : {}) });
    return isAgentError(made) && connection.explain ? connection.explain(made) : made;
  }
}

/** An answer in one piece. What came before an error is given before it is thrown, as in a stream. */
async function* wholeAnswer<Read, Event>(response: Response, reads: DecodedReads<Read, Event>): AsyncGenerator<Chunks, undefined> {
  try {
    const chunks = reads.takeWhole(await readWholeJson(response));
    if (chunks) yield chunks;
    if (reads.failure) throw reads.failure.error;
  } catch (error) {
    throw reads.fail(error);
  }
}

function noAnswer(label: string, what: string): AgentError {
  return new AgentError("MODEL_PROTOCOL", { message: `${label} answered with ${what}, which is no answer of its API.` });
}
