/*
 * Owns: answers that are longer than a few kilobytes: they are made, or cut, piece by piece, and a piece only when the other side has taken the one before.
 * So a caller that does not read costs two pieces, however long the answer is.
 */
import type { Clock } from "@loopwright/core/ports";
import { isShortJson, jsonPieces, pieceChars } from "../stream/json-pieces.ts";

const encoder = new TextEncoder();

/** What an answer is besides its body. */
export interface AnswerInit {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
}

/** A value of plain data as JSON. It must not change any more. */
export function jsonResponse(value: unknown, clock: Clock, { status = 200, headers = {} }: AnswerInit = {}): Response {
  if (isShortJson(value, pieceChars)) return Response.json(value, { status, headers });
  const body = pacedBody(encoded(jsonPieces(value)), clock);
  return new Response(body, { status, headers: { "Content-Type": "application/json", ...headers } });
}

/** Of bytes that are held for one caller alone. */
export interface HeldBytes {
  /** How long the caller may take none of them before the answer is cut. */
  readonly stallMs: number;
  /** They are needed no more; called once. */
  readonly onEnd: () => void;
}

/** Bytes that do not change any more, with their length among the headers. */
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
  for (let from = 0; from < bytes.byteLength; from += pieceChars) yield bytes.subarray(from, from + pieceChars);
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Others have their turn of the event loop before each piece, however fast this one is taken. */
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
      controller?.error(new Error("The answer was not read."));
      end();
    };
    cancelStall = clock.after(held.stallMs, cut, { idle: true });
  };
  const give = (): void => {
    // Cancelled meanwhile, or cut.
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
