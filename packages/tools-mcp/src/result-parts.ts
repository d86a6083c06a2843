import { isDeepStrictEqual } from "node:util";
import type { Json, ResultPart } from "@loopwright/core";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { type Redaction, serverBlock, visible } from "./server-text.ts";

const imageTypes = /^image\/(?:png|jpeg|gif|webp)$/;
const mediaType = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** What a server returned: its text as one untrusted block with its source, then its images and files. */
export function resultParts(server: string, result: CallToolResult, redaction: Redaction): readonly ResultPart[] {
  const { content, structuredContent } = result;
  const texts = content.flatMap(textOf);
  if (structuredContent !== undefined && !texts.some((text) => isSame(text, structuredContent as Json)))
    texts.push(JSON.stringify(structuredContent));
  const media = content.flatMap(mediaOf);
  const text = redaction.text(visible(texts.join("\n")));
  return [...(text === "" ? [] : [{ type: "text", text: serverBlock(server, text) } as const]), ...media];
}

function textOf(block: ContentBlock): readonly string[] {
  if (block.type === "text") return [block.text];
  if (block.type === "resource_link") return [`Resource "${block.name}": ${block.uri}`];
  if (block.type === "resource" && "text" in block.resource) return [`Resource ${block.resource.uri}:\n${block.resource.text}`];
  return mediaOf(block).length > 0 ? [] : [`[${block.type} that cannot be shown]`];
}

function mediaOf(block: ContentBlock): readonly ResultPart[] {
  if (block.type === "image") return partOf(block.data, block.mimeType);
  if (block.type === "audio") return partOf(block.data, block.mimeType, "audio");
  if (block.type === "resource" && "blob" in block.resource)
    return partOf(block.resource.blob, block.resource.mimeType ?? "application/octet-stream", block.resource.uri.split("/").at(-1));
  return [];
}

function partOf(data: string, type: string, name = "file"): readonly ResultPart[] {
  if (!base64.test(data) || !mediaType.test(type)) return [];
  if (imageTypes.test(type)) return [{ type: "image", mediaType: type, source: { data } }];
  return [{ type: "file", mediaType: type, name: visible(name).slice(0, 80) || "file", source: { data } }];
}

/** Whether the text is this value as JSON: servers send structured results as text, too. */
function isSame(text: string, value: Json): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}
