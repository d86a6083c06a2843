import { AgentError } from "@loopwright/core";
import type { Embedder } from "@loopwright/core/ports";
import { searchWords } from "@loopwright/core/stores";

/** What each group of words means: a text has one number for each group. */
const meanings: readonly (readonly string[])[] = [
  ["boat", "ship", "vessel", "ferry"],
  ["bread", "loaf", "bakery", "flour"],
  ["money", "price", "cost", "invoice"],
];

/** An embedder whose vectors count words by their meaning. Each token is a word. */
export interface WordEmbedder extends Embedder {
  readonly asked: readonly { readonly texts: readonly string[]; readonly purpose: string }[];
  isFailing: boolean;
}

export function wordEmbedder(): WordEmbedder {
  const asked: { readonly texts: readonly string[]; readonly purpose: string }[] = [];
  return {
    name: "words",
    model: "meanings-1",
    asked,
    isFailing: false,
    async embed({ texts, purpose }, { signal }) {
      signal.throwIfAborted();
      if (this.isFailing) throw new AgentError("MODEL_OVERLOADED", { message: "The embedder is busy." });
      asked.push({ texts, purpose });
      const vectors = texts.map((text) => {
        const words = searchWords(text);
        return [...meanings.map((group) => words.filter((word) => group.includes(word)).length), 0.1];
      });
      return { vectors, usage: { input: texts.join(" ").split(" ").length } };
    },
  };
}
