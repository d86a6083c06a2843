import { AgentError, refuseUnknownOptions } from "@loopwright/core";
import type { Embedder } from "@loopwright/core/ports";
import { countOf, createEmbedder, type EmbeddingAnswer, indexIn, listIn, recordIn, unexpectedShape } from "@loopwright/provider-kit";
import { failureOf } from "./errors.ts";
import { environment, type OpenAiOptions, type OpenAiSettings, requireKey, settingsOf } from "./options.ts";
import { createSender } from "./sender.ts";

/** Options of `openaiEmbedder`. */
export interface OpenAiEmbedderOptions
  extends Pick<OpenAiOptions, "apiKey" | "baseURL" | "organization" | "project" | "name" | "transport" | "headers"> {
  /** Default: `text-embedding-3-small` for OpenAI itself, none elsewhere. */
  readonly model?: string;
  /** Numbers of a vector, for models that can shorten theirs. Default: the model's own. */
  readonly dimensions?: number;
  /** Most texts of one request. Default 256; OpenAI itself takes 2,048. */
  readonly textsMax?: number;
}

const knownOptions: { readonly [Name in keyof OpenAiEmbedderOptions]-?: true } = {
  apiKey: true,
  baseURL: true,
  organization: true,
  project: true,
  name: true,
  transport: true,
  headers: true,
  model: true,
  dimensions: true,
  textsMax: true,
};

/**
 * The model where none is named.
 * @see https://platform.openai.com/docs/guides/embeddings (2026-11-23)
 */
const defaultModel = "text-embedding-3-small";

/** Of one request. A whole answer stays below the bound of a body: 256 vectors of 3,072 numbers are 17 MiB of JSON. */
const defaultTextsMax = 256;

/** OpenAI takes 300,000 tokens in one request, and a token has at least one byte. */
const bytesMax = 300_000;

interface WireEmbedding {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

interface WireAnswer {
  readonly data?: readonly WireEmbedding[] | null;
  readonly usage?: { readonly prompt_tokens?: unknown } | null;
}

/**
 * An embedder for OpenAI and for every server that has its `/embeddings`, with the headers for organisation and project. Costs nothing until it is
 * used. `purpose` changes nothing: OpenAI's models embed passages and queries alike.
 * @throws AgentError CONFIG_INVALID for an unknown option; in `embed`: MODEL_KEY_MISSING, CONFIG_INVALID before any request, then the errors of the port
 */
export function openaiEmbedder(options: OpenAiEmbedderOptions = {}): Embedder {
  refuseUnknownOptions(options, knownOptions, "the embedder `openaiEmbedder`");
  const { model: _, dimensions, textsMax = defaultTextsMax, ...connection } = options;
  let made: OpenAiSettings | undefined;
  const settings = (): OpenAiSettings => {
    made ??= settingsOf(connection, environment());
    return made;
  };
  const modelName = (): string => options.model ?? (settings().isOpenAi ? defaultModel : "");
  return createEmbedder({
    name: options.name ?? "openai",
    get label() {
      return settings().label;
    },
    get model() {
      return modelName();
    },
    transport: options.transport,
    textsMax,
    bytesMax,
    bodyOf: ({ texts }) => ({
      model: requireModel(modelName(), settings().label),
      input: texts,
      encoding_format: "float",
      ...(dimensions === undefined ? {} : { dimensions }),
    }),
    connect: async () => {
      const key = requireKey(settings());
      const send = await createSender(settings(), key, { ...options, path: "/embeddings" });
      return { secrets: key === undefined ? [] : [key], send: (call) => send({ ...call, streaming: false }) };
    },
    answerOf,
    failureOf: (failure) => failureOf(failure, settings().label),
  });
}

function requireModel(model: string, label: string): string {
  if (model !== "") return model;
  throw new AgentError("CONFIG_INVALID", { message: `No embedding model was named for ${label}.`, fix: "Pass `model`." });
}

/** Each vector stands at its own `index`; servers that leave it out keep the order. */
function answerOf(answer: unknown): EmbeddingAnswer {
  const { data, usage } = recordIn(answer as WireAnswer | null, "an answer") ?? {};
  const found = listIn(data, "a list of vectors");
  const vectors: unknown[] = [];
  for (const [at, { index, embedding }] of found.entries()) {
    const place = indexIn(index, "an index") ?? at;
    if (place >= found.length || place in vectors) throw unexpectedShape("an index");
    vectors[place] = embedding;
  }
  const input = countOf(recordIn(usage, "a usage")?.prompt_tokens);
  return { vectors, usage: input === undefined ? undefined : { input, total: input } };
}
