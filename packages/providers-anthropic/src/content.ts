import {
  AgentError,
  type FilePart,
  type ImagePart,
  isTextType,
  type Json,
  type JsonObject,
  type MediaSource,
  type ResultPart,
  type UserPart,
} from "@loopwright/core";

/** A content block of the wire. */
export type Block = JsonObject & { readonly type: string };

/** A text block, or none for text that the vendor refuses as empty. */
export function textBlocks(text: string): readonly Block[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** The blocks of what a user wrote or a tool gave. @throws AgentError MODEL_UNSUPPORTED for media that the vendor does not take. */
export function blocksOf(content: string | readonly (UserPart | ResultPart)[]): readonly Block[] {
  if (typeof content === "string") return textBlocks(content);
  return content.flatMap((part): readonly Block[] => {
    switch (part.type) {
      case "text":
        return textBlocks(part.text);
      case "json":
        return [{ type: "text", text: JSON.stringify(part.value) }];
      case "image":
        return [imageBlock(part)];
      case "file":
        return [documentBlock(part)];
      default:
        return part satisfies never;
    }
  });
}

/** @see https://platform.claude.com/docs/en/build-with-claude/vision (2026-11-21) */
const imageTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function imageBlock({ mediaType, source }: ImagePart): Block {
  if (!imageTypes.has(mediaType)) throw unsupported(`an image of type ${mediaType}`, "Send it as JPEG, PNG, GIF or WebP.");
  return { type: "image", source: sourceOf(source, mediaType) };
}

/** PDF as it is, text decoded; nothing else is accepted. @see https://platform.claude.com/docs/en/build-with-claude/pdf-support (2026-11-21) */
function documentBlock({ mediaType, name, source }: FilePart): Block {
  const title: { title?: Json } = name === undefined ? {} : { title: name };
  if (mediaType === "application/pdf") return { type: "document", source: sourceOf(source, mediaType), ...title };
  if (source.data !== undefined && isTextType(mediaType)) {
    return { type: "document", source: { type: "text", media_type: "text/plain", data: decoded(source.data) }, ...title };
  }
  throw unsupported(`a file of type ${mediaType}`, "Send it as PDF or as text.");
}

function sourceOf(source: MediaSource, mediaType: string): JsonObject {
  if (source.data !== undefined) return { type: "base64", media_type: mediaType, data: source.data };
  if (source.url !== undefined) return { type: "url", url: source.url };
  throw unsupported("a reference to the blob store", "Resolve it to its bytes first.");
}

function decoded(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}

function unsupported(what: string, fix: string): AgentError {
  return new AgentError("MODEL_UNSUPPORTED", { message: `Anthropic does not take ${what}.`, fix });
}
