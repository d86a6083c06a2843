import { refuseUnknownOptions } from "@loopwright/core";
import type { Embedder, EmbedRequest } from "@loopwright/core/ports";
import { countOf, createEmbedder, type EmbeddingAnswer, listIn, recordIn } from "@loopwright/provider-kit";
import { failureOf } from "./errors.ts";
import { type GeminiOptions, keyOf, vendor, vendorName } from "./options.ts";

/** Options of `geminiEmbedder`. */
export interface GeminiEmbedderOptions extends Pick<GeminiOptions, "apiKey" | "baseURL" | "apiVersion" | "name" | "transport" | "headers"> {
  /** Default `gemini-embedding-001`. */
  readonly model?: string;
  /** Numbers of a vector. Default: the model's own, 3,072 for the default model. */
  readonly dimensions?: number;
}

const knownOptions: { readonly [Name in keyof GeminiEmbedderOptions]-?: true } = {
  apiKey: true,
  baseURL: true,
  apiVersion: true,
  name: true,
  transport: true,
  headers: true,
  model: true,
  dimensions: true,
};

/** The vendor's stable model for texts. @see https://ai.google.dev/gemini-api/docs/embeddings (2026-11-23) */
const defaultModel = "gemini-embedding-001";

/** Of one batch; the vendor answers more with 400. */
const textsMax = 100;
/** The vendor has no bound for a batch but the tokens of each text. */
const bytesMax = 1_000_000;

const tasks = { passage: "RETRIEVAL_DOCUMENT", query: "RETRIEVAL_QUERY" } as const;

interface WireAnswer {
  readonly embeddings?: readonly { readonly values?: unknown }[] | null;
  readonly usageMetadata?: { readonly promptTokenCount?: unknown } | null;
}

/**
 * Google Gemini as an embedder, over `batchEmbedContents`. The SDK is not loaded. The vendor cuts a text that is too long for its model (2,048 tokens)
 * and gives no means to refuse it.
 * @throws AgentError CONFIG_INVALID for an unknown option; in `embed`: MODEL_KEY_MISSING, MODEL_AUTH before any request, then the errors of the port
 * @see https://ai.google.dev/api/embeddings (2026-11-23)
 */
export function geminiEmbedder(options: GeminiEmbedderOptions = {}): Embedder {
  refuseUnknownOptions(options, knownOptions, "the embedder `geminiEmbedder`");
  const model = options.model ?? defaultModel;
  const path = model.includes("/") ? model : `models/${model}`;
  return createEmbedder({
    name: options.name ?? vendor,
    label: vendorName,
    model,
    transport: options.transport,
    textsMax,
    bytesMax,
    bodyOf: ({ texts, purpose }: EmbedRequest) => ({
      requests: texts.map((text) => ({
        model: path,
        content: { parts: [{ text }] },
        taskType: tasks[purpose],
        ...(options.dimensions === undefined ? {} : { outputDimensionality: options.dimensions }),
      })),
    }),
    connect: () => {
      const key = keyOf(options);
      const base = (options.baseURL ?? "https://generativelanguage.googleapis.com").replace(/\/+$/, "");
      const url = `${base}/${options.apiVersion ?? "v1beta"}/${path}:batchEmbedContents`;
      const headers = { "content-type": "application/json", "x-goog-api-key": key, ...options.headers };
      return { secrets: [key], send: ({ body, signal, fetch }) => fetch(url, { method: "POST", headers, body, signal }) };
    },
    answerOf,
    failureOf,
  });
}

function answerOf(answer: unknown): EmbeddingAnswer {
  const { embeddings, usageMetadata } = recordIn(answer as WireAnswer | null, "an answer") ?? {};
  const input = countOf(recordIn(usageMetadata, "a usage")?.promptTokenCount);
  const vectors = listIn(embeddings, "a list of vectors").map(({ values }) => values);
  return { vectors, usage: input === undefined ? undefined : { input, total: input } };
}
