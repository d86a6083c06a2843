import { bodyLimits, bodyTooLarge } from "./body-limits.ts";
import { byteSourceOf } from "./byte-source.ts";

/**
 * The text of an answer that comes in one piece, in place of `response.text()`, which reads without a bound.
 * @throws AgentError MODEL_PROTOCOL over `bodyLimits.wholeBytes`, with the connection closed; errors of the body are passed on.
 */
export async function readWholeText(response: Response): Promise<string> {
  const head = new BodyHead(bodyLimits.wholeBytes);
  if (Number(response.headers.get("content-length")) > head.max) response.body?.cancel().catch(() => undefined);
  else if (await head.read(response)) return new TextDecoder().decode(head.bytes);
  throw bodyTooLarge("wholeBytes", head.max);
}

/** The JSON of an answer that comes in one piece. @throws SyntaxError for what is no JSON; otherwise as `readWholeText`. */
export async function readWholeJson(response: Response): Promise<unknown> {
  return JSON.parse(await readWholeText(response));
}

/**
 * The response with at most `bodyLimits.errorBytes` of its body, already read: an SDK reads the body of an error without a bound. A body that
 * breaks off is kept as far as it came, because the status is more important than the body.
 */
export async function withShortBody(response: Response, signal: AbortSignal | null | undefined): Promise<Response> {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  const head = new BodyHead(bodyLimits.errorBytes);
  await head.read(response).catch((error: unknown) => {
    if (signal?.aborted) throw error;
  });
  return new Response(head.bytes, { status, statusText, headers });
}

/** The first bytes of a body in one buffer: a body of many small pieces costs no more than one of few. */
class BodyHead {
  readonly max: number;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #length = 0;

  constructor(max: number) {
    this.max = max;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Reads the body up to its end, or up to `max`, where the rest is cancelled. True for the whole body. */
  async read({ body }: Response): Promise<boolean> {
    if (body === null) return true;
    const source = byteSourceOf(body);
    for (let piece = await source.read(); piece !== undefined; piece = await source.read()) {
      const room = this.max - this.#length;
      this.#add(piece.subarray(0, room));
      if (piece.length <= room) continue;
      source.cancel();
      return false;
    }
    return true;
  }

  #add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.min(this.max, Math.max(length, this.#buffer.length * 2, 16_384)));
      grown.set(this.bytes);
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }
}
