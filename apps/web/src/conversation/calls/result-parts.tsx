import type { Json, JsonObject, ResultPart } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { MediaPart } from "../media-part.tsx";
import { JsonText, LongText } from "./long-text.tsx";

/** What a picture shows, as far as the arguments of the call that made it name it. */
export const pictureWords = (args: JsonObject | undefined): string | undefined =>
  typeof args?.["prompt"] === "string" ? args["prompt"] : undefined;

export interface ResultPartsProps {
  readonly parts: readonly ResultPart[];
  /** What pictures among them show. */
  readonly about?: string | undefined;
}

/** What a tool gave back. */
export function ResultParts({ parts, about }: ResultPartsProps): ReactNode {
  return parts.map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name
    <Result key={i} part={part} about={about} />
  ));
}

function Result({ part, about }: { readonly part: ResultPart; readonly about: string | undefined }): ReactNode {
  switch (part.type) {
    case "text": {
      const text = withoutEnvelope(part.text);
      const value = jsonIn(text);
      return value === undefined ? <LongText text={text} /> : <JsonText value={value} />;
    }
    case "json":
      return <JsonText value={part.value} />;
    case "image":
    case "file":
      return <MediaPart part={part} about={about} />;
    default:
      return part satisfies never;
  }
}

/** That the user has seen it already is for the model: people read what is inside. */
const withoutEnvelope = (text: string): string =>
  /^<already_shown_to_the_user>\n.*\n([\s\S]*)\n<\/already_shown_to_the_user>$/.exec(text)?.[1] ?? text;

/** The object or list that a text is, so that it can be read in lines. */
function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
