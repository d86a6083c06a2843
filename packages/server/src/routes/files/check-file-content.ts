import { AgentError, isTextType } from "@loopwright/core";
import { pictureReaders } from "./picture-size.ts";

/** Pixels of a picture: a small file may unfold to a thousand times its size. */
const picturePixelsMax = 64_000_000;
/** Where the header of a PDF begins at the latest. */
const pdfHeaderBytes = 1_024;

/**
 * Passes if the bytes are what their media type states. A vendor refuses a message whose picture is none, and so each later message of the session.
 * Types that no model reads are not looked at. @throws AgentError MEDIA_TYPE_UNSUPPORTED, PAYLOAD_TOO_LARGE for a picture of too many pixels
 */
export function checkFileContent(bytes: Uint8Array, mediaType: string): void {
  const sizeOf = pictureReaders.get(mediaType);
  if (sizeOf) {
    const size = sizeOf(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (!size || size.width === 0 || size.height === 0) throw otherType(mediaType);
    if (size.width * size.height <= picturePixelsMax) return;
    throw new AgentError("PAYLOAD_TOO_LARGE", {
      message: `The picture has ${size.width} x ${size.height} pixels; at most ${picturePixelsMax} in all are allowed.`,
      fix: "Send a smaller picture.",
    });
  }
  if (isTextType(mediaType) && bytes.includes(0)) throw otherType(mediaType);
  if (mediaType !== "application/pdf") return;
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, pdfHeaderBytes));
  if (!head.includes("%PDF-")) throw otherType(mediaType);
}

const otherType = (mediaType: string): AgentError =>
  new AgentError("MEDIA_TYPE_UNSUPPORTED", {
    message: `The bytes of the file are no \`${mediaType.slice(0, 100)}\`.`,
    fix: "Send the media type that the file has.",
  });
