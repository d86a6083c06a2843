import { AgentError, isAgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";

export interface BodyLimits {
  readonly bytesMax: number;
  readonly totalMs: number;
  /** How many bytes must arrive in each `everyMs`. Default: all must arrive within `totalMs`, at any pace. */
  readonly pace?: { readonly bytes: number; readonly everyMs: number };
  readonly clock: Clock;
}

/** The bytes of the body. @throws AgentError PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, MEDIA_TYPE_UNSUPPORTED, INPUT_INVALID */
export async function readBody(request: Request, limits: BodyLimits): Promise<Uint8Array<ArrayBuffer>> {
  const encoding = request.headers.get("Content-Encoding");
  if (encoding !== null && encoding !== "identity")
    throw new AgentError("MEDIA_TYPE_UNSUPPORTED", {
      message: "The body is compressed.",
      fix: "Send it without `Content-Encoding`.",
    });
  const { bytesMax, totalMs, pace, clock } = limits;
  const announced = request.headers.get("Content-Length");
  if (Number(announced ?? 0) > bytesMax) throw tooLarge(bytesMax);
  // If the length is known, the platform reads no more bytes than that, so no stream is needed.
  const inOne = announced !== null && pace === undefined;
  const reading = inOne ? request.arrayBuffer().then((bytes) => new Uint8Array(bytes)) : readPieces(request, limits);
  const bytes = await inTime(reading.catch(brokenOff), totalMs, clock);
  if (bytes.byteLength > bytesMax) throw tooLarge(bytesMax);
  return bytes;
}

/** Reads all bytes, or stops at the first piece beyond `bytesMax`. */
async function readPieces(request: Request, { bytesMax, pace, clock }: BodyLimits): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  const read = async (): Promise<Uint8Array<ArrayBuffer>> => {
    while (reader && size <= bytesMax) {
      const { done, value } = await reader.read().catch(brokenOff);
      if (done) break;
      size += value.byteLength;
      pieces.push(value);
    }
    return joined(pieces, size);
  };
  return pace ? inPace(read(), () => size, { ...pace, clock }) : read();
}

/** @throws AgentError REQUEST_TIMEOUT */
async function inTime<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => reject(new AgentError("REQUEST_TIMEOUT", { message: `The body did not come within ${ms} ms.` })));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

type Pace = NonNullable<BodyLimits["pace"]> & { readonly clock: Clock };

/** Counts bytes, not the time between pieces: a piece may be a single byte. @throws AgentError REQUEST_TIMEOUT */
async function inPace<T>(work: Promise<T>, sizeOf: () => number, { bytes, everyMs, clock }: Pace): Promise<T> {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    const watch = (before: number): void => {
      cancel = clock.after(everyMs, () => {
        const size = sizeOf();
        if (size - before >= bytes) watch(size);
        else reject(new AgentError("REQUEST_TIMEOUT", { message: `Fewer than ${bytes} bytes of the body came within ${everyMs} ms.` }));
      });
    };
    watch(0);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

function brokenOff(cause: unknown): never {
  if (isAgentError(cause)) throw cause;
  throw new AgentError("INPUT_INVALID", { message: "The body broke off.", fix: "Send the request again.", cause });
}

const tooLarge = (bytesMax: number): AgentError =>
  new AgentError("PAYLOAD_TOO_LARGE", { message: `The body has more than ${bytesMax} bytes.`, fix: "Send less." });

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let place = 0;
  for (const piece of pieces) {
    bytes.set(piece, place);
    place += piece.byteLength;
  }
  return bytes;
}
