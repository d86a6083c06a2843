import type { Message } from "../message/message.ts";

/** A message, or a text beside the messages: the system prompt, or a tool or the schema of the answer as JSON. */
export type CountedPart = Message | string;

/**
 * Counts tokens as a model's tokenizer does, to fit the history into the context window. Each session calls it once for each part of a request and model, and
 * keeps the number: a turn counts only new parts. If it throws, or returns no finite number from 0 on, the part is estimated and the error is reported.
 */
export interface TokenCounter {
  /** Returns how many tokens the part has for the model. A promise delays the model call. */
  count(model: string, part: CountedPart): number | Promise<number>;
}
