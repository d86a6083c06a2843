import type { FilePart, ImagePart, Json, ResultPart, ToolResultMessage, UserMessage } from "@loopwright/core/protocol";
import type { UiFile, UiText } from "./ui-chunk.ts";

/** A kept file has the path of the server's own route, so that the page reads it as the same caller. */
export function fileOf(part: ImagePart | FilePart): UiFile {
  const { mediaType, source } = part;
  const url =
    source.url ?? (source.blob === undefined ? `data:${mediaType};base64,${source.data}` : `/api/files/${encodeURIComponent(source.blob)}`);
  return { type: "file", mediaType, url, ...(part.type === "file" && part.name !== undefined ? { filename: part.name } : {}) };
}

/** A user's message as a page shows it. */
export function userPartsOf({ content }: UserMessage): readonly (UiText | UiFile)[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text };
    return part.type === "json" ? { type: "text", text: JSON.stringify(part.value) } : fileOf(part);
  });
}

/** The output of a call: one text or one value as it is, else the list of parts. */
export function outputOf(content: string | readonly ResultPart[]): Json {
  if (typeof content === "string") return content;
  const [first] = content;
  if (content.length > 1 || !first) return content.map(jsonOf);
  if (first.type === "text") return first.text;
  return first.type === "json" ? first.value : [jsonOf(first)];
}

function jsonOf(part: ResultPart): Json {
  if (part.type === "text") return { type: "text", text: part.text };
  return part.type === "json" ? { ...part } : { ...part, source: { ...part.source } };
}

/** What went wrong with a call, for people. */
export function errorTextOf({ content }: Pick<ToolResultMessage, "content">): string {
  const output = outputOf(content);
  return typeof output === "string" ? output : JSON.stringify(output);
}
