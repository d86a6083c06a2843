import type { FactDraft } from "../../loop/fact.ts";
import type { Message } from "../../message/message.ts";

/** Keys of the blobs that these facts name as images or files, each once. */
export function namedBlobs(facts: readonly FactDraft[]): readonly string[] {
  let keys: readonly string[] = none;
  const collect = (parts: readonly unknown[]): void => {
    for (const part of parts) {
      const key = isMedia(part) ? part.source.blob : undefined;
      if (key !== undefined && !keys.includes(key)) keys = [...keys, key];
    }
  };
  for (const fact of facts) {
    if (fact.type === "session.opened") for (const message of fact.context ?? []) collect(contentOf(message));
    else if (fact.type === "input.accepted" || fact.type === "model.finished") collect(fact.message ? contentOf(fact.message) : none);
    else if (fact.type === "schedule.set") collect(contentOf(fact.input.message));
    else if (fact.type === "tool.finished" || fact.type === "client.answered") collect(fact.output);
  }
  return keys;
}

interface Media {
  readonly source: { readonly blob?: string };
}

const none: readonly string[] = [];

const contentOf = (message: Message): readonly unknown[] =>
  message.role === "notice" || typeof message.content === "string" ? none : message.content;

/** The facts were not checked here, so values that are not parts are skipped. */
const isMedia = (part: unknown): part is Media =>
  typeof part === "object" && part !== null && "source" in part && part.source instanceof Object;
