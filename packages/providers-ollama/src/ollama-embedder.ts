import { refuseUnknownOptions } from "@loopwright/core";
import type { Embedder, EmbedRequest } from "@loopwright/core/ports";
import { countOf, createEmbedder, type EmbeddingAnswer, recordIn, unexpectedShape } from "@loopwright/provider-kit";
import { explained, failureOf } from "./errors.ts";
import { connectionOf, type OllamaOptions, vendor, vendorName } from "./options.ts";

/** Options of `ollamaEmbedder`. */
export interface OllamaEmbedderOptions
  extends Pick<OllamaOptions, "baseURL" | "apiKey" | "name" | "transport" | "headers" | "contextTokens" | "keepAlive"> {
  /** Default `embeddinggemma`. */
  readonly model?: string;
  /** Numbers of a vector, for models that can shorten theirs. Default: the model's own. */
  readonly dimensions?: number;
  /** What stands before each text. Default: by the model's family, where its makers demand one. */
  readonly prefixes?: Readonly<Record<EmbedRequest["purpose"], string>>;
}

const knownOptions: { readonly [Name in keyof OllamaEmbedderOptions]-?: true } = {
  baseURL: true,
  apiKey: true,
  name: true,
  transport: true,
  headers: true,
  contextTokens: true,
  keepAlive: true,
  model: true,
  dimensions: true,
  prefixes: true,
};

/** @see https://ollama.com/library/embeddinggemma (2026-11-23) */
const defaultModel = "embeddinggemma";

/** The server has no bound of its own; a small machine embeds this many in some seconds. */
const textsMax = 64;
const bytesMax = 200_000;

const noPrefixes = { passage: "", query: "" } as const;

/**
 * The server sends a text to the model as it is, so what the makers of a model demand before it is put there. By the beginning of the model's name.
 * @see https://ai.google.dev/gemma/docs/embeddinggemma/model_card (2026-11-23)
 * @see https://huggingface.co/nomic-ai/nomic-embed-text-v1.5 (2026-11-23)
 * @see https://huggingface.co/mixedbread-ai/mxbai-embed-large-v1 (2026-11-23)
 */
const families: readonly (readonly [string, Readonly<Record<EmbedRequest["purpose"], string>>])[] = [
  ["embeddinggemma", { passage: "title: none | text: ", query: "task: search result | query: " }],
  ["nomic-embed-text", { passage: "search_document: ", query: "search_query: " }],
  ["mxbai-embed", { passage: "", query: "Represent this sentence for searching relevant passages: " }],
];

function prefixesOf(model: string): Readonly<Record<EmbedRequest["purpose"], string>> {
  const name = model.slice(model.lastIndexOf("/") + 1);
  return families.find(([beginning]) => name.startsWith(beginning))?.[1] ?? noPrefixes;
}

interface WireAnswer {
  readonly embeddings?: unknown;
  readonly prompt_eval_count?: unknown;
}

/**
 * A server of Ollama as an embedder, over its own HTTP API. A text that is longer than the model's window is refused with CONTEXT_OVERFLOW, not cut.
 * @throws AgentError CONFIG_INVALID for an unknown option; in `embed`: CONFIG_INVALID, MODEL_AUTH before any request, then the errors of the port
 * @see https://docs.ollama.com/api/embed (2026-11-23)
 */
export function ollamaEmbedder(options: OllamaEmbedderOptions = {}): Embedder {
  refuseUnknownOptions(options, knownOptions, "the embedder `ollamaEmbedder`");
  const { model = defaultModel, dimensions, keepAlive, contextTokens } = options;
  const prefixes = options.prefixes ?? prefixesOf(model);
  return createEmbedder({
    name: options.name ?? vendor,
    label: vendorName,
    model,
    transport: options.transport,
    textsMax,
    bytesMax,
    bodyOf: ({ texts, purpose }) => ({
      model,
      input: texts.map((text) => `${prefixes[purpose]}${text}`),
      truncate: false,
      ...(dimensions === undefined ? {} : { dimensions }),
      ...(keepAlive === undefined ? {} : { keep_alive: keepAlive }),
      ...(contextTokens === undefined ? {} : { options: { num_ctx: contextTokens } }),
    }),
    connect: () => {
      const { baseURL, headers, secrets } = connectionOf(options);
      return {
        secrets,
        send: ({ body, signal, fetch }) => fetch(`${baseURL}/api/embed`, { method: "POST", headers, body, signal }),
        explain: (error) => explained(error, baseURL),
      };
    },
    answerOf,
    failureOf,
  });
}

function answerOf(answer: unknown): EmbeddingAnswer {
  const { embeddings, prompt_eval_count } = recordIn(answer as WireAnswer | null, "an answer") ?? {};
  if (!Array.isArray(embeddings)) throw unexpectedShape("a list of vectors");
  const input = countOf(prompt_eval_count);
  return { vectors: embeddings, usage: input === undefined ? undefined : { input, total: input } };
}
