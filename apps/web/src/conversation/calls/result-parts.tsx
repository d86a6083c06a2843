import type { Json, ResultPart } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { MediaPart } from "../media-part.tsx";
import { JsonText, LongText } from "./long-text.tsx";

/** What a tool gave back. */
export function ResultParts({ parts }: { readonly parts: readonly ResultPart[] }): ReactNode {
  return parts.map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name
    <Result key={i} part={part} />
  ));
}

function Result({ part }: { readonly part: ResultPart }): ReactNode {
  switch (part.type) {
    case "text": {
      const value = jsonIn(part.text);
      return value === undefined ? <LongText text={part.text} /> : <JsonText value={value} />;
    }
    case "json":
      return <JsonText value={part.value} />;
    case "image":
    case "file":
      return <MediaPart part={part} />;
    default:
      return part satisfies never;
  }
}

/** The object or list that a text is, so that it can be read in lines. */
function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
