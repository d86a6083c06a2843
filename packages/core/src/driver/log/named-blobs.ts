import type { FactDraft } from "../../loop/fact.ts";
import type { Message } from "../../message/message.ts";

/** Keys of the blobs that these facts name as images or files, each once. */
export function namedBlobs(facts: readonly FactDraft[]): readonly string[] {
  const keys = new Set<string>();
  for (const fact of facts)
    for (const part of partsOf(fact)) if (isMedia(part) && part.source.blob !== undefined) keys.add(part.source.blob);
  return [...keys];
}

interface Media {
  readonly source: { readonly blob?: string };
}

/** Facts are of any shape here: what is not a part is passed over. */
function partsOf(fact: FactDraft): readonly unknown[] {
  switch (fact.type) {
    case "session.opened":
      return (fact.context ?? []).flatMap(contentOf);
    case "input.accepted":
    case "model.finished":
      return fact.message ? contentOf(fact.message) : [];
    case "tool.finished":
    case "client.answered":
      return fact.output;
    default:
      return [];
  }
}

const contentOf = (message: Message): readonly unknown[] =>
  message.role === "notice" || typeof message.content === "string" ? [] : message.content;

const isMedia = (part: unknown): part is Media =>
  typeof part === "object" && part !== null && "source" in part && part.source instanceof Object;
