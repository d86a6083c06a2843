/*
 * Owns: answers that are longer than a few kilobytes: they are made, or cut, piece by piece, and a piece only when the other side has taken the one before.
 * So a caller who does not read costs two pieces, however long the answer is.
 */
import type { Clock } from "@loopwright/core/ports";
import { isShortJson, jsonPieces, pieceChars } from "./json-pieces.ts";

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

/** Bytes that nobody changes any more; `headers` tell their length. */
export function bytesResponse(bytes: Uint8Array, clock: Clock, { status = 200, headers = {} }: AnswerInit = {}): Response {
  return new Response(pacedBody(slices(bytes), clock), { status, headers: { ...headers, "Content-Length": String(bytes.byteLength) } });
}

function* encoded(texts: Iterable<string>): Generator<Uint8Array, void> {
  for (const text of texts) yield encoder.encode(text);
}

function* slices(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let from = 0; from < bytes.byteLength; from += pieceChars) yield bytes.subarray(from, from + pieceChars);
}

/** Others have their turn of the event loop before each piece, however fast this one is taken. */
function pacedBody(pieces: Iterator<Uint8Array>, clock: Clock): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: (controller) =>
        new Promise((resolve) => {
          clock.soon(() => {
            give(controller, pieces);
            resolve();
          });
        }),
      cancel: () => void pieces.return?.(),
    },
    { highWaterMark: 0 },
  );
}

/** It may have been cancelled meanwhile. */
function give(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>, pieces: Iterator<Uint8Array>): void {
  const { done, value } = pieces.next();
  try {
    if (done) controller.close();
    else controller.enqueue(value as Uint8Array<ArrayBuffer>);
  } catch {
    // Nobody takes it any more.
  }
}
