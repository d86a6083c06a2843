/*
 * Owns: answers longer than a few kilobytes, with backpressure. A piece is made only after the client has taken the one before.
 * So an answer that is not read takes the memory of at most two pieces beside its value or bytes, whatever its length.
 */
import type { Clock } from "@loopwright/core/ports";
import { isShortJson, jsonPieces, pieceSize } from "../stream/json-in-pieces.ts";

const encoder = new TextEncoder();

/** Status and headers of an answer. */
export interface AnswerInit {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
}

/** An answer with a value as JSON. The value must not change any more. */
export function jsonResponse(value: unknown, clock: Clock, { status = 200, headers = {} }: AnswerInit = {}): Response {
  if (isShortJson(value, pieceSize)) return Response.json(value, { status, headers });
  const body = pacedBody(encoded(jsonPieces(value)), clock);
  return new Response(body, { status, headers: { "Content-Type": "application/json", ...headers } });
}

/** An answer with a text that is made piece by piece. The pieces must not depend on values that change meanwhile. */
export function textResponse(pieces: Iterable<string>, clock: Clock, { status = 200, headers = {} }: AnswerInit = {}): Response {
  return new Response(pacedBody(encoded(pieces), clock), { status, headers });
}

/** Options for bytes that are in memory for this answer alone. */
export interface HeldBytes {
  /** How long the client may read nothing before the answer is cut. */
  readonly stallMs: number;
  /** Called once, when the bytes are not needed any more. */
  readonly onEnd: () => void;
}

/** An answer with bytes that do not change any more, and their length among the headers. */
export function bytesResponse(
  bytes: Uint8Array,
  clock: Clock,
  { headers = {}, held }: AnswerInit & { readonly held?: HeldBytes },
): Response {
  return new Response(pacedBody(slices(bytes), clock, held), { headers: { ...headers, "Content-Length": String(bytes.byteLength) } });
}

function* encoded(texts: Iterable<string>): Generator<Uint8Array, void> {
  for (const text of texts) yield encoder.encode(text);
}

function* slices(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let from = 0; from < bytes.byteLength; from += pieceSize) yield bytes.subarray(from, from + pieceSize);
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Waits for one turn of the event loop before each piece, so that a fast reader does not block others. */
function pacedBody(pieces: Iterator<Uint8Array>, clock: Clock, held?: HeldBytes): Body {
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  let cancelStall = (): void => {};
  const end = (): void => {
    cancelStall();
    controller = undefined;
    pieces.return?.();
    held?.onEnd();
  };
  const awaitPull = (): void => {
    if (!held) return;
    const cut = (): void => {
      controller?.error(new Error(`The client read nothing for ${held.stallMs} ms.`));
      end();
    };
    cancelStall = clock.after(held.stallMs, cut, { idle: true });
  };
  const give = (): void => {
    // The stream was cancelled or cut meanwhile.
    if (!controller) return;
    const { done, value } = pieces.next();
    if (!done) {
      controller.enqueue(value as Uint8Array<ArrayBuffer>);
      awaitPull();
      return;
    }
    controller.close();
    end();
  };
  const pull = (): Promise<void> =>
    new Promise((resolve) => {
      cancelStall();
      clock.soon(() => {
        give();
        resolve();
      });
    });
  const start = (given: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void => {
    controller = given;
    awaitPull();
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>({ start, pull, cancel: end }, { highWaterMark: 0 });
}
