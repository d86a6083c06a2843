import { AgentError, type Usage } from "@loopwright/core";
import type { GeneratedImage, ImageGenerator, ImageRequest } from "@loopwright/core/ports";
import { type WholeVendor, wholeCalls } from "../provider/whole-call.ts";

/** What one answer of a vendor holds. */
export interface ImageAnswer {
  /** The bytes of the picture in base64. Checked by the caller. */
  readonly data: unknown;
  readonly usage?: Usage | undefined;
}

/** A vendor of pictures as its pure parts. */
export interface ImageVendor extends WholeVendor {
  bodyOf(request: ImageRequest): unknown;
  /** Reads an answer in JSON. @throws AgentError MODEL_PROTOCOL, MODEL_REFUSED */
  answerOf(answer: unknown): ImageAnswer;
}

/**
 * A generator of pictures made of a vendor's pure parts. It owns what is the same for all: connecting, aborts, errors, bounds of bodies, and that an
 * answer without a picture is refused. What kind of picture it is stands in its first bytes.
 */
export function createImageGenerator(vendor: ImageVendor): ImageGenerator {
  const send = wholeCalls(vendor);
  return {
    get name() {
      return vendor.name;
    },
    get model() {
      return vendor.model;
    },
    async generate(request, io) {
      io.signal.throwIfAborted();
      if (request.prompt.trim() === "")
        throw new AgentError("INPUT_INVALID", { message: "The prompt of a picture is blank.", fix: "Describe what the picture shows." });
      return send({ body: vendor.bodyOf(request), io, answerOf: (answer) => soundImage(vendor.answerOf(answer), vendor.label) });
    },
  };
}

/** @throws AgentError MODEL_PROTOCOL for what is no picture */
function soundImage({ data, usage }: ImageAnswer, label: string): GeneratedImage {
  const bytes = typeof data === "string" && data !== "" ? bytesOf(data) : undefined;
  if (bytes === undefined) throw noImage(label, "without a picture");
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === undefined) throw noImage(label, "with bytes that are no PNG, JPEG or WebP");
  return { bytes, mediaType, ...(usage ? { usage } : {}) };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

const beginnings: readonly { readonly mediaType: GeneratedImage["mediaType"]; readonly at: number; readonly bytes: readonly number[] }[] = [
  { mediaType: "image/png", at: 0, bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { mediaType: "image/jpeg", at: 0, bytes: [0xff, 0xd8, 0xff] },
  { mediaType: "image/webp", at: 8, bytes: [0x57, 0x45, 0x42, 0x50] },
];

function mediaTypeOf(image: Uint8Array): GeneratedImage["mediaType"] | undefined {
  return beginnings.find(({ at, bytes }) => bytes.every((byte, index) => image[at + index] === byte))?.mediaType;
}

function noImage(label: string, what: string): AgentError {
  return new AgentError("MODEL_PROTOCOL", { message: `${label} answered ${what}.` });
}
