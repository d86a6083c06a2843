import { AgentError } from "../../errors.ts";
import type { ModelChunk } from "../../message/chunk.ts";
import { weigh } from "../../message/json-bytes.ts";

/** The limits of one answer of a model, independent of its provider. */
export const answerLimits = {
  /** Tool calls. */
  callsMax: 1_000,
  /** Blocks; the index of each must be lower. */
  blocksMax: 10_000,
  /** Characters of text, thinking and arguments together: two million tokens. */
  textMax: 8_388_608,
  /** Characters of opaque data that only the vendor can read, and of images, as an estimate of their JSON. */
  opaqueMax: 33_554_432,
} as const;

/** Counts the content of an answer. */
export interface AnswerBounds {
  /** @throws AgentError MODEL_PROTOCOL, not retryable, once the answer holds more than a limit; `details.limit` names it. */
  count(chunks: readonly ModelChunk[]): void;
}

export function createAnswerBounds(provider: string): AnswerBounds {
  return new CountedAnswer(provider);
}

type CountedLimit = "callsMax" | "textMax" | "opaqueMax";

class CountedAnswer implements AnswerBounds {
  readonly #provider: string;
  readonly #held = { callsMax: 0, textMax: 0, opaqueMax: 0 };

  constructor(provider: string) {
    this.#provider = provider;
  }

  count(chunks: readonly ModelChunk[]): void {
    let textLength = 0;
    for (const chunk of chunks) {
      if ("index" in chunk && !(Number.isInteger(chunk.index) && chunk.index >= 0 && chunk.index < answerLimits.blocksMax)) {
        throw tooMuch(this.#provider, "blocksMax");
      }
      if ("delta" in chunk) textLength += chunk.delta.length;
      else if (chunk.type === "call-start") this.#add("callsMax", 1);
      else if (chunk.type === "opaque") this.#add("opaqueMax", Math.floor(weigh(chunk.data) / 3));
    }
    this.#add("textMax", textLength);
  }

  #add(limit: CountedLimit, count: number): void {
    this.#held[limit] += count;
    if (this.#held[limit] > answerLimits[limit]) throw tooMuch(this.#provider, limit);
  }
}

const words: { readonly [Limit in keyof typeof answerLimits]: string } = {
  callsMax: "tool calls",
  blocksMax: "blocks, or a block of another number",
  textMax: "characters of text",
  opaqueMax: "characters of data that only the vendor can read",
};

function tooMuch(provider: string, limit: keyof typeof answerLimits): AgentError {
  const max = answerLimits[limit];
  return new AgentError("MODEL_PROTOCOL", {
    message: `The answer of ${provider} holds more than ${max} ${words[limit]}.`,
    fix: "Check that the base URL leads to the vendor's API. Set `maxTokens` if it does.",
    retryable: false,
    details: { limit, max },
  });
}
