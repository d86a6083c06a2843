import { AgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";

export interface BodyLimits {
  readonly bytesMax: number;
  readonly totalMs: number;
  readonly clock: Clock;
}

/** The bytes of the body. @throws AgentError PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, MEDIA_TYPE_UNSUPPORTED, INPUT_INVALID */
export async function readBody(request: Request, { bytesMax, totalMs, clock }: BodyLimits): Promise<Uint8Array<ArrayBuffer>> {
  const encoding = request.headers.get("Content-Encoding");
  if (encoding !== null && encoding !== "identity")
    throw new AgentError("MEDIA_TYPE_UNSUPPORTED", {
      message: "The body is compressed.",
      fix: "Send it without `Content-Encoding`.",
    });
  if (Number(request.headers.get("Content-Length") ?? 0) > bytesMax) throw tooLarge(bytesMax);
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  let cancel = (): void => {};
  const late = new Promise<"late">((resolve) => {
    cancel = clock.after(totalMs, () => resolve("late"));
  });
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const read = await Promise.race([reader.read().catch(brokenOff), late]);
      if (read === "late") throw new AgentError("REQUEST_TIMEOUT", { message: `The body took more than ${totalMs} ms.` });
      if (read.done) return joined(pieces, size);
      size += read.value.byteLength;
      if (size > bytesMax) throw tooLarge(bytesMax);
      pieces.push(read.value);
    }
  } finally {
    cancel();
  }
}

function brokenOff(cause: unknown): never {
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
