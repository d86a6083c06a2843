import type { TokenCounter } from "../ports/token-counter.ts";
import { lengthOf, charactersPerToken as usual } from "../prompt/message-length.ts";

/** Counts one token per `charactersPerToken` (default 4); an image, or a file of unknown size, has 6,000 characters. Needs no tokenizer. */
export function characterCounter({ charactersPerToken = usual }: { readonly charactersPerToken?: number } = {}): TokenCounter {
  return { count: (_, part) => Math.ceil((typeof part === "string" ? part.length : lengthOf(part)) / charactersPerToken) };
}
