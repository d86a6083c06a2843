import { AgentError, type FilePart, type ImagePart, isTextType, type MediaSource } from "@loopwright/core";

/** The address of an image: its own, or its bytes as a `data:` address. @throws AgentError MODEL_UNSUPPORTED for bytes that were not loaded. */
export function imageUrlOf(part: ImagePart): string {
  return part.source.url ?? `data:${part.mediaType};base64,${bytesOf(part.source)}`;
}

/** The text of a text file, `undefined` for any other file. */
export function fileTextOf(part: FilePart): string | undefined {
  if (part.source.data === undefined || !isTextType(part.mediaType)) return undefined;
  const bytes = Uint8Array.from(atob(part.source.data), (char) => char.charCodeAt(0));
  return `${fileNameOf(part)}:\n${new TextDecoder().decode(bytes)}`;
}

/** The bytes of a file as a `data:` address. @throws AgentError MODEL_UNSUPPORTED for bytes that were not loaded. */
export function fileDataOf(part: FilePart): string {
  return `data:${part.mediaType};base64,${bytesOf(part.source)}`;
}

/** The file's name, or one by its kind. */
export function fileNameOf(part: FilePart): string {
  return part.name ?? `file.${/\/([a-z0-9]+)/.exec(part.mediaType)?.[1] ?? "bin"}`;
}

function bytesOf(source: MediaSource): string {
  if (source.data !== undefined) return source.data;
  throw new AgentError("MODEL_UNSUPPORTED", {
    message: "An image or a file cannot be sent in this form.",
    fix: "Send its bytes, or an https address where the vendor takes one.",
  });
}
